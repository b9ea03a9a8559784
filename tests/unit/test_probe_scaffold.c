/* What `dtkb plugin new` writes builds outside this tree and keeps the contract. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fact.h"
#include "probe/conformance.h"
#include "probe/scaffold.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/dtkb-scaffold-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static bool defined(void *context, const char *name, enum fact_type *type, const char **unit)
{
    (void)context;
    *type = FACT_F64;
    *unit = "tasks";
    return !strcmp(name, "my-probe.load_per_core");
}

static void expect_pass(const char *file)
{
    const struct vocabulary vocabulary = {.definition = defined};
    const struct probe_options options = {.only_path = true};
    json_t *tree;
    struct err err;
    if (conformance_check(&vocabulary, &options, file, &tree, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    size_t index;
    const json_t *clause;
    json_array_foreach(json_object_get(tree, "clauses"), index, clause)
    {
        const char *id = json_string_value(json_object_get(clause, "id"));
        const char *result = json_string_value(json_object_get(clause, "result"));
        if (strcmp(result, "pass") != 0 && strcmp(id, "offline") != 0)
            fail_msg("%s: %s: %s: %s", file, id, result, json_string_value(json_object_get(clause, "reason")));
    }
    json_decref(tree);
}

static void write_project(const char *language, char *path, size_t size)
{
    struct err err;
    (void)snprintf(path, size, "%s/%s", folder, language);
    if (scaffold_write("my-probe", language, path, &err) != DTKB_OK)
        fail_msg("%s", err.text);
}

static void a_shell_project_passes(void **state)
{
    (void)state;
    char path[160], file[256];
    write_project("sh", path, sizeof path);
    (void)snprintf(file, sizeof file, "%s/dtkb-probe-my-probe", path);
    expect_pass(file);
}

static void a_python_project_passes(void **state)
{
    (void)state;
    char path[160], file[256];
    write_project("python", path, sizeof path);
    (void)snprintf(file, sizeof file, "%s/dtkb-probe-my-probe.py", path);
    expect_pass(file);
}

static void a_c_project_compiles_and_passes(void **state)
{
    (void)state;
    char path[160], file[256], command[1024];
    write_project("c", path, sizeof path);
    (void)snprintf(file, sizeof file, "%s/libdtkb-probe-my-probe.so", path);
    (void)snprintf(command, sizeof command,
                   "umask 022; " CC
                   " -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -pedantic -shared -fPIC -fvisibility=hidden -I" INCLUDE
                   " -o %s %s/my-probe.c",
                   file, path);
    assert_int_equal(system(command), 0);
    expect_pass(file);
}

static void no_placeholder_is_left(void **state)
{
    (void)state;
    char path[160], command[2048];
    static const char *const languages[] = {"c", "sh", "python"};
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof path, "%s/again-%s", folder, languages[i]);
        assert_int_equal(scaffold_write("x", languages[i], path, NULL), DTKB_OK);
        (void)snprintf(command, sizeof command,
                       "! { ls %s; cat %s/*; } | grep '@[A-Z]*@' && test -s %s/test.sh && test -s %s/x.xml && test -s %s/README.md", path,
                       path, path, path, path);
        assert_int_equal(system(command), 0);
    }
}

static void mistakes_are_named(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(scaffold_write("My Probe", "c", folder, &err), DTKB_E_USAGE);
    assert_non_null(strstr(err.text, "'My Probe' is no name"));
    assert_int_equal(scaffold_write("../x", "c", folder, &err), DTKB_E_USAGE);
    assert_int_equal(scaffold_write("x", "cobol", folder, &err), DTKB_E_USAGE);
    assert_non_null(strstr(err.text, "there are c, sh and python"));
    assert_int_equal(scaffold_write("x", "c", "/nowhere/x", &err), DTKB_E_IO);
    assert_int_equal(scaffold_write("x", "c", folder, &err), DTKB_E_USAGE);
    assert_non_null(strstr(err.text, "not empty"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shell_project_passes),
        cmocka_unit_test(a_python_project_passes),
        cmocka_unit_test(a_c_project_compiles_and_passes),
        cmocka_unit_test(no_placeholder_is_left),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
