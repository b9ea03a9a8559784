/* Any bytes as a document: what is taken for one is rendered in every format and merged with itself; text must not carry controls. */
#include <stdint.h>
#include <stdlib.h>

#include <dtkb/dtkb.h>

static int swallow(void *context, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    (void)context;
    for (size_t i = 0; i < length; i++)
        if ((p[i] < 0x20 && p[i] != '\n' && p[i] != '\t') || p[i] == 0x7f)
            abort(); /* a control would reach a terminal, or make the XML invalid */
    return 0;
}

static void render_all(const dtkb_doc *doc)
{
    static const unsigned widths[] = {0, 20, 200};
    for (int format = DTKB_FORMAT_TEXT; format <= DTKB_FORMAT_GITHUB; format++)
        (void)dtkb_doc_write(doc, (dtkb_format)format, NULL, swallow, NULL);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        dtkb_write_options options = DTKB_WRITE_OPTIONS_INIT;
        options.width = widths[i];
        (void)dtkb_doc_write(doc, DTKB_FORMAT_TEXT, &options, swallow, NULL);
    }
    (void)dtkb_doc_verdict(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dtkb_doc *doc, *merged;
    if (dtkb_doc_parse((const char *)data, size, &doc, NULL, 0) != DTKB_OK)
        return 0;
    render_all(doc);
    const dtkb_doc *both[] = {doc, doc};
    if (dtkb_merge(both, 2, &merged, NULL, 0) == DTKB_OK) {
        render_all(merged);
        dtkb_doc_free(merged);
    }
    dtkb_doc_free(doc);
    return 0;
}
