#include "api/secrets.h"

#include "base/redact.h"

struct cleaner {
    struct redactor *redactor;
    struct buf buf;
    bool failed;
};

/* Replaces a text that holds a secret by a clean copy of the arena's; leaves the others alone. */
static void clean(struct cleaner *cleaner, struct arena *arena, const char **text)
{
    if (!*text)
        return;
    buf_clear(&cleaner->buf);
    if (redact(cleaner->redactor, *text, &cleaner->buf) == 0)
        return;
    const char *copy = arena_strndup(arena, buf_text(&cleaner->buf), cleaner->buf.length);
    cleaner->failed = cleaner->failed || !copy || cleaner->buf.failed;
    if (copy)
        *text = copy;
}

static void clean_findings(struct cleaner *cleaner, struct findings *findings)
{
    for (size_t i = 0; i < findings->evidence_count; i++) {
        struct evidence *evidence = &findings->evidence[i];
        clean(cleaner, &findings->arena, &evidence->text);
        /* Fields are the findings' own, handed out as const for readers. */
        struct evidence_field *fields = (struct evidence_field *)(uintptr_t)evidence->fields;
        for (size_t f = 0; f < evidence->field_count; f++)
            clean(cleaner, &findings->arena, &fields[f].value);
    }
}

dtkb_status secrets_remove(struct findings *findings, struct fact_set *facts, struct probe_results *probes, struct err *err)
{
    struct cleaner cleaner = {.redactor = redactor_new()};
    if (!cleaner.redactor)
        return err_nomem(err);
    clean_findings(&cleaner, findings);
    for (size_t i = 0; i < facts->count; i++) {
        clean(&cleaner, &facts->arena, &facts->facts[i].origin);
        if (facts->facts[i].type == FACT_STRING)
            clean(&cleaner, &facts->arena, &facts->facts[i].value.string);
    }
    for (size_t i = 0; i < probes->count; i++) {
        clean(&cleaner, &probes->arena, &probes->results[i].reason);
        clean(&cleaner, &probes->arena, &probes->results[i].output);
    }
    buf_free(&cleaner.buf);
    redactor_free(cleaner.redactor);
    return cleaner.failed ? err_nomem(err) : DTKB_OK;
}
