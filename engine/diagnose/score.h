/*
 * The scoring model: one place, one sum.
 *
 * A candidate is a cause with at least one `for` signature in the log (or, without a log, one confirmed by a fact of a probe that found a
 * fault). Its score is a sum of log-odds terms; --explain-scores prints each of them.
 *
 *   signatures   ln(p / (1-p)) with p = 1 - prod(1 - p_i) over the distinct `for` signatures found: weak 0.20, moderate 0.50,
 *                strong 0.80, proof 0.95 (what kb/README.md promises of each strength)
 *   support      + SCORE_SUPPORT for each distinct `support` signature, at most three
 *   against      - SCORE_AGAINST for each distinct `against` signature
 *   generic      - SCORE_GENERIC: a card that only names the kind of trouble gives way to one that explains it;
 *                - SCORE_GENERIC_ALONE where nothing explains more than by a weak sign
 *   cascade      - SCORE_CASCADE_BESIDE when only cascade evidence speaks for it and something initiating was seen elsewhere,
 *                - SCORE_CASCADE_ALONE otherwise: what follows from another rank's trouble is not the root; a weak sign of a
 *                generic card is cascade evidence where anything else says so of its line
 *   order        + SCORE_FIRST for the candidate whose initiating evidence is the earliest, - SCORE_LATER for each step behind (at most
 *                three): the root error comes before what it causes;
 *                + SCORE_FOLLOWED for the earliest when others lost their peer, or a launcher its worker, after it
 *   prior        SCORE_PRIOR * ln(share of the symptom in the study * 30), limited to +-0.5
 *   words        SCORE_WORDS * ln(share of the symptom by the log's words (kb/classify.h) / the share of the likeliest symptom), at least
 *                -SCORE_WORDS_MAX: words only speak against what they do not fit. Only in the log of a training job, not against a `proof`, and
 *                not where a fact or a trial confirms some card
 *   version      + SCORE_VERSION_FITS, or - SCORE_VERSION_MISFIT when a version in the log lies outside of what the card applies to
 *   facts        + SCORE_CONFIRMED, - SCORE_REFUTED by facts of the live machine; a generic card, which many facts fit, gets half
 *   trial        + SCORE_PROVEN, - SCORE_DISPROVEN by a trial on the live machine
 *   went-on      - SCORE_WENT_ON when training went on after the last evidence, - SCORE_CLEAN_END when the job ended well
 *   alive        - SCORE_ALIVE when nothing in the log died (no exception, signal, exit status) and no `proof` speaks for the card:
 *                text that only talks of trouble must not sound sure
 *                (neither counts where several lines show the trouble together: it is measured, and may be of a job that goes on; nor does
 *                the latter in a text of PASTED_LINES at most without a job in it: somebody asks about that line)
 *   foreign      - SCORE_FOREIGN when nothing else in the log belongs to a training job and no `proof` speaks for it; and its signatures
 *                count no more than SCORE_FOREIGN_MOST together: a long text of another kind has some of anybody's words
 *
 * Confidence is the chance that the card's symptom is right: a logistic curve over the score and over the lead on the best rival of another
 * symptom. The strengths' promises fix the scale; dtkb-eval prints the reliability table, on tests/cases/heldback for cases never tuned on.
 */
#ifndef DTKB_DIAGNOSE_SCORE_H
#define DTKB_DIAGNOSE_SCORE_H

#include "base/fact.h"
#include "diagnose/opinion.h"
#include "diagnose/trial.h"
#include "kb/kb.h"
#include "scan/findings.h"

#define SCORE_SUPPORT 0.35
#define SCORE_AGAINST 1.5
#define SCORE_GENERIC 1.2
#define SCORE_GENERIC_ALONE 0.5
#define SCORE_CASCADE_BESIDE 2.0
#define SCORE_CASCADE_ALONE 0.5
#define SCORE_FIRST 0.5
#define SCORE_FOLLOWED 0.8
#define SCORE_LATER 0.2
#define SCORE_PRIOR 0.2
#define SCORE_WORDS 0.8
#define SCORE_WORDS_MAX 1.5
#define SCORE_VERSION_FITS 0.3
#define SCORE_VERSION_MISFIT 2.0
#define SCORE_CONFIRMED 1.5
#define SCORE_REFUTED 2.5
#define SCORE_PROVEN 4.0
#define SCORE_DISPROVEN 2.0
#define SCORE_WENT_ON 2.5
#define SCORE_CLEAN_END 3.5
#define SCORE_ALIVE 2.0
#define SCORE_FOREIGN 3.0
#define PASTED_LINES 3
#define SCORE_FOREIGN_MOST 0.8
#define SCORE_FACTS_ALONE 0.4 /* signature term of a candidate that facts alone brought up */

/* Of the logistic curve: confidence = 1 / (1 + exp(-(OFFSET + SLOPE * score + LEAD * lead))), lead limited to 0..4. */
#define CONFIDENCE_OFFSET 0.10
#define CONFIDENCE_SLOPE 0.75
#define CONFIDENCE_LEAD 0.25

/* Below this a cause is not shown as an answer; a report without any is `unknown`. */
#define CONFIDENCE_SHOWN 0.15
#define CONFIDENCE_CONVINCING 0.40

enum score_term {
    TERM_SIGNATURES,
    TERM_SUPPORT,
    TERM_AGAINST,
    TERM_GENERIC,
    TERM_CASCADE,
    TERM_ORDER,
    TERM_PRIOR,
    TERM_WORDS,
    TERM_VERSION,
    TERM_FACTS,
    TERM_TRIAL,
    TERM_WENT_ON,
    TERM_ALIVE,
    TERM_FOREIGN,
    TERM_COUNT
};
extern const char *const score_term_names[TERM_COUNT];

struct candidate {
    const struct cause *cause;
    const struct evidence **evidence; /* what speaks for it, by sequence */
    size_t evidence_count, evidence_capacity;
    const struct fact *confirmed_by, *refuted_by;
    bool proven, disproven; /* by trials */
    double terms[TERM_COUNT];
    double score, confidence;
    uint64_t first; /* sequence of its first initiating evidence, or of its first at all */
    uint64_t last;
    double miss; /* prod(1 - p_i) so far */
    unsigned support, against;
    bool initiating; /* some initiating evidence speaks for it */
    bool proof;
    bool measured;  /* what several lines show together speaks for it, not only words */
    uint32_t *seen; /* signatures counted */
    size_t seen_count, seen_capacity;
};

struct candidates {
    struct candidate *list; /* best first once score_all() ran */
    size_t count, capacity;
};

/* What there is to judge by; each may be NULL, but for the opinion, which may be empty. */
struct score_input {
    const struct findings *findings;
    const struct fact_set *facts;
    const struct probe_results *probes;
    const struct trial_runs *trials;
    const struct opinion *opinion;
};

/* Gathers candidates and scores them. */
dtkb_status score_all(struct kb *kb, const struct score_input *input, struct candidates *out, struct err *err);

/* The job's own word that it ended well: exit statuses, all of them 0. */
bool score_ended_well(const struct findings *findings);

void candidates_free(struct candidates *candidates);

#endif
