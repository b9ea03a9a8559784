#include "diagnose/opinion.h"

#include <string.h>

#include "base/buf.h"

#define EACH_KIND_MAX 8000 /* bytes: of a log of thousands of errors the first say what kind of trouble it is */

static bool any_began(const struct findings *findings)
{
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].role == ROLE_INITIATING)
            return true;
    return false;
}

/* What follows from another rank's trouble tells of that, not of the trouble: its words count only where nothing began. */
static void add_kind(const struct findings *findings, enum evidence_kind kind, struct buf *out)
{
    size_t limit = out->length + EACH_KIND_MAX;
    bool began = any_began(findings);
    for (size_t i = 0; i < findings->evidence_count && out->length < limit; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        if (evidence->kind == kind && evidence->text && !(began && findings_line_follows(findings, i)))
            buf_addf(out, "%.400s\n", evidence->text);
    }
}

dtkb_status opinion_form(struct kb *kb, const struct findings *findings, struct opinion *out, struct err *err)
{
    static const enum evidence_kind kinds[] = {EV_EXCEPTION, EV_SIGNAL,     EV_EXIT,     EV_DUMP, EV_OBSERVED,
                                               EV_SIGNATURE, EV_ERROR_LINE, EV_PROGRESS, EV_TEXT};
    struct buf text = {0};
    out->symptoms.count = out->fixes.count = 0;
    for (size_t i = 0; findings && i < sizeof kinds / sizeof *kinds; i++)
        add_kind(findings, kinds[i], &text);
    dtkb_status status = text.failed ? err_nomem(err) : kb_classify(kb, buf_text(&text), TASK_SYMPTOM, &out->symptoms, err);
    if (status == DTKB_OK)
        status = kb_classify(kb, buf_text(&text), TASK_FIX, &out->fixes, err);
    buf_free(&text);
    return status;
}
