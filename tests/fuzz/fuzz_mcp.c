/* Arguments of the server's tools that only read the knowledge base, and names of its resources. */
#include <stdlib.h>

#include "mcp.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void drop(struct mcp_answer *answer)
{
    if (answer->doc && !dtkb_doc_json(answer->doc))
        abort(); /* an answer must be sendable */
    dtkb_doc_free(answer->doc);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const char *const tools[] = {"search", "show", "explain"};
    static dtkb *engine;
    dtkb_open_options options = DTKB_OPEN_OPTIONS_INIT;
    options.kb = KB_FILE;
    options.no_default_packs = 1;
    if (!engine && dtkb_open(&engine, &options, NULL, 0) != DTKB_OK)
        abort();
    json_t *arguments = json_loadb((const char *)data, size, 0, NULL);
    if (!arguments)
        return 0;
    struct mcp_answer answer;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (mcp_call(engine, tools[i], arguments, &answer) != 0)
            abort();
        drop(&answer);
    }
    const char *uri = json_string_value(json_object_get(arguments, "uri"));
    if (uri && mcp_read(engine, uri, &answer) == 0)
        drop(&answer);
    json_decref(arguments);
    return 0;
}
