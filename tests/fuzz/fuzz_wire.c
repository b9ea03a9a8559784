/* What a plugin's process may say: facts and results to the intake, descriptions to the catalog, line by line. */
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "probe/description.h"
#include "probe/intake.h"

static bool defined(void *context, const char *name, enum fact_type *type, const char **unit)
{
    (void)context;
    *type = (enum fact_type)(1 + strlen(name) % 5);
    *unit = "";
    return name[0] != 'u';
}

static void take(struct intake *intake, struct description *description, const char *line, size_t length)
{
    char mistake[256];
    (void)intake_line(intake, line, length, mistake, sizeof mistake);
    (void)description_line(description, line, length, mistake, sizeof mistake);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct vocabulary vocabulary = {.definition = defined};
    struct plugin plugin = {.path = "/x/dtkb-probe-foo", .reason = ""};
    struct arena arena = {0};
    struct description description = {.plugin = &plugin, .arena = &arena};
    struct intake intake;
    if (!intake_start(&intake, &vocabulary, "foo"))
        return 0;
    const char *text = (const char *)data;
    while (size) {
        const char *newline = memchr(text, '\n', size);
        size_t length = newline ? (size_t)(newline - text) : size;
        take(&intake, &description, text, length);
        length += newline != NULL;
        text += length;
        size -= length;
    }
    char mistake[256];
    (void)description_check(&description, mistake, sizeof mistake);
    if (!utf8_is_valid(buf_text(&intake.log), intake.log.length) || !utf8_is_valid(buf_text(&intake.reason), intake.reason.length))
        __builtin_trap();
    for (size_t i = 0; i < plugin.probe_count; i++)
        json_decref(plugin.probes[i].params);
    intake_free(&intake);
    arena_free(&arena);
    return 0;
}
