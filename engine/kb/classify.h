/* What kind of trouble a text tells of, by its words alone: the answer where no signature knows the words, and a second opinion where one does.
 *
 * Complement naive Bayes (Rennie, Shih, Teevan, Karger: "Tackling the Poor Assumptions of Naive Bayes Text Classifiers", ICML 2003). With x
 * the words of the text (words.h), N(w, c) the weight of the word w in the texts of the label c that the knowledge base holds (cards, read
 * issues, reports), a dot for a sum over all, and V distinct words:
 *
 *   score(c) = - sum over w of x(w) * ln((N(w, .) - N(w, c) + a) / (N(., .) - N(., c) + a V))        a = CLASSIFY_SMOOTHING
 *   share(c) = exp(s * score(c)) / sum over all labels of the same                                  s = CLASSIFY_SHARPNESS
 *
 * It judges a label by what the texts of all *other* labels hold, which serves rare labels well: most symptoms have a few texts only. */
#ifndef DTKB_KB_CLASSIFY_H
#define DTKB_KB_CLASSIFY_H

#include "base/err.h"

struct kb;

#define CLASSIFY_SMOOTHING 0.3
#define CLASSIFY_SHARPNESS 4.0
#define CLASSIFY_LABELS_MAX 128

enum label_task { TASK_SYMPTOM, TASK_FIX };

struct guess {
    const char *label; /* owned by the KB */
    double share;      /* 0..1; all shares sum to 1 */
};
struct guesses {
    struct guess list[CLASSIFY_LABELS_MAX]; /* best first */
    size_t count;                           /* 0 where no word of the text is known */
};

dtkb_status kb_classify(struct kb *kb, const char *text, enum label_task task, struct guesses *out, struct err *err);

/* The share of a label, 0 where the guesses lack it. */
double guesses_share(const struct guesses *guesses, const char *label);

#endif
