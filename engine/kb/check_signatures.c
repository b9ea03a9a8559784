/* Do signatures match what they say, and nothing else that is known? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "kb/check.h"
#include "scan/scan.h"

/* One signature of the set that is tried on everything. */
struct entry {
    const struct pack *pack;
    const struct pack_cause *cause;
    const struct pack_signature *source;
};
struct all {
    struct entry *entries;
    struct signature *signatures; /* likewise, as the scanner wants them; .cause numbers the causes of all packs */
    size_t count;
};

static struct place place_of(const struct entry *entry)
{
    return (struct place){entry->pack->file, entry->source->line, entry->cause->cause.id, entry->source->signature.id};
}

/* ---- a signature alone ---- */

static bool is_one_line(struct check *check, const struct entry *entry, const char *line, const char *what)
{
    if (*line && !strpbrk(line, "\r\n"))
        return true;
    check_complain(check, CHECK_ERROR, place_of(entry), "a %s is not exactly one line", what);
    return false;
}

static void check_samples(struct check *check, const struct entry *entry)
{
    const struct pack_signature *source = entry->source;
    struct err why = {0};
    bool matches = false;
    for (size_t i = 0; i < source->sample_count; i++)
        if (is_one_line(check, entry, source->samples[i], "sample") &&
            scan_test_signature(&source->signature, source->samples[i], &matches, &why) == DTKB_OK && !matches)
            check_complain(check, CHECK_ERROR, place_of(entry), "does not match its sample: %s", source->samples[i]);
    for (size_t i = 0; i < source->near_miss_count; i++)
        if (is_one_line(check, entry, source->near_misses[i], "near miss") &&
            scan_test_signature(&source->signature, source->near_misses[i], &matches, &why) == DTKB_OK && matches)
            check_complain(check, CHECK_ERROR, place_of(entry), "matches its near miss: %s", source->near_misses[i]);
}

/* Checks each signature alone; the usable ones go into `all`. */
static dtkb_status gather(struct check *check, struct all *all, struct err *err)
{
    size_t capacity = 0;
    for (size_t i = 0; i < check->pack_count; i++)
        for (size_t j = 0; j < check->packs[i].cause_count; j++)
            capacity += check->packs[i].causes[j].signature_count;
    all->entries = calloc(capacity + 1, sizeof *all->entries);
    all->signatures = calloc(capacity + 1, sizeof *all->signatures);
    if (!all->entries || !all->signatures)
        return err_nomem(err);
    uint32_t cause = 0;
    for (size_t i = 0; i < check->pack_count; i++)
        for (size_t j = 0; j < check->packs[i].cause_count; j++, cause++)
            for (size_t k = 0; k < check->packs[i].causes[j].signature_count; k++) {
                const struct pack_cause *owner = &check->packs[i].causes[j];
                struct entry entry = {&check->packs[i], owner, &owner->signatures[k]};
                struct err why = {0};
                if (scan_check_signature(&entry.source->signature, &why) != DTKB_OK) {
                    check_complain(check, CHECK_ERROR, place_of(&entry), "%s", why.text);
                    continue;
                }
                check_samples(check, &entry);
                all->entries[all->count] = entry;
                all->signatures[all->count] = entry.source->signature;
                all->signatures[all->count++].cause = cause;
            }
    return DTKB_OK;
}

/* ---- all signatures together ---- */

/* May this signature fire there without being wrong? Weak signs, what follows from other trouble, and kinds of trouble overlap by nature.
 */
static bool is_mild(const struct entry *entry)
{
    const struct signature *signature = &entry->source->signature;
    return entry->cause->cause.generic || signature->strength <= SIG_MODERATE || signature->effect != SIG_FOR ||
           signature->role != ROLE_INITIATING;
}

/* The sample that stands in line `line` of the text made of all samples of a cause. */
static const char *sample_at(const struct pack_cause *cause, uint64_t line, const struct pack_signature **owner)
{
    for (size_t i = 0; i < cause->signature_count; i++) {
        *owner = &cause->signatures[i];
        if (line <= (*owner)->sample_count)
            return line ? (*owner)->samples[line - 1] : NULL;
        line -= (*owner)->sample_count;
    }
    return NULL;
}

static void judge_crossing(struct check *check, const struct entry *firing, const struct pack *pack, const struct pack_cause *other,
                           uint64_t line)
{
    const struct pack_signature *owner = NULL;
    const char *sample = sample_at(other, line, &owner);
    if (!sample || firing->cause == other)
        return;
    /* A generic card and a weak sign promise nothing; and two cards of one kind may share a line. */
    bool same_symptom = !strcmp(firing->cause->cause.symptom, other->cause.symptom);
    if (firing->cause->cause.generic || firing->source->signature.strength == SIG_WEAK ||
        (same_symptom && !strcmp(firing->cause->cause.fix, other->cause.fix)))
        return;
    struct entry sampled = {pack, other, owner};
    bool mild = same_symptom || is_mild(firing) || is_mild(&sampled);
    check_complain(check, mild ? CHECK_WARNING : CHECK_ERROR, place_of(firing), "fires on a sample of %s/%s: %s", other->cause.id,
                   owner->signature.id, sample);
}

static dtkb_status scan_samples(const struct scan_db *db, const struct pack_cause *cause, struct findings *findings, struct err *err)
{
    struct buf text = {0};
    for (size_t i = 0; i < cause->signature_count; i++)
        for (size_t j = 0; j < cause->signatures[i].sample_count; j++)
            buf_addf(&text, "%s\n", cause->signatures[i].samples[j]);
    const struct scan_options options = {.threads = 1};
    struct scan *scan = NULL;
    dtkb_status status = text.failed ? err_nomem(err) : scan_new(db, &options, &scan, err);
    if (status == DTKB_OK)
        status = scan_feed(scan, cause->cause.id, buf_text(&text), text.length, err);
    if (status == DTKB_OK)
        status = scan_findings(scan, findings, err);
    scan_free(scan);
    buf_free(&text);
    return status;
}

/* What matches alone should be found by the scanner too: it may pass over the line, as over source that no frame stands above. */
static void check_found(struct check *check, const struct pack *pack, const struct pack_cause *cause, const struct all *all,
                        const struct findings *findings)
{
    for (size_t i = 0; i < cause->signature_count; i++) {
        const struct pack_signature *source = &cause->signatures[i];
        bool found = source->sample_count == 0;
        for (size_t k = 0; k < findings->evidence_count && !found; k++) {
            const struct evidence *evidence = &findings->evidence[k];
            found =
                evidence->kind == EV_SIGNATURE && evidence->signature < all->count && all->entries[evidence->signature].source == source;
        }
        if (!found)
            check_complain(check, CHECK_WARNING, place_of(&(struct entry){pack, cause, source}),
                           "matches its samples, but is not found in a log that has them: %s", source->samples[0]);
    }
}

static dtkb_status check_crossings(struct check *check, const struct all *all, const struct scan_db *db, struct err *err)
{
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < check->pack_count && status == DTKB_OK; i++)
        for (size_t j = 0; j < check->packs[i].cause_count && status == DTKB_OK; j++) {
            const struct pack_cause *cause = &check->packs[i].causes[j];
            struct findings findings = {0};
            status = scan_samples(db, cause, &findings, err);
            if (status == DTKB_OK)
                check_found(check, &check->packs[i], cause, all, &findings);
            for (size_t k = 0; k < findings.evidence_count && status == DTKB_OK; k++) {
                const struct evidence *evidence = &findings.evidence[k];
                if (evidence->kind == EV_SIGNATURE && evidence->signature < all->count)
                    judge_crossing(check, &all->entries[evidence->signature], &check->packs[i], cause, evidence->line);
            }
            findings_free(&findings);
        }
    return status;
}

static dtkb_status check_healthy(struct check *check, const struct all *all, const struct scan_db *db, const char *path, struct err *err)
{
    struct scan *scan = NULL;
    struct findings findings = {0};
    dtkb_status status = scan_new(db, NULL, &scan, err);
    if (status == DTKB_OK)
        status = scan_path(scan, path, err);
    if (status == DTKB_OK)
        status = scan_findings(scan, &findings, err);
    scan_free(scan);
    for (size_t i = 0; i < findings.evidence_count && status == DTKB_OK; i++) {
        const struct evidence *evidence = &findings.evidence[i];
        if (evidence->kind != EV_SIGNATURE || evidence->signature >= all->count)
            continue;
        const struct entry *entry = &all->entries[evidence->signature];
        check_complain(check, is_mild(entry) ? CHECK_WARNING : CHECK_ERROR, place_of(entry), "fires on the healthy log %s:%llu: %s", path,
                       (unsigned long long)evidence->line, evidence->text);
    }
    findings_free(&findings);
    return status;
}

/* ---- fixed text ---- */

#define LOOKS_PER_THOUSAND 10     /* lines of healthy logs; more make every scan slower */
#define LINES_LEAST 500           /* fewer tell nothing of thousands */
#define LOG_MAX ((size_t)8 << 20) /* of one log: that tells enough */

static dtkb_status count_log(const struct scan_db *db, const char *path, uint32_t *lines, uint64_t *total, struct err *err)
{
    char *text = malloc(LOG_MAX);
    FILE *file = text ? fopen(path, "rb") : NULL;
    dtkb_status status = file   ? scan_count_texts(db, text, fread(text, 1, LOG_MAX, file), lines, total, err)
                         : text ? err_set(err, DTKB_E_IO, "%s: %s", path, strerror(errno))
                                : err_nomem(err);
    if (file)
        (void)fclose(file);
    free(text);
    return status;
}

/* Which signatures' fixed text is in many lines of healthy logs? Their expressions don't match, but have to be looked at. */
static dtkb_status check_texts(struct check *check, const struct all *all, const struct scan_db *db, const char *const *healthy,
                               size_t healthy_count, struct err *err)
{
    uint32_t *lines = calloc(all->count + 1, sizeof *lines);
    uint64_t total = 0;
    dtkb_status status = lines ? DTKB_OK : err_nomem(err);
    for (size_t i = 0; i < healthy_count && status == DTKB_OK; i++)
        status = count_log(db, healthy[i], lines, &total, err);
    for (size_t i = 0; i < all->count && status == DTKB_OK && total >= LINES_LEAST; i++)
        if ((uint64_t)lines[i] * 1000 > total * LOOKS_PER_THOUSAND)
            check_complain(
                check, CHECK_WARNING, place_of(&all->entries[i]),
                "its fixed text is in %.1f of 1,000 lines of the healthy logs (bar %d): longer or rarer fixed text is found faster",
                (double)lines[i] * 1000 / (double)total, LOOKS_PER_THOUSAND);
    free(lines);
    return status;
}

dtkb_status check_signatures(struct check *check, const char *const *healthy, size_t healthy_count, struct err *err)
{
    struct all all = {0};
    struct scan_db *db = NULL;
    dtkb_status status = gather(check, &all, err);
    if (status == DTKB_OK && all.count) {
        status = scan_db_build(all.signatures, all.count, &db, err);
        if (status == DTKB_OK)
            status = check_crossings(check, &all, db, err);
        for (size_t i = 0; i < healthy_count && status == DTKB_OK; i++)
            status = check_healthy(check, &all, db, healthy[i], err);
        if (status == DTKB_OK)
            status = check_texts(check, &all, db, healthy, healthy_count, err);
    }
    scan_db_free(db);
    free(all.signatures);
    free(all.entries);
    return status;
}
