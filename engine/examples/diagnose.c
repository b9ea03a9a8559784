/* The shortest useful embedding: a log in, the best cause out.
 * usage: diagnose LOG */
#include <stdio.h>

#include <dtkb/dtkb.h>

static int write_text(void *context, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, context) != length;
}

int main(int argc, char **argv)
{
    char why[DTKB_ERROR_TEXT_MAX];
    dtkb *engine;
    dtkb_diagnosis *diagnosis;
    dtkb_doc *report;
    if (argc != 2)
        return fputs("usage: diagnose LOG\n", stderr), 2;
    if (dtkb_open(&engine, NULL, why, sizeof why) != DTKB_OK)
        return fprintf(stderr, "%s\n", why), 3;
    int status = 2;
    if (dtkb_diagnosis_new(engine, NULL, &diagnosis) == DTKB_OK) {
        if (dtkb_feed_path(diagnosis, argv[1]) == DTKB_OK && dtkb_conclude(diagnosis, &report) == DTKB_OK) {
            dtkb_doc_write(report, DTKB_FORMAT_TEXT, NULL, write_text, stdout);
            status = dtkb_doc_verdict(report) == DTKB_VERDICT_NO_FAULT ? 0 : 1;
            dtkb_doc_free(report);
        } else {
            fprintf(stderr, "%s\n", dtkb_error(engine));
        }
        dtkb_diagnosis_free(diagnosis);
    }
    dtkb_close(engine);
    return status;
}
