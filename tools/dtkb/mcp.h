/* The Model Context Protocol server: its pieces. */
#ifndef DTKB_CLI_MCP_H
#define DTKB_CLI_MCP_H

#include <jansson.h>

#include <dtkb/dtkb.h>

/* What a tool or resource returns: a document (given away), or an error text for the client. */
struct mcp_answer {
    dtkb_doc *doc;
    char error[DTKB_ERROR_TEXT_MAX];
};

/* The tools as the protocol lists them (a new reference). */
json_t *mcp_tools(void);
/* Calls a tool. -1: no such tool; 0: `answer` is filled, with a document or an error. */
int mcp_call(dtkb *engine, const char *name, const json_t *arguments, struct mcp_answer *answer);

json_t *mcp_resources(void);
int mcp_read(dtkb *engine, const char *uri, struct mcp_answer *answer);

#endif
