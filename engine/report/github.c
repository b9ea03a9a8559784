/* Workflow commands of GitHub Actions: an annotation at the user's own line. */
#include <string.h>

#include "report/access.h"
#include "report/formats.h"

/* The runner's own escapes; in a property ':' and ',' as well. */
static void add_data(struct buf *out, const char *text, bool property)
{
    for (; *text; text++) {
        if (*text == '%' || *text == '\r' || *text == '\n' || (property && (*text == ':' || *text == ',')))
            buf_addf(out, "%%%02X", (unsigned char)*text);
        else
            buf_addc(out, *text);
    }
}

dtkb_status render_github(const json_t *report, const struct render_options *options, struct buf *out)
{
    (void)options;
    const json_t *cause = best_cause(report), *remedy = json_array_get(get_list(cause, "remedies"), 0);
    const char *file;
    long long line;
    struct buf text = {0};
    add_headline(&text, report);
    if (!strcmp(get_string(report, "verdict"), "no-fault")) {
        buf_addf(out, "::notice title=dtkb::%s\n", buf_text(&text));
    } else {
        buf_adds(out, "::error title=");
        add_data(out, buf_text(&text), true);
        if (best_location(report, &file, &line)) {
            buf_adds(out, ",file=");
            add_data(out, file, true);
            buf_addf(out, ",line=%lld", line > 0 ? line : 1);
        }
        buf_clear(&text);
        if (cause)
            buf_addf(&text, "%s\n%s\n%s", get_string(cause, "explanation"), get_string(remedy, "text"), get_string(remedy, "command"));
        else
            buf_adds(&text, get_string(json_array_get(get_list(report, "evidence"), 0), "text"));
        buf_adds(out, "::");
        add_data(out, text.length ? buf_text(&text) : "dtkb found no known cause", false);
        buf_addc(out, '\n');
    }
    buf_free(&text);
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}
