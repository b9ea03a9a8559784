/* Running probes: plugins found, one helper process per probe, facts collected. */
#ifndef DTKB_PROBE_PROBE_H
#define DTKB_PROBE_PROBE_H

#include <jansson.h>

#include "base/err.h"
#include "base/fact.h"

struct kb;
struct vocabulary;

enum probe_status {
    PROBE_OK,
    PROBE_FAULT,
    PROBE_SKIPPED,
    PROBE_UNAVAILABLE,
    PROBE_CRASHED,
    PROBE_TIMED_OUT,
    PROBE_STUCK,
    PROBE_BAD_OUTPUT
};
const char *probe_status_name(enum probe_status status); /* "ok", "fault", ..., as in the report */

struct probe_result {
    const char *name, *plugin, *path;
    enum probe_status status;
    const char *reason; /* one line, "" for none */
    double seconds;
    int signal;           /* of PROBE_CRASHED; 0: it ended by itself before it gave a result */
    const char *output;   /* what it printed, capped; "" for none */
    const char *evidence; /* text for the scanner (the evidence() service), "" for none */
    const char *evidence_source;
    const char *log; /* lines of the log() service, "" for none */
};
struct probe_results {
    struct probe_result *results;
    size_t count;
    struct arena arena;
};

struct probe_options {
    const char *plugin_path; /* directories joined by ':', searched first; NULL: DTKB_PLUGIN_PATH and the usual places */
    bool only_path;          /* search nowhere but there */
    const char *helper;      /* dtkb-probe-host; NULL: beside the library's install prefix */
    const char *proc_root, *sys_root, *dev_root; /* NULL: the machine's own */
    const char *const *env;                      /* the job's environment; NULL: this process's */
    const char *const *params;                   /* "probe.key=value" or "key=value", NULL-terminated; may be NULL */
    double timeout;                              /* seconds per probe, 0: the probe's own or 10 */
    double budget;                               /* seconds for all, 0: 60 */
    bool active;                                 /* may run ACTIVE probes that were not named */
    int (*cancelled)(void *context);
    void *context;
};

/* Runs the named probes (count 0: all that are passive) side by side and adds their facts to `facts`. An unknown name is DTKB_E_NOT_FOUND
 * with the names there are. A probe that fails is a result, not an error. */
dtkb_status probe_run(struct kb *kb, const char *const *names, size_t count, const struct probe_options *options, struct fact_set *facts,
                      struct probe_results *results, struct err *err);
/* The same with facts checked against another vocabulary than the knowledge base's (vocabulary.h). */
dtkb_status probe_run_checked(const struct vocabulary *vocabulary, const char *const *names, size_t count,
                              const struct probe_options *options, struct fact_set *facts, struct probe_results *results, struct err *err);
void probe_results_free(struct probe_results *results);

/* All plugins found, loadable or not: array of {name, version, path, kind, status, reason, probes: [{name, summary, caps, facts}]}. */
dtkb_status probe_plugins(const struct probe_options *options, json_t **out, struct err *err);

#endif
