#include "diagnose/opinion.h"

#include <string.h>

#include "base/buf.h"

#define EACH_KIND_MAX 8000 /* bytes: of a log of thousands of errors the first say what kind of trouble it is */

/* What follows from another rank's trouble tells of that, not of the trouble: its words count only where nothing began. */
static bool follows(const struct evidence *evidence)
{
    return evidence->role == ROLE_CASCADE || evidence->role == ROLE_TEARDOWN;
}

static bool any_began(const struct findings *findings)
{
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].role == ROLE_INITIATING)
            return true;
    return false;
}

static bool same_line(const struct evidence *left, const struct evidence *right)
{
    return left->line == right->line && left->file == right->file;
}

/* A line may be told several times, as text and as evidence of a role. Evidence is in the order of the lines. */
static bool line_follows(const struct findings *findings, size_t at)
{
    const struct evidence *list = findings->evidence;
    size_t i = at;
    while (i && same_line(&list[i - 1], &list[at]))
        i--;
    for (; i < findings->evidence_count && same_line(&list[i], &list[at]); i++)
        if (follows(&list[i]))
            return true;
    return false;
}

static void add_kind(const struct findings *findings, enum evidence_kind kind, struct buf *out)
{
    size_t limit = out->length + EACH_KIND_MAX;
    bool began = any_began(findings);
    for (size_t i = 0; i < findings->evidence_count && out->length < limit; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        if (evidence->kind == kind && evidence->text && !(began && line_follows(findings, i)))
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
