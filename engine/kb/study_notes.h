/* Notes on threads that were read: one JSON object a line, keyed by `url`. */
#ifndef DTKB_KB_STUDY_NOTES_H
#define DTKB_KB_STUDY_NOTES_H

#include "kb/kb.h"

struct study_note {
    const char *url;
    struct issue texts; /* only what a note tells */
};
struct study_notes {
    struct study_note *notes;
    size_t count;
    struct arena arena;
};

dtkb_status study_notes_read(const char *file, struct study_notes *out, struct err *err);
void study_notes_free(struct study_notes *notes);

/* Fills in the texts of the thread's note; an issue without a note stays as it is. Pointers are the notes' own. */
void study_notes_apply(const struct study_notes *notes, struct issue *issue);

#endif
