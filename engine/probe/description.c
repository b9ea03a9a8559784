#include "probe/description.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <dtkb/plugin.h>

#define PROBES_MAX 64u
#define FACTS_MAX 1024u
#define CAPS_KNOWN (DTKB_CAP_ACTIVE | DTKB_CAP_NETWORK | DTKB_CAP_GPU | DTKB_CAP_PRIVILEGED | DTKB_CAP_MULTI_RANK | DTKB_CAP_TRIALS)

struct reader {
    struct description *description;
    char *mistake;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool wrong(const struct reader *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reader->mistake, reader->size, format, args);
    va_end(args);
    return false;
}

static bool is_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length && length <= 64 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

static const char *copy_text(const struct reader *reader, const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return text && *text ? arena_strdup(reader->description->arena, text) : NULL;
}

static bool take_plugin(const struct reader *reader, const json_t *line)
{
    struct plugin *plugin = reader->description->plugin;
    if (plugin->name)
        return wrong(reader, "it describes itself twice");
    plugin->name = copy_text(reader, line, "plugin");
    plugin->version = copy_text(reader, line, "version");
    plugin->licence = copy_text(reader, line, "licence");
    plugin->summary = copy_text(reader, line, "summary");
    const json_t *abi = json_object_get(line, "abi"); /* a program speaks the only version of the wire there is */
    plugin->abi = abi ? (unsigned)json_integer_value(abi) : 1;
    if (!is_name(plugin->name))
        return wrong(reader, "it has no proper name: lower case letters, digits, '-' and '_', at most 64");
    if (!plugin->version || !plugin->licence || !plugin->summary)
        return wrong(reader, "its description lacks a %s", !plugin->version ? "version" : !plugin->licence ? "licence" : "summary");
    return true;
}

/* A name or a number of a bit; 0 when it is neither, a bit we do not know otherwise. */
static uint64_t capability(const json_t *value)
{
    static const char *const names[] = {"active", "network", "gpu", "privileged", "multi-rank", "trials"};
    const char *name = json_string_value(value);
    for (unsigned bit = 0; name && bit < sizeof names / sizeof *names; bit++)
        if (!strcmp(name, names[bit]))
            return 1ull << bit;
    json_int_t number = json_integer_value(value);
    return number > 0 && number < 64 ? 1ull << number : 1ull << 63;
}

static uint64_t capabilities(const json_t *list)
{
    uint64_t bits = 0;
    size_t index;
    const json_t *value;
    json_array_foreach(list, index, value) bits |= capability(value);
    return bits;
}

static bool take_facts(const struct reader *reader, struct plugin_probe *probe, const json_t *list)
{
    size_t count = json_array_size(list);
    if (count > FACTS_MAX)
        return wrong(reader, "probe '%s' lists %zu facts; at most %u are possible", probe->name, count, FACTS_MAX);
    probe->facts = arena_alloc(reader->description->arena, (count + 1) * sizeof *probe->facts);
    for (size_t i = 0; probe->facts && i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name || !*name)
            return wrong(reader, "entry %zu of the facts of probe '%s' is no name", i, probe->name);
        probe->facts[i] = arena_strdup(reader->description->arena, name);
        if (!probe->facts[i])
            return wrong(reader, "out of memory");
        probe->fact_count++;
    }
    return probe->facts || wrong(reader, "out of memory");
}

/* Keeps {name, summary, default} of every well-formed parameter. */
static bool take_params(const struct reader *reader, struct plugin_probe *probe, const json_t *list)
{
    size_t index;
    const json_t *value;
    json_array_foreach(list, index, value) if (!json_string_value(json_object_get(value, "name"))) return wrong(
        reader, "parameter %zu of probe '%s' has no name", index, probe->name);
    probe->params = json_is_array(list) ? json_deep_copy(list) : json_array();
    return probe->params || wrong(reader, "out of memory");
}

static bool grow(const struct reader *reader, struct plugin *plugin)
{
    if (plugin->probe_count == PROBES_MAX)
        return wrong(reader, "it has more than %u probes", PROBES_MAX);
    if (!plugin->probes)
        plugin->probes = arena_alloc(reader->description->arena, PROBES_MAX * sizeof *plugin->probes);
    return plugin->probes || wrong(reader, "out of memory");
}

static bool take_probe(const struct reader *reader, const json_t *line)
{
    struct plugin *plugin = reader->description->plugin;
    if (!plugin->name)
        return wrong(reader, "it describes a probe before itself");
    if (!grow(reader, plugin))
        return false;
    struct plugin_probe *probe = &plugin->probes[plugin->probe_count];
    probe->name = copy_text(reader, line, "probe");
    probe->summary = copy_text(reader, line, "summary");
    if (!is_name(probe->name))
        return wrong(reader, "probe %zu has no proper name: lower case letters, digits, '-' and '_', at most 64", plugin->probe_count);
    if (!probe->summary)
        return wrong(reader, "probe '%s' has no summary", probe->name);
    for (size_t i = 0; i < plugin->probe_count; i++)
        if (!strcmp(plugin->probes[i].name, probe->name))
            return wrong(reader, "probe '%s' is described twice", probe->name);
    json_int_t timeout = json_integer_value(json_object_get(line, "timeout_ms"));
    if (timeout < 0 || timeout > 3600000)
        return wrong(reader, "probe '%s' asks for a timeout outside 0 to 3,600,000 ms", probe->name);
    probe->timeout_ms = (unsigned)timeout;
    probe->caps = capabilities(json_object_get(line, "caps")) & CAPS_KNOWN;
    uint64_t unknown = capabilities(json_object_get(line, "requires")) & ~CAPS_KNOWN;
    if (unknown)
        return wrong(reader, "probe '%s' requires a capability that this dtkb does not know (bit %d): upgrade dtkb", probe->name,
                     __builtin_ctzll(unknown));
    plugin->probe_count++;
    return take_facts(reader, probe, json_object_get(line, "facts")) && take_params(reader, probe, json_object_get(line, "params"));
}

bool description_line(struct description *description, const char *text, size_t length, char *mistake, size_t mistake_size)
{
    const struct reader reader = {description, mistake, mistake_size};
    json_error_t error;
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    bool good;
    if (!json_is_object(line)) {
        good = wrong(&reader, "its description is no JSON object a line: %s", line ? "another value" : error.text);
    } else if (json_object_get(line, "refused")) {
        description->refused = true;
        const char *why = json_string_value(json_object_get(line, "refused"));
        good = wrong(&reader, "%s", why ? why : "no reason given");
    } else if (json_object_get(line, "probe")) {
        good = take_probe(&reader, line);
    } else {
        good = take_plugin(&reader, line);
    }
    json_decref(line);
    return good;
}

/* Does the file's name hold the plugin's: libdtkb-probe-NAME.so, dtkb-probe-NAME or dtkb-probe-NAME.EXTENSION? */
static bool fits_file(const struct plugin *plugin)
{
    const char *file = strrchr(plugin->path, '/');
    file = file ? file + 1 : plugin->path;
    if (!strncmp(file, "lib", 3))
        file += 3;
    static const char prefix[] = "dtkb-probe-";
    if (strncmp(file, prefix, sizeof prefix - 1) != 0)
        return false;
    file += sizeof prefix - 1;
    size_t length = strlen(plugin->name);
    return !strncmp(file, plugin->name, length) && (file[length] == '\0' || file[length] == '.');
}

bool description_check(const struct description *description, char *mistake, size_t mistake_size)
{
    const struct reader reader = {(struct description *)description, mistake, mistake_size};
    const struct plugin *plugin = description->plugin;
    if (!plugin->name)
        return wrong(&reader, "it said nothing about itself on the descriptor that DTKB_FD names");
    if (!plugin->probe_count)
        return wrong(&reader, "it has no probes");
    if (!fits_file(plugin))
        return wrong(&reader, "it calls itself '%s', but its file is not named so: libdtkb-probe-%s.so, or dtkb-probe-%s for a program",
                     plugin->name, plugin->name, plugin->name);
    return true;
}
