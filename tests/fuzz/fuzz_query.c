/* Search texts: any bytes give hits or none, never an error. The first byte chooses the mode. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kb/kb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct kb *kb;
    struct err err = {0};
    if (!kb && kb_open(KB_FILE, NULL, 0, &kb, &err) != DTKB_OK)
        abort();
    if (!size)
        return 0;
    char *text = malloc(size);
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    struct kb_query query = {.text = text, .any_word = data[0] & 1, .kind = data[0] & 2 ? "fault" : NULL};
    struct kb_hits hits;
    dtkb_status status = kb_search(kb, &query, &hits, &err);
    if (status == DTKB_OK) {
        kb_hits_free(&hits);
    } else if (status != DTKB_E_USAGE) { /* a blank text without a filter */
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    free(text);
    return 0;
}
