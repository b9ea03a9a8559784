#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "eval.h"

static bool listed(const json_t *list, const char *id)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(list, i, entry) if (id && !strcmp(json_string_value(entry), id)) return true;
    return false;
}

static const char *answer(const json_t *report, const char *list, size_t index, const char *key)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(report, list), index), key));
}

static bool right_within(const json_t *report, const char *list, const char *key, const json_t *wanted, size_t first)
{
    for (size_t i = 0; i < first; i++)
        if (listed(wanted, answer(report, list, i, key)))
            return true;
    return false;
}

static void count_healthy(const struct test_case *test, const json_t *report, struct figures *out, FILE *log)
{
    const json_t *cause = json_array_get(json_object_get(report, "causes"), 0);
    double confidence = json_number_value(json_object_get(cause, "confidence"));
    bool alarm = !strcmp(json_string_value(json_object_get(report, "verdict")), "fault");
    out->healthy++;
    out->false_alarms += alarm;
    const json_t *symptom = json_array_get(json_object_get(report, "symptoms"), 0);
    bool confident = confidence >= 0.4 || json_number_value(json_object_get(symptom, "confidence")) > 0.4;
    out->confident_noise += confident;
    if (log && (alarm || confident))
        fprintf(log, "FALSE ALARM %s: %s %.2f\n", test->name, cause ? json_string_value(json_object_get(cause, "id")) : "no cause",
                confidence);
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static void print_wrong(const struct test_case *test, const json_t *report, const char *what, FILE *log)
{
    char *symptoms = json_dumps(test->symptoms, JSON_COMPACT), *fixes = json_dumps(test->fixes, JSON_COMPACT);
    fprintf(log, "%-12s %s: wanted %s %s\n", what, test->name, symptoms, fixes);
    for (size_t i = 0; i < 3; i++) {
        const json_t *cause = json_array_get(json_object_get(report, "causes"), i);
        fprintf(log, "    %-50s %-32s %s %.2f\n", or_dash(answer(report, "symptoms", i, "id")),
                or_dash(answer(report, "fixes", i, "pattern")), cause ? json_string_value(json_object_get(cause, "id")) : "-",
                json_number_value(json_object_get(cause, "confidence")));
    }
    free(symptoms);
    free(fixes);
}

static void count_fault(const struct test_case *test, const json_t *report, struct figures *out, FILE *log)
{
    bool first = right_within(report, "symptoms", "id", test->symptoms, 1),
         three = right_within(report, "symptoms", "id", test->symptoms, 3);
    bool first_fix = right_within(report, "fixes", "pattern", test->fixes, 1),
         fix = right_within(report, "fixes", "pattern", test->fixes, 3);
    const json_t *top = json_array_get(json_object_get(report, "symptoms"), 0), *rank = json_object_get(report, "first_failing_rank");
    out->cases++;
    out->symptom1 += first;
    out->symptom3 += three;
    out->fix1 += first_fix;
    out->fix3 += fix;
    if (json_is_integer(test->rank)) {
        bool right = json_is_integer(rank) && json_integer_value(rank) == json_integer_value(test->rank);
        out->rank_asked++;
        out->rank_right += right;
        if (log && !right)
            fprintf(log, "RANK         %s: wanted %d\n", test->name, (int)json_integer_value(test->rank));
    }
    if (!top || !strcmp(json_string_value(json_object_get(report, "verdict")), "unknown"))
        out->abstained++;
    if (top) {
        double confidence = json_number_value(json_object_get(top, "confidence"));
        size_t bin = confidence >= 1.0 ? 9 : (size_t)(confidence * 10);
        out->bins[bin].count++;
        out->bins[bin].right += first;
        out->bins[bin].confidence += confidence;
    }
    if (log && (!first || !three || !fix))
        print_wrong(test, report, !three ? "SYMPTOM@3" : !first ? "SYMPTOM@1" : "FIX@3", log);
}

bool eval_case(dtkb *engine, const struct test_case *test, struct figures *out, FILE *log)
{
    dtkb_diagnosis *diagnosis;
    dtkb_doc *doc;
    if (dtkb_diagnosis_new(engine, NULL, &diagnosis) != DTKB_OK)
        return fprintf(stderr, "%s: %s\n", test->name, dtkb_error(engine)), false;
    dtkb_status status = test->log ? dtkb_feed(diagnosis, test->name, test->log, strlen(test->log)) : dtkb_feed_path(diagnosis, test->path);
    if (status == DTKB_OK)
        status = dtkb_conclude(diagnosis, &doc);
    if (status == DTKB_OK) {
        json_t *report = json_loads(dtkb_doc_json(doc), 0, NULL);
        if (json_array_size(test->symptoms))
            count_fault(test, report, out, log);
        else
            count_healthy(test, report, out, log);
        json_decref(report);
        dtkb_doc_free(doc);
    } else if (status == DTKB_E_FORMAT && !json_array_size(test->symptoms)) {
        out->healthy++; /* refused as no text at all: no false alarm */
        status = DTKB_OK;
    } else {
        fprintf(stderr, "%s: %s\n", test->name, dtkb_error(engine));
    }
    dtkb_diagnosis_free(diagnosis);
    return status == DTKB_OK;
}

static bool eval_jsonl(dtkb *engine, const char *path, struct figures *out, FILE *log)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0, number = 0;
    bool ok = file != NULL;
    if (!file)
        perror(path);
    while (ok && getline(&line, &capacity, file) > 0) {
        json_error_t where;
        json_t *object = json_loads(line, 0, &where);
        number++;
        if (!object) {
            fprintf(stderr, "%s:%zu: %s\n", path, number, where.text);
            ok = false;
            break;
        }
        struct test_case test = {.name = json_string_value(json_object_get(object, "id")),
                                 .log = json_string_value(json_object_get(object, "log")),
                                 .symptoms = json_object_get(object, "symptoms"),
                                 .fixes = json_object_get(object, "fixes"),
                                 .rank = json_object_get(object, "first_failing_rank")};
        ok = test.name && test.log ? eval_case(engine, &test, out, log)
                                   : (fprintf(stderr, "%s:%zu: no id or no log\n", path, number), false);
        json_decref(object);
    }
    free(line);
    if (file)
        fclose(file);
    return ok;
}

static bool eval_index(dtkb *engine, const char *path, struct figures *out, FILE *log)
{
    json_error_t where;
    json_t *index = json_load_file(path, 0, &where);
    size_t i;
    const json_t *entry;
    bool ok = index != NULL;
    if (!index)
        fprintf(stderr, "%s:%d: %s\n", path, where.line, where.text);
    json_array_foreach(index, i, entry)
    {
        char *file;
        const char *name = json_string_value(json_object_get(entry, "file")), *slash = strrchr(path, '/');
        if (!name || asprintf(&file, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, name) < 0)
            continue;
        struct test_case test = {.name = name,
                                 .path = file,
                                 .symptoms = json_object_get(entry, "symptoms"),
                                 .fixes = json_object_get(entry, "fixes"),
                                 .rank = json_object_get(entry, "first_failing_rank")};
        ok = eval_case(engine, &test, out, log) && ok;
        free(file);
    }
    json_decref(index);
    return ok;
}

static int is_log(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && !(dot && !strcmp(dot, ".md"));
}

static bool eval_folder(dtkb *engine, const char *path, struct figures *out, FILE *log)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_log, alphasort);
    bool ok = count >= 0;
    for (int i = 0; i < count; i++) {
        char *file;
        if (asprintf(&file, "%s/%s", path, entries[i]->d_name) >= 0) {
            struct test_case test = {.name = entries[i]->d_name, .path = file};
            ok = eval_case(engine, &test, out, log) && ok;
            free(file);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    else
        perror(path);
    return ok;
}

bool eval_file(dtkb *engine, const char *path, struct figures *out, FILE *log)
{
    struct stat info;
    const char *dot = strrchr(path, '.');
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return eval_folder(engine, path, out, log);
    if (dot && !strcmp(dot, ".xml"))
        return eval_pack(engine, path, out, log);
    return dot && !strcmp(dot, ".json") ? eval_index(engine, path, out, log) : eval_jsonl(engine, path, out, log);
}
