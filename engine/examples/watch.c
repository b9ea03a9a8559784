/* Watching a job: its output is fed line by line while it runs, and judged again whenever the verdict may have changed.
 * usage: some-job 2>&1 | watch */
#include <stdio.h>
#include <string.h>

#include <dtkb/dtkb.h>

int main(void)
{
    char why[DTKB_ERROR_TEXT_MAX], line[65536];
    dtkb *engine;
    dtkb_diagnosis *diagnosis;
    dtkb_verdict last = DTKB_VERDICT_NO_FAULT;
    if (dtkb_open(&engine, NULL, why, sizeof why) != DTKB_OK)
        return fprintf(stderr, "%s\n", why), 3;
    if (dtkb_diagnosis_new(engine, NULL, &diagnosis) != DTKB_OK)
        return fprintf(stderr, "%s\n", dtkb_error(engine)), dtkb_close(engine), 3;
    for (unsigned long number = 1; fgets(line, sizeof line, stdin); number++) {
        dtkb_doc *report;
        fputs(line, stdout);
        dtkb_feed(diagnosis, "job", line, strlen(line));
        /* Judging costs milliseconds: now and then, and where a word asks for it. */
        if (number % 1000 && !strstr(line, "rror"))
            continue;
        if (dtkb_conclude(diagnosis, &report) != DTKB_OK)
            break;
        if (dtkb_doc_verdict(report) != last) {
            last = dtkb_doc_verdict(report);
            fprintf(stderr, "[line %lu] %s\n", number, dtkb_doc_json(report));
        }
        dtkb_doc_free(report);
    }
    dtkb_diagnosis_free(diagnosis);
    dtkb_close(engine);
    return last == DTKB_VERDICT_NO_FAULT ? 0 : 1;
}
