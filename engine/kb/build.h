/* Making knowledge bases: compile kb/ into kb.db, check packs, import the study. */
#ifndef DTKB_KB_BUILD_H
#define DTKB_KB_BUILD_H

#include <jansson.h>

#include "base/err.h"

/* Compiles a knowledge folder (taxonomy.xml, facts.xml, study/ and causes/) into FILE, replaced only when all went well. Same input, same
 * bytes. */
dtkb_status kb_build(const char *folder, const char *file, struct err *err);

/* Checks packs (files or a knowledge folder): grammar, ids, labels against the taxonomy, facts against the vocabulary, samples, near
 * misses, signatures that fire on other causes' samples or on `healthy` logs (files, or one directory of *.log; may be none), expressions that are not linear-time.
 * `out`: array of {severity: error|warning, file, line, cause, signature, message}; the status is DTKB_E_FORMAT when there was an error. */
dtkb_status kb_check(const char *const *paths, size_t count, const char *const *healthy, size_t healthy_count, json_t **out,
                     struct err *err);

/* The study's sheet and our notes into reviewed text: FOLDER/github-horovod.xml and so on. */
dtkb_status kb_import_study(const char *xlsx, const char *notes, const char *taxonomy, const char *folder, struct err *err);

#endif
