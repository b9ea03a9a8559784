#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libxml/parser.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/vocabulary.h"

char tree[64];
struct ran ran;

/* ---- the tree ---- */

int tree_start(void **state)
{
    (void)state;
    (void)snprintf(tree, sizeof tree, "/tmp/dtkb-probes-XXXXXX");
    return mkdtemp(tree) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static void forget(void)
{
    probe_results_free(&ran.results);
    fact_set_free(&ran.facts);
    memset(&ran, 0, sizeof ran);
}

int tree_end(void **state)
{
    (void)state;
    forget();
    return nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *tree_path(const char *path)
{
    static char paths[16][512];
    static unsigned next;
    char *out = paths[next++ % 16];
    (void)snprintf(out, sizeof paths[0], "%s/%s", tree, path);
    return out;
}

static void make_folders(const char *path)
{
    char part[512];
    (void)snprintf(part, sizeof part, "%s", path);
    for (char *slash = part + strlen(tree) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            fail_msg("%s: %s", part, strerror(errno));
    }
}

void tree_bytes(const char *path, const void *bytes, size_t size)
{
    const char *full = tree_path(path);
    make_folders(full);
    FILE *file = fopen(full, "w");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        fail_msg("%s: %s", full, strerror(errno));
}

void tree_file(const char *path, const char *text)
{
    tree_bytes(path, text, strlen(text));
}

void tree_program(const char *path, const char *text)
{
    tree_file(path, text);
    assert_int_equal(chmod(tree_path(path), 0755), 0);
}

void tree_link(const char *path, const char *target)
{
    const char *full = tree_path(path);
    make_folders(full);
    assert_int_equal(symlink(target, full), 0);
}

/* ---- the vocabulary ---- */

static bool defined(void *context, const char *name, enum fact_type *type, const char **unit)
{
    static char kept[64];
    for (const xmlNode *node = xmlDocGetRootElement(context)->children; node; node = node->next) {
        xmlChar *pattern = node->type == XML_ELEMENT_NODE ? xmlGetProp(node, BAD_CAST "name") : NULL;
        bool fits = pattern && fact_name_matches((const char *)pattern, name);
        xmlFree(pattern);
        if (!fits)
            continue;
        xmlChar *type_name = xmlGetProp(node, BAD_CAST "type"), *unit_name = xmlGetProp(node, BAD_CAST "unit");
        *type = type_name ? fact_type_by_name((const char *)type_name) : 0;
        (void)snprintf(kept, sizeof kept, "%s", unit_name ? (const char *)unit_name : "");
        *unit = kept;
        xmlFree(type_name);
        xmlFree(unit_name);
        return *type != 0;
    }
    return false;
}

/* ---- a run ---- */

void run_probe(const char *probe, const char *const *settings)
{
    static const char *roots[3];
    const char *params[32] = {NULL}, *env[32] = {NULL};
    size_t param_count = 0, env_count = 0;
    forget();
    memset(roots, 0, sizeof roots);
    for (; *settings; settings++) {
        if (!strcmp(*settings, "@proc"))
            roots[0] = tree_path("proc");
        else if (!strcmp(*settings, "@sys"))
            roots[1] = tree_path("sys");
        else if (!strcmp(*settings, "@dev"))
            roots[2] = tree_path("dev");
        else if (**settings == '$')
            env[env_count++] = *settings + 1;
        else
            params[param_count++] = *settings;
    }
    const struct probe_options options = {.plugin_path = PLUGINS,
                                          .only_path = true,
                                          .proc_root = roots[0],
                                          .sys_root = roots[1],
                                          .dev_root = roots[2],
                                          .env = env_count ? env : NULL,
                                          .params = params};
    xmlDoc *facts = xmlReadFile(FACTS_XML, NULL, XML_PARSE_NONET);
    assert_non_null(facts);
    const struct vocabulary vocabulary = {.definition = defined, .context = facts};
    struct err err;
    dtkb_status status = probe_run_checked(&vocabulary, &probe, 1, &options, &ran.facts, &ran.results, &err);
    xmlFreeDoc(facts);
    if (status != DTKB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(ran.results.count, 1);
    ran.result = ran.results.results;
    fact_set_sort(&ran.facts);
}

/* The body as a group of one test, which keeps a wrong answer's jump within the process. */
static void (*current_body)(void);
static void call_body(void **state)
{
    (void)state;
    current_body();
}

void in_own_process(void (*body)(void), int namespaces)
{
    int status;
    (void)fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (namespaces && (unshare(namespaces) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0))
            _exit(CANNOT);
        current_body = body;
        const struct CMUnitTest tests[] = {cmocka_unit_test(call_body)};
        _exit(cmocka_run_group_tests_name("changed machine", tests, NULL, NULL) ? 1 : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT) {
        print_message("[  NOTE    ] changing mounts is not permitted here\n");
        skip();
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- questions ---- */

void status_is(enum probe_status status, const char *in_reason)
{
    if (ran.result->status != status || !strstr(ran.result->reason, in_reason))
        fail_msg("%s, '%s' (printed '%s'); expected %s, '%s'", probe_status_name(ran.result->status), ran.result->reason,
                 ran.result->output, probe_status_name(status), in_reason);
    /* A fault says in which of its facts it consists; what is no fault accuses nobody. */
    const struct fact *wrong = NULL;
    for (size_t i = 0; i < ran.facts.count && !wrong; i++) /* problems of the environment are marked, grave or not */
        wrong = ran.facts.facts[i].wrong && (status == PROBE_FAULT || strncmp(ran.facts.facts[i].name, "env.problem.", 12) != 0)
                    ? &ran.facts.facts[i]
                    : NULL;
    if (status == PROBE_FAULT ? !wrong : wrong != NULL)
        fail_msg("%s: %s is marked as wrong", probe_status_name(status), wrong ? wrong->name : "no fact");
}

void accused_are(const char *names)
{
    char list[1024] = "";
    for (size_t i = 0; i < ran.facts.count; i++)
        if (ran.facts.facts[i].wrong)
            (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? " " : "", ran.facts.facts[i].name);
    assert_string_equal(list, names);
}

static const struct fact *find(const char *name, enum fact_type type)
{
    const struct fact *fact = fact_set_find(&ran.facts, name);
    if (!fact)
        fail_msg("no fact %s; the log says: %s", name, ran.result->log);
    if (fact && fact->type != type)
        fail_msg("fact %s has another type", name);
    if (fact && !*fact->origin)
        fail_msg("fact %s has no origin", name);
    return fact;
}

static void differs(const struct fact *fact, const char *expected)
{
    char text[8192];
    fail_msg("%s is %s; expected %s", fact->name, fact_value_text(fact, text, sizeof text), expected);
}

void fact_is_u64(const char *name, uint64_t value)
{
    const struct fact *fact = find(name, FACT_U64);
    char expected[32];
    (void)snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
    if (fact->value.u64 != value)
        differs(fact, expected);
}

void fact_is_f64(const char *name, double value)
{
    const struct fact *fact = find(name, FACT_F64);
    char expected[32];
    (void)snprintf(expected, sizeof expected, "%g", value);
    if (fabs(fact->value.f64 - value) > 1e-9 * fabs(value))
        differs(fact, expected);
}

void fact_is_bool(const char *name, bool value)
{
    const struct fact *fact = find(name, FACT_BOOL);
    if (fact->value.boolean != value)
        differs(fact, value ? "true" : "false");
}

void fact_is_string(const char *name, const char *value)
{
    const struct fact *fact = find(name, FACT_STRING);
    if (strcmp(fact->value.string, value) != 0)
        differs(fact, value);
}

void no_fact(const char *name)
{
    const struct fact *fact = fact_set_find(&ran.facts, name);
    if (fact)
        differs(fact, "no such fact");
}

void log_has(const char *words)
{
    if (!strstr(ran.result->log, words))
        fail_msg("the log lacks '%s': %s", words, ran.result->log);
}
