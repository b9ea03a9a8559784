/* A Model Context Protocol server on stdio: JSON-RPC 2.0, one message a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "mcp.h"

#define MESSAGE_MAX ((size_t)64 << 20)

/* Codes of JSON-RPC 2.0; RESOURCE_MISSING is the protocol's own. */
enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600, NO_METHOD = -32601, INVALID_PARAMS = -32602, RESOURCE_MISSING = -32002 };

static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

static void send(json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (text) {
        puts(text);
        fflush(stdout);
    }
    free(text);
    json_decref(message);
}

static void send_error(const json_t *id, int code, const char *text)
{
    send(json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id ? id : json_null(), "error", "code", code, "message", text));
}

static void send_result(const json_t *id, json_t *result)
{
    send(json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

static json_t *initialized(const json_t *params)
{
    const char *wanted = json_string_value(json_object_get(params, "protocolVersion")), *version = versions[0];
    for (size_t i = 0; wanted && i < sizeof versions / sizeof *versions; i++)
        if (!strcmp(wanted, versions[i]))
            version = versions[i];
    return json_pack("{s:s, s:{s:{}, s:{}}, s:{s:s, s:s}}", "protocolVersion", version, "capabilities", "tools", "resources", "serverInfo",
                     "name", "dtkb", "version", dtkb_version());
}

static json_t *text_content(struct mcp_answer *answer)
{
    const char *text = answer->doc ? dtkb_doc_json(answer->doc) : answer->error;
    json_t *content =
        json_pack("{s:[{s:s, s:s}], s:b}", "content", "type", "text", "text", text ? text : "out of memory", "isError", !answer->doc);
    dtkb_doc_free(answer->doc);
    return content;
}

static void answer_call(dtkb *engine, const json_t *id, const json_t *params)
{
    const char *name = json_string_value(json_object_get(params, "name"));
    struct mcp_answer answer;
    if (!name)
        send_error(id, INVALID_PARAMS, "tools/call: \"name\" is missing");
    else if (mcp_call(engine, name, json_object_get(params, "arguments"), &answer) < 0)
        send_error(id, INVALID_PARAMS, "no such tool; tools/list names them");
    else
        send_result(id, text_content(&answer));
}

static void answer_read(dtkb *engine, const json_t *id, const json_t *params)
{
    const char *uri = json_string_value(json_object_get(params, "uri"));
    struct mcp_answer answer;
    if (!uri) {
        send_error(id, INVALID_PARAMS, "resources/read: \"uri\" is missing");
    } else if (mcp_read(engine, uri, &answer) < 0) {
        send_error(id, RESOURCE_MISSING, "no such resource; resources/list names them");
    } else if (!answer.doc) {
        send_error(id, RESOURCE_MISSING, answer.error);
    } else {
        send_result(id, json_pack("{s:[{s:s, s:s, s:s}]}", "contents", "uri", uri, "mimeType", "application/json", "text",
                                  dtkb_doc_json(answer.doc)));
        dtkb_doc_free(answer.doc);
    }
}

static void dispatch(dtkb *engine, const json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    const json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
    if (!json_is_object(message) || !method || (id && !json_is_string(id) && !json_is_integer(id)))
        send_error(json_is_string(id) || json_is_integer(id) ? id : NULL, INVALID_REQUEST, "not a JSON-RPC 2.0 request");
    else if (!id)
        return; /* a notification wants no answer */
    else if (!strcmp(method, "initialize"))
        send_result(id, initialized(params));
    else if (!strcmp(method, "ping"))
        send_result(id, json_object());
    else if (!strcmp(method, "tools/list"))
        send_result(id, json_pack("{s:o}", "tools", mcp_tools()));
    else if (!strcmp(method, "tools/call"))
        answer_call(engine, id, params);
    else if (!strcmp(method, "resources/list"))
        send_result(id, json_pack("{s:o}", "resources", mcp_resources()));
    else if (!strcmp(method, "resources/read"))
        answer_read(engine, id, params);
    else
        send_error(id, NO_METHOD, "no such method");
}

/* Reads one line of at most MESSAGE_MAX bytes; a longer one is skipped and answered with an error. False at the end of input. */
static bool read_message(char **line, size_t *capacity, size_t *length)
{
    *length = 0;
    bool too_long = false;
    for (int c; (c = getchar_unlocked()) != EOF && c != '\n';) {
        if (*length + 1 >= *capacity) {
            size_t larger = *capacity ? *capacity * 2 : 65536;
            char *grown = *capacity < MESSAGE_MAX ? realloc(*line, larger) : NULL;
            if (!grown) {
                too_long = true;
                *length = 0;
                continue;
            }
            *line = grown;
            *capacity = larger;
        }
        if (!too_long)
            (*line)[(*length)++] = (char)c;
    }
    if (too_long)
        send_error(NULL, PARSE_ERROR, "the message is too long");
    return !feof(stdin) || *length;
}

static int run(const struct command *command, const struct options *options)
{
    int status = EXIT_CLEAN;
    char *line = NULL;
    size_t capacity = 0, length;
    dtkb *engine = open_engine(command, options, &status);
    if (!engine)
        return status;
    while (read_message(&line, &capacity, &length)) {
        json_error_t where;
        if (!length)
            continue;
        json_t *message = json_loadb(line, length, 0, &where);
        if (message)
            dispatch(engine, message);
        else
            send_error(NULL, PARSE_ERROR, where.text);
        json_decref(message);
    }
    free(line);
    dtkb_close(engine);
    return EXIT_CLEAN;
}

const struct command command_mcp = {
    .name = "mcp",
    .operands = "",
    .summary = "serve coding assistants and editors: the Model Context Protocol on stdin and stdout",
    .details = "Tools: diagnose, search, show, probe, explain. Resources: dtkb://taxonomy, dtkb://causes.",
    .example = "dtkb mcp   # as the command of a server in the client's settings",
    .options = OPTION(OPT_KB) | OPTION(OPT_PACK) | OPTION(OPT_HELP),
    .run = run,
};
