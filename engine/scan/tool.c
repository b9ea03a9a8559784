#include "scan/tool.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scan/line.h"

#define FINDINGS_MAX 256

void tool_field(struct tool_finding *finding, const char *name, const char *value)
{
    if (finding->field_count < TOOL_FIELDS_MAX && value && *value)
        finding->fields[finding->field_count++] = (struct evidence_field){name, value};
}

/* One clean line of at most `size` - 1 bytes. */
static void clean(const char *raw, char *out, size_t size)
{
    char line[EVIDENCE_TEXT_MAX];
    size_t length = 0;
    for (; length < size - 1 && length < sizeof line && raw[length]; length++)
        line[length] = strchr("\r\n\t", raw[length]) ? ' ' : raw[length];
    out[line_strip(line, length, out)] = '\0';
}

void tool_tell(struct tool_report *report, const struct tool_finding *finding, const char *format, ...)
{
    char raw[EVIDENCE_TEXT_MAX], text[EVIDENCE_TEXT_MAX], values[TOOL_FIELDS_MAX][TOOL_VALUE_MAX];
    struct evidence_field fields[TOOL_FIELDS_MAX];
    if (report->told == FINDINGS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    clean(raw, text, sizeof text);
    for (size_t i = 0; i < finding->field_count; i++) {
        clean(finding->fields[i].value, values[i], sizeof values[i]);
        fields[i] = (struct evidence_field){finding->fields[i].name, values[i]};
    }
    uint64_t sequence = ((uint64_t)report->file << 40) + report->told++;
    struct evidence evidence = {.kind = finding->setting ? EV_OBSERVED : EV_DUMP,
                                .role = finding->role,
                                .signature = SIGNATURE_NONE,
                                .file = report->file,
                                .sequence = sequence,
                                .rank = finding->rank,
                                .time = NAN,
                                .text = text,
                                .fields = fields,
                                .field_count = finding->field_count,
                                .observed = finding->setting};
    collect_add(report->collect, &evidence, ~sequence); /* numbers from the other end than Flight Recorder's */
}
