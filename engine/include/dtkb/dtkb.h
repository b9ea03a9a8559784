/*
 * dtkb.h: the public interface of libdtkb, the issue-knowledge engine for distributed training.
 *
 * Handles are opaque. Any number of handles may be used in any number of threads; one handle by one thread at a time, except where a
 * function says otherwise. The library has no global state, prints nothing, installs no signal handler, never calls exit() and never forks
 * the caller's process: probes run in a helper program.
 *
 * Every function that can fail returns a dtkb_status. On failure output parameters are untouched, and dtkb_error() of the handle (or the
 * error text parameter, where there is no handle yet) names the thing, the place and the way out. Texts are UTF-8. Pointers returned by
 * accessors are borrowed: they live as long as the object they came from. Sizes are bytes, times seconds.
 *
 * Example
 *     dtkb *engine;
 *     char why[DTKB_ERROR_TEXT_MAX];
 *     if (dtkb_open(&engine, NULL, why, sizeof why) != DTKB_OK)
 *         return puts(why), 1;
 *     dtkb_diagnosis *diagnosis;
 *     dtkb_doc *report;
 *     if (dtkb_diagnosis_new(engine, NULL, &diagnosis) == DTKB_OK) {
 *         dtkb_feed(diagnosis, "rank0", text, strlen(text));
 *         if (dtkb_conclude(diagnosis, &report) == DTKB_OK) {
 *             puts(dtkb_doc_json(report));
 *             dtkb_doc_free(report);
 *         }
 *         dtkb_diagnosis_free(diagnosis);
 *     }
 *     dtkb_close(engine);
 */
#ifndef DTKB_H
#define DTKB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DTKB_VERSION_MAJOR 0
#define DTKB_VERSION_MINOR 1
#define DTKB_VERSION_PATCH 0
#define DTKB_VERSION "0.1.0"

#if defined(__GNUC__)
#define DTKB_API __attribute__((visibility("default")))
#else
#define DTKB_API
#endif

/* Size of a caller's error text buffer; longer texts are cut. */
#define DTKB_ERROR_TEXT_MAX 1024

/* Values are fixed for ever; a retired one is never used again. */
typedef enum dtkb_status {
    DTKB_OK = 0,
    DTKB_E_USAGE = 1, /* an argument or option makes no sense */
    DTKB_E_NOMEM = 2,
    DTKB_E_IO = 3,          /* a file could not be read or written */
    DTKB_E_NOT_FOUND = 4,   /* no such issue, cause, label, probe, file */
    DTKB_E_FORMAT = 5,      /* a file is not what it should be: the text names line and mistake */
    DTKB_E_KB = 6,          /* the knowledge base is missing, damaged or no knowledge base */
    DTKB_E_KB_NEWER = 7,    /* the knowledge base has a newer schema than this library knows */
    DTKB_E_UNSUPPORTED = 8, /* not possible in this build or format */
    DTKB_E_CANCELLED = 9,   /* dtkb_diagnosis_cancel() was called */
    DTKB_E_LIMIT = 10,      /* a limit on untrusted input was reached */
    DTKB_E_INTERNAL = 11
} dtkb_status;

typedef struct dtkb dtkb;                     /* an opened knowledge base */
typedef struct dtkb_diagnosis dtkb_diagnosis; /* a diagnosis in progress */
typedef struct dtkb_doc dtkb_doc;             /* a finished document: report, search result, card, statistics */

/* Version of the library at run time, "0.1.0". */
DTKB_API const char *dtkb_version(void);

/* Name of a status, "DTKB_E_IO"; "unknown" for others. */
DTKB_API const char *dtkb_status_name(dtkb_status status);

/* ---- opening ---- */

/* A message for the log of the embedding program: level 0 debug, 1 info, 2 warning. */
typedef void (*dtkb_log_fn)(void *context, int level, const char *text);

/* Option structs begin with their size: set it with the _INIT macro; members left zero mean the default. */
typedef struct dtkb_open_options {
    size_t struct_size;
    const char *kb;           /* file; NULL: DTKB_KB, else the installed one */
    const char *const *packs; /* knowledge packs laid over it, in order */
    size_t pack_count;
    int no_default_packs; /* non-zero: leave out DTKB_PACK_PATH and the user's and system's pack folders */
    dtkb_log_fn log;      /* may be NULL */
    void *log_context;
} dtkb_open_options;
#define DTKB_OPEN_OPTIONS_INIT                                  \
    {                                                           \
        sizeof(dtkb_open_options), NULL, NULL, 0, 0, NULL, NULL \
    }

/* Opens the knowledge base. `options` may be NULL. `error` (may be NULL) receives the text of a failure. */
DTKB_API dtkb_status dtkb_open(dtkb **out, const dtkb_open_options *options, char *error, size_t error_size);

/* Closes it; NULL is allowed. Diagnoses of the handle must be freed before; documents may outlive it. */
DTKB_API void dtkb_close(dtkb *engine);

/* Text of the last failure on this handle, "" if there was none. Valid until the next call on the handle. */
DTKB_API const char *dtkb_error(const dtkb *engine);

/* ---- diagnosing ---- */

typedef struct dtkb_diagnose_options {
    size_t struct_size;
    const char *probes;            /* "none" (default in the library), "auto": those the candidates need, or names joined by commas */
    const char *plugin_path;       /* directories searched first for plugins, joined by ':' */
    const char *const *parameters; /* probe parameters "key=value" or "probe.key=value" */
    size_t parameter_count;
    double probe_timeout;                                                       /* seconds per probe; 0: the probe's own, or 10 */
    double probe_budget;                                                        /* seconds for all probes; 0: 60 */
    int try_fixes;                                                              /* non-zero: run the causes' trials */
    unsigned threads;                                                           /* for scanning large input; 0: as many as pay */
    size_t max_causes;                                                          /* in the report; 0: 5 */
    size_t max_similar;                                                         /* likewise */
    int explain_scores;                                                         /* non-zero: the report carries every term of the scores */
    void (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total); /* total 0: unknown; called from the calling thread */
    void *progress_context;
} dtkb_diagnose_options;
#define DTKB_DIAGNOSE_OPTIONS_INIT                                                          \
    {                                                                                       \
        sizeof(dtkb_diagnose_options), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL \
    }

/* Begins a diagnosis. `options` may be NULL; it and what it points to are copied. */
DTKB_API dtkb_status dtkb_diagnosis_new(dtkb *engine, const dtkb_diagnose_options *options, dtkb_diagnosis **out);

/* Feeds bytes of a log as they come; lines may be split anywhere. `source` tells streams apart (one per rank, say); NULL: one unnamed
 * stream. A tool's report (ncclras, dcgmi, nvidia-smi) or a dump in JSON is known as what it is if it is whole when concluded from. */
DTKB_API dtkb_status dtkb_feed(dtkb_diagnosis *diagnosis, const char *source, const void *bytes, size_t length);

/* Feeds a file (plain, compressed or an archive), a directory of logs and dumps, or "-" for standard input. */
DTKB_API dtkb_status dtkb_feed_path(dtkb_diagnosis *diagnosis, const char *path);

/* Feeds all that a descriptor yields until its end; the descriptor stays the caller's. */
DTKB_API dtkb_status dtkb_feed_fd(dtkb_diagnosis *diagnosis, const char *source, int fd);

/* Feeds a bundle made by dtkb_collect() instead of logs and probes. */
DTKB_API dtkb_status dtkb_feed_bundle(dtkb_diagnosis *diagnosis, const char *path);

/* Concludes from what was fed so far (runs probes when the options ask for them). May be called again after more was fed. */
DTKB_API dtkb_status dtkb_conclude(dtkb_diagnosis *diagnosis, dtkb_doc **out);

/* Asks a feed or conclude that runs in another thread to return DTKB_E_CANCELLED soon. May be called from any thread. */
DTKB_API void dtkb_diagnosis_cancel(dtkb_diagnosis *diagnosis);

/* Ends the diagnosis; NULL is allowed. */
DTKB_API void dtkb_diagnosis_free(dtkb_diagnosis *diagnosis);

/* Writes a bundle of the fed log's evidence, facts and versions, secrets removed, to `path`; dtkb_feed_bundle() answers identically from
 * it. */
DTKB_API dtkb_status dtkb_collect(dtkb_diagnosis *diagnosis, const char *path);

/* ---- asking the knowledge base ---- */

typedef struct dtkb_query {
    size_t struct_size;
    const char *text;      /* words, "phrases", -without, field:word; any bytes are allowed */
    const char *framework; /* filters, NULL: any; a value that matches nothing is DTKB_E_NOT_FOUND */
    const char *stage;
    const char *symptom;
    const char *fix;
    const char *kind;   /* fault or how-to */
    const char *source; /* github or stackoverflow */
    size_t limit;       /* 0: 10 */
} dtkb_query;
#define DTKB_QUERY_INIT                                                 \
    {                                                                   \
        sizeof(dtkb_query), NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 \
    }

DTKB_API dtkb_status dtkb_search(dtkb *engine, const dtkb_query *query, dtkb_doc **out);
DTKB_API dtkb_status dtkb_show(dtkb *engine, const char *issue_id, dtkb_doc **out);    /* one issue, by id or URL */
DTKB_API dtkb_status dtkb_explain(dtkb *engine, const char *cause_id, dtkb_doc **out); /* one diagnosis card */
DTKB_API dtkb_status dtkb_causes(dtkb *engine, dtkb_doc **out);                        /* id, title, symptom and fix of every card */
DTKB_API dtkb_status dtkb_stats(dtkb *engine, dtkb_doc **out);                         /* the study's tables */
DTKB_API dtkb_status dtkb_taxonomy(dtkb *engine, dtkb_doc **out);
DTKB_API dtkb_status dtkb_kb_info(dtkb *engine, dtkb_doc **out);

/* ---- the live machine ---- */

/* Runs probes (names joined by commas; NULL or "all": every passive one) and reports facts and verdict without a log. Options as for a
 * diagnosis. */
DTKB_API dtkb_status dtkb_probe(dtkb *engine, const char *names, const dtkb_diagnose_options *options, dtkb_doc **out);

/* Plugins found, loadable or not, with path and reason. `plugin_path` may be NULL. */
DTKB_API dtkb_status dtkb_plugins(dtkb *engine, const char *plugin_path, dtkb_doc **out);

/* The same for one, by its name or the name of one of its probes; DTKB_E_NOT_FOUND names those there are. */
DTKB_API dtkb_status dtkb_plugin_info(dtkb *engine, const char *name, const char *plugin_path, dtkb_doc **out);

/* Runs one plugin file against the whole contract; the document lists every clause with its result. */
DTKB_API dtkb_status dtkb_plugin_check(dtkb *engine, const char *file, dtkb_doc **out);

/* ---- making knowledge (no handle; `error` as in dtkb_open) ---- */

/* Compiles a knowledge folder into a knowledge base file, which is replaced only when all went well. */
DTKB_API dtkb_status dtkb_kb_build(const char *folder, const char *file, char *error, size_t error_size);

/* Checks packs or knowledge folders. DTKB_E_FORMAT when there are errors: `out` is set all the same and lists them with file and line. */
DTKB_API dtkb_status dtkb_kb_check(const char *const *paths, size_t count, dtkb_doc **out, char *error, size_t error_size);

/* The same, and which signatures fire, or are looked at too often, on logs of jobs that ran well: files, or one directory of *.log. */
DTKB_API dtkb_status dtkb_kb_check_healthy(const char *const *paths, size_t count, const char *const *healthy, size_t healthy_count,
                                           dtkb_doc **out, char *error, size_t error_size);

/* Reads issues into a layer of the user's own, a database that dtkb_open() takes as a pack; replaced only when all went well. `dump` is a
 * Stack Exchange Posts.xml (fills the study's rows that nobody has read) or issues as GitHub's REST interface gives them (fills such rows,
 * and adds all others with a proposed symptom and fix). `progress` may be NULL; total 0: unknown. */
DTKB_API dtkb_status dtkb_kb_import(dtkb *engine, const char *dump, const char *layer,
                                    void (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total), void *progress_context,
                                    dtkb_doc **out);

/* Reads the study's sheet and notes into reviewed text under `folder`. `taxonomy`: the taxonomy.xml whose spellings normalise the labels.
 */
DTKB_API dtkb_status dtkb_kb_import_study(const char *xlsx, const char *notes, const char *taxonomy, const char *folder, char *error,
                                          size_t error_size);

/* Writes a small plugin project (probe, knowledge pack, test) to `folder`, which must be new or empty; NULL: dtkb-probe-NAME in the current
 * one. `language`: c, sh or python; NULL: c. */
DTKB_API dtkb_status dtkb_plugin_new(const char *name, const char *language, const char *folder, char *error, size_t error_size);

/* ---- documents ---- */

typedef enum dtkb_format {
    DTKB_FORMAT_TEXT = 0,
    DTKB_FORMAT_JSON = 1,
    DTKB_FORMAT_MARKDOWN = 2,
    DTKB_FORMAT_SARIF = 3,
    DTKB_FORMAT_JUNIT = 4,
    DTKB_FORMAT_HTML = 5,
    DTKB_FORMAT_GITHUB = 6
} dtkb_format;

typedef enum dtkb_verdict {
    DTKB_VERDICT_NONE = 0, /* the document has no verdict (a search, say) */
    DTKB_VERDICT_NO_FAULT = 1,
    DTKB_VERDICT_FAULT = 2,
    DTKB_VERDICT_UNKNOWN = 3 /* nothing convincing: neither fault nor health was seen */
} dtkb_verdict;

/* Takes bytes of a rendered document; non-zero stops the writing, which then returns DTKB_E_CANCELLED. */
typedef int (*dtkb_write_fn)(void *context, const void *bytes, size_t length);

typedef struct dtkb_write_options {
    size_t struct_size;
    unsigned width; /* columns of text output; 0: 80 */
    int color;      /* non-zero: ANSI colours in text output */
} dtkb_write_options;
#define DTKB_WRITE_OPTIONS_INIT          \
    {                                    \
        sizeof(dtkb_write_options), 0, 0 \
    }

/* Renders a document. `options` may be NULL. DTKB_E_UNSUPPORTED when this kind of document has no such format. */
DTKB_API dtkb_status dtkb_doc_write(const dtkb_doc *doc, dtkb_format format, const dtkb_write_options *options, dtkb_write_fn write,
                                    void *context);

/* The document as JSON text (UTF-8, ends with a newline); NULL when out of memory. Borrowed from the document. */
DTKB_API const char *dtkb_doc_json(dtkb_doc *doc);

DTKB_API dtkb_verdict dtkb_doc_verdict(const dtkb_doc *doc);

/* A document from JSON text that dtkb wrote before; for rendering it in another format and for dtkb_merge(). */
DTKB_API dtkb_status dtkb_doc_parse(const char *json, size_t length, dtkb_doc **out, char *error, size_t error_size);

/* Joins reports of several ranks or nodes into one. */
DTKB_API dtkb_status dtkb_merge(const dtkb_doc *const *reports, size_t count, dtkb_doc **out, char *error, size_t error_size);

/* NULL is allowed. */
DTKB_API void dtkb_doc_free(dtkb_doc *doc);

#ifdef __cplusplus
}
#endif

#endif
