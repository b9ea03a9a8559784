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

#include "kb/kb.h"

#define CLASSIFY_SMOOTHING 0.3
#define CLASSIFY_SHARPNESS 4.0

#endif
