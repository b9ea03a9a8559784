/* Any bytes as the HTML body of an imported thread. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kb/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *html = malloc(size + 1);
    struct buf text = {0}, errors = {0};
    struct arena arena = {0};
    const char **list;
    size_t count;
    if (!html)
        return 0;
    memcpy(html, data, size);
    html[size] = '\0';
    if (html_to_text(html, &text, &errors))
        (void)split_errors(&arena, buf_text(&errors), &list, &count);
    arena_free(&arena);
    buf_free(&text);
    buf_free(&errors);
    free(html);
    return 0;
}
