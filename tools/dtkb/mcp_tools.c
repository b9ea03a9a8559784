/* What the server offers: tools that ask the engine, resources to read. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "mcp.h"

static dtkb_status conclude(dtkb *engine, const dtkb_diagnose_options *options, const json_t *arguments, dtkb_doc **doc)
{
    dtkb_diagnosis *diagnosis;
    const char *log = json_string_value(json_object_get(arguments, "log")), *path = json_string_value(json_object_get(arguments, "path"));
    dtkb_status status = dtkb_diagnosis_new(engine, options, &diagnosis);
    if (status != DTKB_OK)
        return status;
    if (log)
        status = dtkb_feed(diagnosis, "log", log, json_string_length(json_object_get(arguments, "log")));
    if (status == DTKB_OK && path)
        status = dtkb_feed_path(diagnosis, path);
    if (status == DTKB_OK)
        status = dtkb_conclude(diagnosis, doc);
    dtkb_diagnosis_free(diagnosis);
    return status;
}

static dtkb_status call_diagnose(dtkb *engine, const json_t *arguments, dtkb_doc **doc)
{
    dtkb_diagnose_options options = DTKB_DIAGNOSE_OPTIONS_INIT;
    options.probes = json_is_true(json_object_get(arguments, "probe")) ? "auto" : "none";
    return conclude(engine, &options, arguments, doc);
}

static dtkb_status call_probe(dtkb *engine, const json_t *arguments, dtkb_doc **doc)
{
    return dtkb_probe(engine, json_string_value(json_object_get(arguments, "names")), NULL, doc);
}

static dtkb_status call_search(dtkb *engine, const json_t *arguments, dtkb_doc **doc)
{
    dtkb_query query = DTKB_QUERY_INIT;
    query.text = json_string_value(json_object_get(arguments, "query"));
    query.framework = json_string_value(json_object_get(arguments, "framework"));
    query.symptom = json_string_value(json_object_get(arguments, "symptom"));
    json_int_t limit = json_integer_value(json_object_get(arguments, "limit"));
    query.limit = limit > 0 && limit <= 100 ? (size_t)limit : 10;
    return dtkb_search(engine, &query, doc);
}

static dtkb_status call_show(dtkb *engine, const json_t *arguments, dtkb_doc **doc)
{
    return dtkb_show(engine, json_string_value(json_object_get(arguments, "id")), doc);
}

static dtkb_status call_explain(dtkb *engine, const json_t *arguments, dtkb_doc **doc)
{
    return dtkb_explain(engine, json_string_value(json_object_get(arguments, "cause")), doc);
}

/* `required` names the argument that must be there as a string; for diagnose one of two, checked below. */
static const struct {
    const char *name, *description, *schema, *required;
    dtkb_status (*call)(dtkb *engine, const json_t *arguments, dtkb_doc **doc);
} tools[] = {
    {"diagnose",
     "Say what went wrong in the log of a distributed training job: verdict, causes with confidence, evidence lines, remedies to paste.",
     "{\"type\":\"object\",\"properties\":{\"log\":{\"type\":\"string\",\"description\":\"the log's "
     "text\"},\"path\":{\"type\":\"string\",\"description\":"
     "\"a log file or folder on this machine\"},\"probe\":{\"type\":\"boolean\",\"description\":\"also look at this machine\"}}}",
     NULL, call_diagnose},
    {"search", "Search 1,131 classified issues of distributed training by words or a pasted error line.",
     "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\"},\"framework\":{\"type\":\"string\"},\"symptom\":{\"type\":"
     "\"string\"},\"limit\":"
     "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}},\"required\":[\"query\"]}",
     "query", call_search},
    {"show", "Show one issue by id or URL.", "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"}},\"required\":[\"id\"]}",
     "id", call_show},
    {"probe", "Look at this machine: limits, network, InfiniBand, GPUs, kernel log, Python environment.",
     "{\"type\":\"object\",\"properties\":{\"names\":{\"type\":\"string\",\"description\":\"probes joined by commas; none: every passive "
     "one\"}}}",
     NULL, call_probe},
    {"explain", "Explain one cause: what happens, how it shows, what to do.",
     "{\"type\":\"object\",\"properties\":{\"cause\":{\"type\":\"string\"}},\"required\":[\"cause\"]}", "cause", call_explain},
};
#define TOOL_COUNT (sizeof tools / sizeof *tools)

json_t *mcp_tools(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < TOOL_COUNT; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", tools[i].name, "description", tools[i].description, "inputSchema",
                                              json_loads(tools[i].schema, 0, NULL)));
    return list;
}

int mcp_call(dtkb *engine, const char *name, const json_t *arguments, struct mcp_answer *answer)
{
    *answer = (struct mcp_answer){0};
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (strcmp(tools[i].name, name) != 0)
            continue;
        bool diagnose = tools[i].call == call_diagnose;
        bool given = json_is_string(json_object_get(arguments, "log")) || json_is_string(json_object_get(arguments, "path"));
        if (tools[i].required && !json_is_string(json_object_get(arguments, tools[i].required)))
            (void)snprintf(answer->error, sizeof answer->error, "%s: the argument \"%s\" is missing", name, tools[i].required);
        else if (diagnose && !given)
            (void)snprintf(answer->error, sizeof answer->error, "diagnose: give \"log\" or \"path\"");
        else if (tools[i].call(engine, arguments, &answer->doc) != DTKB_OK)
            (void)snprintf(answer->error, sizeof answer->error, "%s", dtkb_error(engine));
        return 0;
    }
    return -1;
}

json_t *mcp_resources(void)
{
    return json_pack("[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, s:s}]", "uri", "dtkb://taxonomy", "name", "taxonomy", "description",
                     "stages, symptoms, fix patterns and topics with their definitions", "mimeType", "application/json", "uri",
                     "dtkb://causes", "name", "causes", "description", "every cause the knowledge base knows", "mimeType",
                     "application/json");
}

int mcp_read(dtkb *engine, const char *uri, struct mcp_answer *answer)
{
    *answer = (struct mcp_answer){0};
    dtkb_status status;
    if (!strcmp(uri, "dtkb://taxonomy"))
        status = dtkb_taxonomy(engine, &answer->doc);
    else if (!strcmp(uri, "dtkb://causes"))
        status = dtkb_causes(engine, &answer->doc);
    else
        return -1;
    if (status != DTKB_OK)
        (void)snprintf(answer->error, sizeof answer->error, "%s", dtkb_error(engine));
    return 0;
}
