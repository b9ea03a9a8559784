#include "probe/catalog.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "probe/description.h"
#include "probe/launch.h"
#include "probe/plugin_places.h"

#define DESCRIBE_TIMEOUT (2 * CLOCK_NS_PER_S)
#define PLUGINS_MAX 512u

const char *plugin_state_name(enum plugin_state state)
{
    static const char *const names[] = {[PLUGIN_GOOD] = "loadable",   [PLUGIN_UNTRUSTED] = "untrusted", [PLUGIN_UNLOADABLE] = "unloadable",
                                        [PLUGIN_REFUSED] = "refused", [PLUGIN_CLASH] = "clash",         [PLUGIN_LEFT_OUT] = "left-out"};
    return names[state];
}

void catalog_free(struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        for (size_t j = 0; j < catalog->plugins[i].probe_count; j++)
            json_decref(catalog->plugins[i].probes[j].params);
    arena_free(&catalog->arena);
    *catalog = (struct catalog){0};
}

/* ---- finding ---- */

__attribute__((format(printf, 4, 5))) static void set_state(struct catalog *catalog, struct plugin *plugin, enum plugin_state state,
                                                            const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct buf clean = {.maximum = 2 * sizeof text};
    buf_add_clean(&clean, text, strlen(text));
    plugin->state = state;
    const char *reason = arena_strdup(&catalog->arena, buf_text(&clean));
    plugin->reason = reason ? reason : "";
    buf_free(&clean);
}

static struct plugin *add_plugin(struct catalog *catalog, const char *path, enum plugin_kind kind, struct err *err)
{
    if (!catalog->plugins)
        catalog->plugins = arena_alloc(&catalog->arena, PLUGINS_MAX * sizeof *catalog->plugins);
    if (!catalog->plugins) {
        (void)err_nomem(err);
        return NULL;
    }
    if (catalog->count == PLUGINS_MAX) {
        (void)err_set(err, DTKB_E_LIMIT, "more than %u plugins are in the search path, the last at %s: take some out", PLUGINS_MAX, path);
        return NULL;
    }
    struct plugin *plugin = &catalog->plugins[catalog->count];
    *plugin = (struct plugin){.path = arena_strdup(&catalog->arena, path), .kind = kind, .reason = ""};
    if (!plugin->path) {
        (void)err_nomem(err);
        return NULL;
    }
    catalog->count++;
    return plugin;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && !strcmp(text + length - tail, ending);
}

static int is_candidate(const struct dirent *entry)
{
    bool object = ends_with(entry->d_name, ".so") || ends_with(entry->d_name, ".left-out");
    return (!strncmp(entry->d_name, "libdtkb-probe-", 14) && object) || !strncmp(entry->d_name, "dtkb-probe-", 11);
}

/* libdtkb-probe-NAME.left-out: its first line says why this build has no such plugin. */
static void read_note(struct catalog *catalog, struct plugin *plugin)
{
    char line[512] = "";
    FILE *note = fopen(plugin->path, "re");
    if (note && !fgets(line, sizeof line, note))
        line[0] = '\0';
    if (note)
        (void)fclose(note);
    set_state(catalog, plugin, PLUGIN_LEFT_OUT, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Adds one file of a directory; one that is seen already (a symbolic link to an earlier one) is left out. */
static dtkb_status add_file(struct catalog *catalog, const char *folder, const char *name, struct err *err)
{
    char path[PATH_MAX], why[PATH_MAX + 256];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return DTKB_OK; /* nothing could open it */
    char *real = realpath(path, NULL);
    struct stat info;
    if (real)
        for (size_t i = 0; i < catalog->count; i++)
            if (!strcmp(catalog->plugins[i].path, real)) {
                free(real);
                return DTKB_OK;
            }
    enum plugin_kind kind = ends_with(name, ".so") ? PLUGIN_SHARED : PLUGIN_PROGRAM;
    struct plugin *plugin = add_plugin(catalog, real ? real : path, kind, err);
    if (plugin && !real)
        set_state(catalog, plugin, PLUGIN_UNLOADABLE, "%s", strerror(errno));
    else if (plugin && stat(real, &info) == 0 && !S_ISREG(info.st_mode))
        catalog->count--; /* a folder that happens to be named so */
    else if (plugin && !places_trusted(real, why, sizeof why))
        set_state(catalog, plugin, PLUGIN_UNTRUSTED, "%s", why);
    else if (plugin && ends_with(name, ".left-out"))
        read_note(catalog, plugin);
    else if (plugin && kind == PLUGIN_PROGRAM && access(real, X_OK) != 0)
        set_state(catalog, plugin, PLUGIN_UNLOADABLE, "it is not executable: chmod +x %s", real);
    free(real);
    return plugin ? DTKB_OK : err->code;
}

static dtkb_status add_folder(struct catalog *catalog, const char *folder, struct err *err)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_candidate, alphasort);
    if (count < 0)
        return DTKB_OK; /* gone, or not to be read by us: so it offers nothing */
    dtkb_status status = DTKB_OK;
    for (int i = 0; i < count; i++) {
        if (status == DTKB_OK)
            status = add_file(catalog, folder, entries[i]->d_name, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* ---- asking ---- */

struct question {
    struct catalog *catalog;
    struct description description;
};

static bool take_line(struct job *job, const char *text, size_t length)
{
    struct question *question = job->context;
    return description_line(&question->description, text, length, job->mistake, sizeof job->mistake);
}

/* The first line of what it printed, in brackets, as a hint. */
static void hint(const struct job *job, char *out, size_t size)
{
    int length = (int)strcspn(buf_text(&job->output), "\r\n");
    out[0] = '\0';
    if (length)
        (void)snprintf(out, size, " (it printed: %.*s)", length < 200 ? length : 200, buf_text(&job->output));
}

static void judge(struct job *job)
{
    struct question *question = job->context;
    struct catalog *catalog = question->catalog;
    struct plugin *plugin = question->description.plugin;
    char printed[256];
    hint(job, printed, sizeof printed);
    switch (job->end) {
    case JOB_EXITED:
    case JOB_LOST:
        if (job->end == JOB_EXITED && job->code)
            set_state(catalog, plugin, PLUGIN_UNLOADABLE, "it ended with status %d when asked what it is%s", job->code, printed);
        else if (!description_check(&question->description, job->mistake, sizeof job->mistake))
            set_state(catalog, plugin, PLUGIN_REFUSED, "%s", job->mistake);
        break;
    case JOB_KILLED:
        set_state(catalog, plugin, PLUGIN_UNLOADABLE, "it crashed when asked what it is: %s%s", strsignal(job->code), printed);
        break;
    case JOB_TIMED_OUT:
    case JOB_STUCK:
        set_state(catalog, plugin, PLUGIN_UNLOADABLE, "it did not say what it is within %.0f s",
                  (double)job->timeout_ns / (double)CLOCK_NS_PER_S);
        break;
    case JOB_REJECTED:
        set_state(catalog, plugin, question->description.refused ? PLUGIN_UNLOADABLE : PLUGIN_REFUSED, "%s", job->mistake);
        break;
    case JOB_NOT_STARTED:
        set_state(catalog, plugin, PLUGIN_UNLOADABLE, "it could not be started: %s", strerror(job->code));
        break;
    case JOB_CANCELLED:
    case JOB_NO_TIME:
        set_state(catalog, plugin, PLUGIN_UNLOADABLE, "there was no time to ask it what it is");
        break;
    }
    buf_free(&job->output);
}

/* Asks all that may be asked, side by side. */
static dtkb_status ask(struct catalog *catalog, const struct probe_options *options, struct err *err)
{
    struct job *jobs = calloc(catalog->count + 1, sizeof *jobs);
    struct question *questions = calloc(catalog->count + 1, sizeof *questions);
    dtkb_status status = jobs && questions ? DTKB_OK : err_nomem(err);
    size_t count = 0;
    for (size_t i = 0; status == DTKB_OK && i < catalog->count; i++) {
        struct plugin *plugin = &catalog->plugins[i];
        if (plugin->state != PLUGIN_GOOD)
            continue;
        questions[count] = (struct question){catalog, {.plugin = plugin, .arena = &catalog->arena}};
        jobs[count] = (struct job){.line = take_line, .context = &questions[count]};
        const struct launch launch = {.helper = catalog->helper, .plugin = plugin, .options = options, .timeout_ns = DESCRIBE_TIMEOUT};
        if (!launch_prepare(&launch, &catalog->arena, &jobs[count++]))
            status = err_nomem(err);
    }
    const struct supervise_options limits = {.budget_ns = 5 * CLOCK_NS_PER_S, .cancelled = options->cancelled, .context = options->context};
    if (status == DTKB_OK)
        status = supervise(jobs, count, &limits, err);
    for (size_t i = 0; status == DTKB_OK && i < count; i++)
        judge(&jobs[i]);
    free(jobs);
    free(questions);
    return status;
}

/* ---- clashes ---- */

static const struct plugin *owner_of_probe(const struct catalog *catalog, size_t before, const char *name)
{
    for (size_t i = 0; i < before; i++)
        for (size_t j = 0; catalog->plugins[i].state == PLUGIN_GOOD && j < catalog->plugins[i].probe_count; j++)
            if (!strcmp(catalog->plugins[i].probes[j].name, name))
                return &catalog->plugins[i];
    return NULL;
}

/* The first one in the search path keeps the name. */
static void find_clashes(struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++) {
        struct plugin *plugin = &catalog->plugins[i];
        for (size_t j = 0; plugin->state == PLUGIN_GOOD && j < i; j++)
            if (catalog->plugins[j].state == PLUGIN_GOOD && !strcmp(catalog->plugins[j].name, plugin->name))
                set_state(catalog, plugin, PLUGIN_CLASH, "the name '%s' is taken by %s, which comes first in the search path", plugin->name,
                          catalog->plugins[j].path);
        for (size_t j = 0; plugin->state == PLUGIN_GOOD && j < plugin->probe_count; j++) {
            const struct plugin *owner = owner_of_probe(catalog, i, plugin->probes[j].name);
            if (owner)
                set_state(catalog, plugin, PLUGIN_CLASH, "its probe '%s' has the name of one of %s, which comes first in the search path",
                          plugin->probes[j].name, owner->path);
        }
    }
}

/* ---- all of it ---- */

/* One that never said what it is goes by its file's name: libdtkb-probe-NAME.so, dtkb-probe-NAME.py. */
static void name_the_nameless(struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++) {
        struct plugin *plugin = &catalog->plugins[i];
        const char *file = strrchr(plugin->path, '/'), *name = file ? strstr(file, "dtkb-probe-") : NULL;
        if (plugin->name || !name)
            continue;
        name += strlen("dtkb-probe-");
        plugin->name = arena_strndup(&catalog->arena, name, strcspn(name, "."));
    }
}

dtkb_status catalog_load(const struct probe_options *options, struct catalog *out, struct err *err)
{
    struct catalog catalog = {0};
    const char **folders = NULL;
    size_t folder_count = 0;
    dtkb_status status = places_helper(options->helper, &catalog.arena, &catalog.helper, err);
    if (status == DTKB_OK && !places_plugins(options->plugin_path, options->only_path, &catalog.arena, &folders, &folder_count))
        status = err_nomem(err);
    for (size_t i = 0; status == DTKB_OK && i < folder_count; i++)
        status = add_folder(&catalog, folders[i], err);
    if (status == DTKB_OK)
        status = ask(&catalog, options, err);
    if (status != DTKB_OK) {
        catalog_free(&catalog);
        return status;
    }
    find_clashes(&catalog);
    name_the_nameless(&catalog);
    *out = catalog;
    return DTKB_OK;
}

dtkb_status catalog_load_file(const struct probe_options *options, const char *file, struct catalog *out, struct err *err)
{
    struct catalog catalog = {0};
    char *real = realpath(file, NULL);
    if (!real)
        return err_set(err, errno == ENOENT ? DTKB_E_NOT_FOUND : DTKB_E_IO, "cannot open plugin %s: %s", file, strerror(errno));
    enum plugin_kind kind = ends_with(real, ".so") ? PLUGIN_SHARED : PLUGIN_PROGRAM;
    dtkb_status status = places_helper(options->helper, &catalog.arena, &catalog.helper, err);
    if (status == DTKB_OK && !add_plugin(&catalog, real, kind, err))
        status = err->code;
    free(real);
    if (status == DTKB_OK)
        status = ask(&catalog, options, err);
    if (status == DTKB_OK)
        *out = catalog;
    else
        catalog_free(&catalog);
    return status;
}
