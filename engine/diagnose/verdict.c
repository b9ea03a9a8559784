#include "diagnose/verdict.h"

#include <string.h>

static bool died(const struct evidence *evidence)
{
    if (evidence->kind == EV_SIGNAL)
        return true;
    if (evidence->kind == EV_EXIT)
        return evidence->number != 0;
    return evidence->kind == EV_EXCEPTION || evidence->kind == EV_DUMP;
}

static bool any_died(const struct findings *findings)
{
    for (size_t i = 0; findings && i < findings->evidence_count; i++)
        if (died(&findings->evidence[i]))
            return true;
    return false;
}

/* Did steps come after it, of the same rank where it has one? Then the job lived with what the line says. */
static bool survived(const struct findings *findings, const struct evidence *line)
{
    for (size_t i = 0; i < findings->evidence_count; i++) {
        const struct evidence *later = &findings->evidence[i];
        if (later->kind == EV_PROGRESS && later->sequence > line->sequence && later->file == line->file &&
            (line->rank == RANK_UNKNOWN || later->rank == RANK_UNKNOWN || later->rank == line->rank))
            return true;
    }
    return false;
}

/* A death, or a line that looks like an error and that the job did not live with. */
static bool any_complaint(const struct findings *findings)
{
    for (size_t i = 0; findings && i < findings->evidence_count; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        if (died(evidence) || (evidence->kind == EV_ERROR_LINE && !survived(findings, evidence)))
            return true;
    }
    return false;
}

/* Training seen to go on: steps, epochs, losses. */
static bool any_progress(const struct findings *findings)
{
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].kind == EV_PROGRESS)
            return true;
    return false;
}

bool verdict_without_log(const struct findings *findings)
{
    static const char mark[] = "probe:"; /* what a probe's own libraries printed */
    for (size_t i = 0; findings && i < findings->file_count; i++)
        if (strncmp(findings->files[i].name, mark, sizeof mark - 1) != 0)
            return false;
    return findings != NULL;
}

static bool all_probes_ok(const struct probe_results *probes)
{
    for (size_t i = 0; probes && i < probes->count; i++)
        if (probes->results[i].status != PROBE_OK && probes->results[i].status != PROBE_SKIPPED)
            return false;
    return probes && probes->count;
}

static bool any_probe_fault(const struct probe_results *probes)
{
    for (size_t i = 0; probes && i < probes->count; i++)
        if (probes->results[i].status == PROBE_FAULT)
            return true;
    return false;
}

const char *verdict_decide(const struct findings *findings, const struct candidates *candidates, const struct probe_results *probes)
{
    if ((candidates->count && candidates->list[0].confidence >= CONFIDENCE_CONVINCING) || any_probe_fault(probes))
        return "fault";
    if (!findings || score_ended_well(findings) || (verdict_without_log(findings) && all_probes_ok(probes)))
        return "no-fault";
    if (findings->training_log && any_died(findings))
        return "fault";
    if (any_complaint(findings) || (candidates->count && candidates->list[0].confidence >= CONFIDENCE_SHOWN))
        return "unknown";
    return findings->training_log && !any_progress(findings) ? "unknown" : "no-fault";
}

/* How much a piece of evidence tells of where it began: the root cause's own lines before anybody's exit status. */
static bool better(const struct evidence *candidate, const struct evidence *best)
{
    bool cascade = candidate->role == ROLE_CASCADE || candidate->role == ROLE_TEARDOWN;
    bool best_cascade = best->role == ROLE_CASCADE || best->role == ROLE_TEARDOWN;
    if (cascade != best_cascade)
        return !cascade;
    return candidate->sequence < best->sequence;
}

/* Does every exception only say that a peer is gone? Then whoever went is told by exit codes, if at all. */
static bool only_lost_peers(const struct findings *findings)
{
    bool any = false;
    for (size_t i = 0; i < findings->evidence_count; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        if (evidence->kind != EV_EXCEPTION)
            continue;
        if (evidence->role != ROLE_CASCADE && evidence->role != ROLE_TEARDOWN)
            return false;
        any = true;
    }
    return any;
}

int32_t verdict_first_failing_rank(const struct findings *findings, const struct candidates *candidates)
{
    if (!findings)
        return RANK_UNKNOWN;
    bool vague = candidates->count && candidates->list[0].cause->generic && only_lost_peers(findings);
    for (size_t i = 0; candidates->count && !vague && i < candidates->list[0].evidence_count; i++) {
        const struct evidence *evidence = candidates->list[0].evidence[i];
        bool began = evidence->role == ROLE_INITIATING && !findings_line_follows(findings, (size_t)(evidence - findings->evidence));
        if (began && evidence->rank != RANK_UNKNOWN)
            return evidence->rank;
    }
    const struct evidence *best = NULL;
    for (size_t i = 0; i < findings->evidence_count; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        if (died(evidence) && evidence->rank != RANK_UNKNOWN && (!best || better(evidence, best)))
            best = evidence;
    }
    return best ? best->rank : RANK_UNKNOWN;
}
