/* The report for an issue comment. */
#include <string.h>

#include "report/access.h"
#include "report/formats.h"

/* Text that is no markup: characters that begin markup are escaped, line breaks folded. */
static void add_plain(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("\\`*_{}[]<>#|", *text))
            buf_addc(out, '\\');
        buf_addc(out, *text == '\n' ? ' ' : *text);
    }
}

/* A fence longer than any run of back-ticks inside. */
static void add_code(struct buf *out, const char *text, const char *indent)
{
    size_t longest = 2, run = 0;
    for (const char *p = text; *p; p++) {
        run = *p == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (int fence = 0; fence < 2; fence++) {
        buf_adds(out, indent);
        for (size_t i = 0; i <= longest; i++)
            buf_addc(out, '`');
        buf_addc(out, '\n');
        if (fence)
            break;
        buf_adds(out, indent);
        for (const char *p = text; *p; p++) {
            buf_addc(out, *p);
            if (*p == '\n' && p[1])
                buf_adds(out, indent);
        }
        buf_addc(out, '\n');
    }
}

static void add_evidence(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *evidence;
    json_array_foreach(list, i, evidence)
    {
        const json_t *fact = json_object_get(evidence, "fact"), *rank = json_object_get(evidence, "rank");
        if (fact) {
            buf_addf(out, "- %s: `%s` = `", get_string(evidence, "effect"), get_string(fact, "name"));
            add_scalar(out, json_object_get(fact, "value"));
            buf_addf(out, "` %s\n", get_string(fact, "unit"));
            continue;
        }
        buf_adds(out, "- ");
        add_plain(out, get_string(evidence, "file"));
        if (get_integer(evidence, "line") > 0)
            buf_addf(out, ":%lld", get_integer(evidence, "line"));
        if (json_is_integer(rank))
            buf_addf(out, ", rank %lld", (long long)json_integer_value(rank));
        buf_adds(out, "\n");
        add_code(out, get_string(evidence, "text"), "  ");
    }
}

static void add_remedies(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *remedy;
    json_array_foreach(list, i, remedy)
    {
        buf_addf(out, "%zu. ", i + 1);
        add_plain(out, get_string(remedy, "text"));
        buf_addc(out, '\n');
        if (*get_string(remedy, "command"))
            add_code(out, get_string(remedy, "command"), "   ");
        if (*get_string(remedy, "check")) {
            buf_adds(out, "   To check: ");
            add_plain(out, get_string(remedy, "check"));
            buf_addc(out, '\n');
        }
    }
}

static void add_similar(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *issue;
    if (json_array_size(list))
        buf_adds(out, "\n### Who had it before\n\n");
    json_array_foreach(list, i, issue)
    {
        const char *title = get_string(issue, "title");
        buf_adds(out, "- [");
        add_plain(out, *title ? title : get_string(issue, "id"));
        buf_addf(out, "](<%s>)%s\n", get_string(issue, "url"), get_flag(issue, "older_than_here") ? " (older versions than here)" : "");
    }
}

dtkb_status render_markdown(const json_t *report, const struct render_options *options, struct buf *out)
{
    (void)options;
    const json_t *cause = best_cause(report);
    struct buf headline = {0};
    add_headline(&headline, report);
    buf_adds(out, "## dtkb: ");
    add_plain(out, buf_text(&headline));
    buf_adds(out, "\n");
    buf_free(&headline);
    const json_t *evidence = cause ? get_list(cause, "evidence") : get_list(report, "evidence");
    if (json_array_size(evidence)) {
        buf_adds(out, "\n### Why\n\n");
        add_evidence(out, evidence);
    }
    if (cause) {
        buf_addc(out, '\n');
        add_plain(out, get_string(cause, "explanation"));
        buf_adds(out, "\n\n### What to do\n\n");
        add_remedies(out, get_list(cause, "remedies"));
    }
    add_similar(out, get_list(report, "similar"));
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}
