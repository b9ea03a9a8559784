#include "diagnose/similar.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/version.h"

/* Enough words for FTS5 to tell issues apart; more only slows the search. */
#define QUERY_MAX 2000 /* bytes of each kind of lines */
#define HITS_MAX 24

/* An issue that shares less with the log than this share of its telling words is a guess in the dark and not shown. Of 2,440 issues found for
 * 491 reports that the knowledge base did not hold, those below had one of the report's fixes in 0.32 and its symptom in 0.56, those from 0.25
 * to 0.5 in 0.47 and 0.79, those above in 0.60 and 0.91. */
#define ALIKE 0.25

static void add_kind(const struct findings *findings, enum evidence_kind kind, struct buf *out)
{
    size_t limit = kind == EV_TEXT ? 2 * QUERY_MAX : QUERY_MAX;
    for (size_t i = 0; i < findings->evidence_count && out->length < limit; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        if (evidence->kind != kind || evidence->role == ROLE_TEARDOWN || !evidence->text)
            continue;
        size_t length = strlen(evidence->text);
        buf_add(out, evidence->text, length < 400 ? length : 400);
        buf_addc(out, '\n');
    }
}

/* The log's own words of what went wrong: exceptions first, then lines that signatures matched, then other error lines. */
static void error_text(const struct findings *findings, struct buf *out)
{
    add_kind(findings, EV_EXCEPTION, out);
    add_kind(findings, EV_SIGNATURE, out);
    add_kind(findings, EV_ERROR_LINE, out);
}

dtkb_status similar_find(struct kb *kb, const struct findings *findings, const char *symptom, struct similar *out, struct err *err)
{
    struct buf text = {.maximum = 2 * QUERY_MAX + 1024};
    error_text(findings, &text);
    if (!text.length) /* a hang, a slow run: searched for by how the log begins */
        add_kind(findings, EV_TEXT, &text);
    dtkb_status status = DTKB_OK;
    if (text.length) {
        struct kb_query query = {.text = buf_text(&text), .failures = true, .symptom = symptom, .limit = HITS_MAX, .any_word = true};
        status = kb_search(kb, &query, &out->hits, err);
        if (status == DTKB_E_NOT_FOUND) { /* no issue of that symptom: any will do */
            query.symptom = NULL;
            status = kb_search(kb, &query, &out->hits, err);
        }
    }
    buf_free(&text);
    return status;
}

void similar_free(struct similar *similar)
{
    kb_hits_free(&similar->hits);
    *similar = (struct similar){0};
}

/* The scanner's name of a component that the study's notes call otherwise. */
static const char *scanner_name(const char *component)
{
    static const char *const names[][2] = {{"pytorch", "torch"}, {"mpi", "openmpi"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(component, names[i][0]))
            return names[i][1];
    return component;
}

static const char *detected(const struct findings *findings, const char *component)
{
    for (size_t i = 0; findings && i < findings->version_count; i++)
        if (!strcmp(findings->versions[i].component, scanner_name(component)))
            return findings->versions[i].version;
    return NULL;
}

/* "about" against "detected" for each version the issue names; an issue that is older than what runs here is marked so. Python alone makes
 * none old: a log names it by its paths, and its troubles are rarely the frameworks'. */
static json_t *versions_json(const struct issue *issue, const struct findings *findings, bool *old)
{
    json_t *list = json_array();
    for (size_t i = 0; i < issue->version_count; i++) {
        const char *component = issue->versions[i].component, *about = issue->versions[i].version;
        const char *here = detected(findings, component);
        json_t *entry = json_pack("{s:s, s:s, s:s?}", "component", component, "about", about, "detected", here);
        if (here && strcmp(component, "python") != 0 && version_compare(about, here) < 0)
            *old = true;
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *hit_json(const struct kb_hit *hit, const struct issue *issue, const struct findings *findings)
{
    bool old = false;
    json_t *versions = versions_json(issue, findings, &old), *fixes = json_array();
    for (size_t i = 0; i < issue->fix_count; i++)
        json_array_append_new(fixes, json_string(issue->fixes[i]));
    json_t *hit_tree =
        json_pack("{s:s, s:s, s:s?, s:s, s:s, s:s?, s:o, s:s?, s:f, s:f, s:o, s:b}", "id", issue->id, "url", issue->url, "title",
                  issue->title, "framework", issue->framework, "evidence", issue->evidence, "symptom", issue->symptom, "fixes", fixes,
                  "fix", issue->fix, "score", hit->score, "likeness", hit->likeness, "versions", versions, "older_than_here", old);
    if (hit_tree && issue->year)
        json_object_set_new(hit_tree, "year", json_integer(issue->year));
    return hit_tree;
}

/* A thread with several rows in the study is shown once. */
static bool shown(const json_t *list, const char *url)
{
    size_t i;
    const json_t *hit;
    json_array_foreach(list, i, hit) if (!strcmp(json_string_value(json_object_get(hit, "url")), url)) return true;
    return false;
}

dtkb_status similar_json(struct kb *kb, const struct similar *similar, const struct findings *findings, size_t limit, json_t **out,
                         struct err *err)
{
    json_t *list = json_array();
    struct arena arena = {0};
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; status == DTKB_OK && i < similar->hits.count && json_array_size(list) < limit; i++) {
        if (similar->hits.hits[i].likeness < ALIKE)
            break;
        struct issue issue;
        status = kb_issue_by_id(kb, similar->hits.hits[i].issue, &arena, &issue, err);
        if (status == DTKB_OK && !shown(list, issue.url))
            json_array_append_new(list, hit_json(&similar->hits.hits[i], &issue, findings));
    }
    arena_free(&arena);
    if (status != DTKB_OK) {
        json_decref(list);
        return status;
    }
    *out = list;
    return DTKB_OK;
}
