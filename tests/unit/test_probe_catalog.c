/* Plugins found, asked and refused. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/catalog.h"
#include "probe/plugin_places.h"
#include "probe_doubles.h"

static void load(const char *path, struct catalog *catalog)
{
    struct err err;
    const struct probe_options options = {.plugin_path = path, .only_path = true};
    if (catalog_load(&options, catalog, &err) != DTKB_OK)
        fail_msg("%s", err.text);
}

static const struct plugin *find(const struct catalog *catalog, const char *file)
{
    for (size_t i = 0; i < catalog->count; i++)
        if (strstr(catalog->plugins[i].path, file))
            return &catalog->plugins[i];
    fail_msg("%s is not listed", file);
    return NULL;
}

static void expect(const struct catalog *catalog, const char *file, enum plugin_state state, const char *reason)
{
    const struct plugin *plugin = find(catalog, file);
    if (plugin->state != state || !strstr(plugin->reason, reason))
        fail_msg("%s: %s, '%s'; expected %s, '%s'", file, plugin_state_name(plugin->state), plugin->reason, plugin_state_name(state),
                 reason);
}

static void plugins_describe_themselves(void **state)
{
    (void)state;
    struct catalog catalog;
    load(DOUBLES "/good", &catalog);
    assert_int_equal(catalog.count, 4);
    expect(&catalog, "libdtkb-probe-doubles.so", PLUGIN_GOOD, "");
    const struct plugin *doubles = find(&catalog, "libdtkb-probe-doubles.so");
    assert_string_equal(doubles->name, "doubles");
    assert_string_equal(doubles->licence, "Apache-2.0");
    assert_int_equal(doubles->abi, 1);
    assert_string_equal(doubles->probes[0].facts[0], "double.*");
    assert_int_equal(json_array_size(doubles->probes[1].params), 1);
    expect(&catalog, "dtkb-probe-python-good.py", PLUGIN_GOOD, "");
    assert_int_equal(find(&catalog, "python-good")->probes[0].timeout_ms, 5000);
    catalog_free(&catalog);
}

static void each_broken_plugin_is_named_with_its_reason(void **state)
{
    (void)state;
    struct catalog catalog;
    uint64_t before = clock_ns();
    load(DOUBLES "/good:" DOUBLES "/bad", &catalog);
    assert_true(clock_ns() - before < 4 * CLOCK_NS_PER_S);
    expect(&catalog, "flaw-size", PLUGIN_UNLOADABLE, "struct_size 16");
    expect(&catalog, "flaw-no-entry", PLUGIN_UNLOADABLE, "exports no dtkb_plugin_entry_v1");
    expect(&catalog, "flaw-version", PLUGIN_UNLOADABLE, "ABI version 7");
    expect(&catalog, "flaw-newer", PLUGIN_UNLOADABLE, "built for plugin ABI version 9 only");
    expect(&catalog, "flaw-stride", PLUGIN_UNLOADABLE, "probe_stride is 12");
    expect(&catalog, "flaw-name", PLUGIN_UNLOADABLE, "no proper name");
    expect(&catalog, "flaw-refuses", PLUGIN_UNLOADABLE, "refuses this host: it wants another host");
    expect(&catalog, "flaw-crashes", PLUGIN_UNLOADABLE, "crashed when asked what it is: Aborted");
    expect(&catalog, "flaw-hangs", PLUGIN_UNLOADABLE, "did not say what it is within 2 s");
    expect(&catalog, "flaw-no-run", PLUGIN_UNLOADABLE, "no run function");
    expect(&catalog, "flaw-probe-size", PLUGIN_UNLOADABLE, "probe 0 has struct_size 8");
    expect(&catalog, "flaw-capability", PLUGIN_REFUSED, "requires a capability that this dtkb does not know (bit 40)");
    expect(&catalog, "flaw-twice", PLUGIN_UNLOADABLE, "described twice");
    expect(&catalog, "flaw-clash", PLUGIN_CLASH, "its probe 'good' has the name of one of");
    expect(&catalog, "flaw-no-licence", PLUGIN_UNLOADABLE, "lacks a version, licence or summary");
    expect(&catalog, "misnamed", PLUGIN_REFUSED, "calls itself 'other', but its file is not named so");
    expect(&catalog, "dtkb-probe-mute", PLUGIN_REFUSED, "said nothing about itself");
    expect(&catalog, "dtkb-probe-broken.py", PLUGIN_UNLOADABLE,
           "ended with status 1 when asked what it is (it printed: a module is missing)");
    expect(&catalog, "libdtkb-probe-doubles.so", PLUGIN_GOOD, "");
    catalog_free(&catalog);
    assert_false(has_children());
}

static void sh(const char *format, const char *folder)
{
    char command[1024];
    (void)snprintf(command, sizeof command, format, folder);
    assert_int_equal(system(command), 0);
}

static void what_others_can_write_is_not_loaded(void **state)
{
    (void)state;
    struct catalog catalog;
    char folder[] = "/tmp/dtkb-trust-XXXXXX", path[256];
    assert_non_null(mkdtemp(folder));
    sh("cd %s && mkdir a b c && chmod 755 a b c && cp " DOUBLES "/good/dtkb-probe-shell-good a && chmod 755 a/* && cp a/* b && cp a/* c "
       "&& chmod 775 a/* && chmod 777 b && mv c/dtkb-probe-shell-good c/dtkb-probe-x && ln -s ../a/dtkb-probe-shell-good c/dtkb-probe-y "
       "&& chmod 644 c/dtkb-probe-x && mkdir c/dtkb-probe-folder && ln -s nowhere c/dtkb-probe-z && touch c/README && echo \"built without "
       "it: install it\" >c/libdtkb-probe-w.left-out",
       folder);
    (void)snprintf(path, sizeof path, "%s/a:relative:%s/b:%s/missing:%s/c", folder, folder, folder, folder);
    load(path, &catalog);
    expect(&catalog, "/a/dtkb-probe-shell-good", PLUGIN_UNTRUSTED, "can be written by its group: chmod go-w");
    expect(&catalog, "/b/dtkb-probe-shell-good", PLUGIN_UNTRUSTED, "can be written by everybody");
    expect(&catalog, "/c/dtkb-probe-x", PLUGIN_UNLOADABLE, "not executable");
    expect(&catalog, "/c/dtkb-probe-z", PLUGIN_UNLOADABLE, "No such file");
    expect(&catalog, "/c/libdtkb-probe-w.left-out", PLUGIN_LEFT_OUT, "built without it: install it");
    assert_string_equal(find(&catalog, "/c/libdtkb-probe-w.left-out")->name, "w");
    assert_int_equal(catalog.count, 5); /* the link leads to one listed already */
    catalog_free(&catalog);
    if (geteuid() == 0) {
        sh("chmod 755 %s/a/*", folder);
        (void)snprintf(path, sizeof path, "%s/a/dtkb-probe-shell-good", folder);
        assert_int_equal(chown(path, 12345, 12345), 0);
        (void)snprintf(path, sizeof path, "%s/a", folder);
        load(path, &catalog);
        expect(&catalog, "/a/dtkb-probe-shell-good", PLUGIN_UNTRUSTED, "belongs to user 12345");
        catalog_free(&catalog);
    }
    sh("rm -r %s", folder);
}

static void a_missing_helper_is_named(void **state)
{
    (void)state;
    struct catalog catalog;
    struct err err;
    const struct probe_options options = {.plugin_path = DOUBLES "/good", .only_path = true, .helper = "/nowhere/dtkb-probe-host"};
    assert_int_equal(catalog_load(&options, &catalog, &err), DTKB_E_IO);
    assert_non_null(strstr(err.text, "/nowhere/dtkb-probe-host"));
}

static void the_list_names_all_of_them(void **state)
{
    (void)state;
    json_t *list;
    struct err err;
    const struct probe_options options = {.plugin_path = DOUBLES "/abi:" DOUBLES "/bad", .only_path = true};
    assert_int_equal(probe_plugins(&options, &list, &err), DTKB_OK);
    assert_int_equal(json_array_size(list), 19);
    const json_t *first = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "first");
    assert_string_equal(json_string_value(json_object_get(first, "status")), "loadable");
    assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(first, "probes"), 0), "name")), "first");
    json_decref(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugins_describe_themselves),         cmocka_unit_test(each_broken_plugin_is_named_with_its_reason),
        cmocka_unit_test(what_others_can_write_is_not_loaded), cmocka_unit_test(a_missing_helper_is_named),
        cmocka_unit_test(the_list_names_all_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
