/* Carrying a diagnosis elsewhere: collect writes a bundle, feed_bundle reads it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/bundle.h"
#include "api/diagnosis.h"

#define BUNDLE_MAX ((size_t)256 << 20)

/* Writes to a new file beside `path` and renames: a bundle is whole or not there. */
static dtkb_status write_file(const char *path, const json_t *tree, struct err *err)
{
    char *temporary;
    if (asprintf(&temporary, "%s.new", path) < 0)
        return err_nomem(err);
    FILE *file = fopen(temporary, "wxe");
    bool ok = file && json_dumpf(tree, file, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0 && fputc('\n', file) != EOF;
    int why = errno;
    if (file && fclose(file) != 0)
        ok = false;
    if (ok && rename(temporary, path) != 0) {
        why = errno;
        ok = false;
    }
    if (!ok && file)
        remove(temporary);
    free(temporary);
    return ok ? DTKB_OK : err_set(err, DTKB_E_IO, "%s: the bundle could not be written: %s", path, strerror(why));
}

dtkb_status dtkb_collect(dtkb_diagnosis *diagnosis, const char *path)
{
    struct err *err = api_begin(diagnosis->engine);
    struct findings findings = {0};
    json_t *tree = NULL;
    dtkb_status status = diagnosis_findings(diagnosis, &findings, err);
    if (status != DTKB_OK)
        return status;
    status = bundle_write(diagnosis->engine->kb, &findings, &diagnosis->facts, &diagnosis->probes, &tree, err);
    if (status == DTKB_OK)
        status = write_file(path, tree, err);
    json_decref(tree);
    diagnosis_release(diagnosis, &findings);
    return status;
}

/* Reads a whole file of bounded size. */
static char *read_file(const char *path, size_t *length, struct err *err)
{
    struct buf buf = {.maximum = BUNDLE_MAX};
    char chunk[65536];
    size_t got;
    FILE *file = fopen(path, "re");
    if (!file) {
        err_set(err, DTKB_E_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        buf_add(&buf, chunk, got);
    bool bad = ferror(file) != 0;
    (void)fclose(file);
    if (bad || buf.failed || !buf.data) {
        err_set(err, DTKB_E_FORMAT, "%s: empty, unreadable or larger than any bundle", path);
        buf_free(&buf);
        return NULL;
    }
    *length = buf.length;
    return buf.data;
}

dtkb_status dtkb_feed_bundle(dtkb_diagnosis *diagnosis, const char *path)
{
    struct err *err = api_begin(diagnosis->engine);
    size_t length = 0;
    if (diagnosis->fed)
        return err_set(err, DTKB_E_USAGE, "%s: a bundle stands for the whole input: feed no log beside it", path);
    char *text = read_file(path, &length, err);
    if (!text)
        return err->code;
    json_error_t where;
    json_t *tree = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    free(text);
    if (!tree)
        return err_set(err, DTKB_E_FORMAT, "%s:%d: not a bundle: %s", path, where.line, where.text);
    dtkb_status status = bundle_read(diagnosis->engine->kb, tree, &diagnosis->bundle, &diagnosis->facts, &diagnosis->probes, err);
    json_decref(tree);
    diagnosis->fed = true;
    diagnosis->bundled = true;
    diagnosis->probed = true; /* this machine is not the one the bundle is about */
    return status;
}
