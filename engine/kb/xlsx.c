#include "kb/xlsx.h"

#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "base/buf.h"
#include "kb/xml.h"

#define PART_MAX ((size_t)64 << 20) /* bytes of one file of the archive */

struct parts {
    struct buf strings, sheets[SHEET_MAX];
};

/* Where a file of the archive belongs; NULL when it is of no use. */
static struct buf *place_of(struct parts *parts, const char *name)
{
    static const char sheet[] = "xl/worksheets/sheet";
    if (strcmp(name, "xl/sharedStrings.xml") == 0)
        return &parts->strings;
    if (strncmp(name, sheet, sizeof sheet - 1) != 0)
        return NULL;
    char *end;
    unsigned long number = strtoul(name + sizeof sheet - 1, &end, 10);
    return number >= 1 && number <= SHEET_MAX && strcmp(end, ".xml") == 0 ? &parts->sheets[number - 1] : NULL;
}

static dtkb_status unpack_entry(const char *file, struct archive *archive, struct buf *out, struct err *err)
{
    char chunk[16384];
    la_ssize_t got;
    out->maximum = PART_MAX;
    while ((got = archive_read_data(archive, chunk, sizeof chunk)) > 0) {
        buf_add(out, chunk, (size_t)got);
        if (out->failed)
            return err_set(err, DTKB_E_LIMIT, "%s: a part of it is larger than %zu bytes", file, PART_MAX);
    }
    return got == 0 ? DTKB_OK : err_set(err, DTKB_E_FORMAT, "%s: %s", file, archive_error_string(archive));
}

static dtkb_status unpack(const char *file, struct parts *parts, struct err *err)
{
    struct archive *archive = archive_read_new();
    if (!archive)
        return err_nomem(err);
    archive_read_support_format_zip(archive);
    dtkb_status status = DTKB_OK;
    if (archive_read_open_filename(archive, file, 65536) != ARCHIVE_OK)
        status = err_set(err, archive_errno(archive) > 0 ? DTKB_E_IO : DTKB_E_FORMAT, "%s: %s", file, archive_error_string(archive));
    struct archive_entry *entry;
    int rc = ARCHIVE_OK;
    while (status == DTKB_OK && (rc = archive_read_next_header(archive, &entry)) == ARCHIVE_OK) {
        const char *name = archive_entry_pathname(entry);
        struct buf *place = name ? place_of(parts, name) : NULL;
        if (place)
            status = unpack_entry(file, archive, place, err);
    }
    if (status == DTKB_OK && rc != ARCHIVE_EOF)
        status = err_set(err, DTKB_E_FORMAT, "%s: not a spreadsheet (.xlsx): %s", file, archive_error_string(archive));
    archive_read_free(archive);
    return status;
}

struct strings {
    const char **texts;
    size_t count;
};

static dtkb_status read_strings(struct workbook *book, const struct buf *part, struct strings *out, struct err *err)
{
    xmlDocPtr doc = NULL;
    dtkb_status status = xml_read_memory("sharedStrings.xml", buf_text(part), part->length, NULL, &doc, err);
    if (status != DTKB_OK)
        return status;
    const xmlNode *root = xmlDocGetRootElement(doc);
    out->texts = arena_alloc(&book->arena, (xml_count(root, "si") + 1) * sizeof *out->texts);
    if (!out->texts)
        status = err_nomem(err);
    for (const xmlNode *node = xml_first(root); node && status == DTKB_OK; node = xml_next(node))
        if (xml_is(node, "si"))
            out->texts[out->count++] = xml_prose(&book->arena, node);
    xmlFreeDoc(doc);
    return status;
}

/* Column of a reference such as "C12"; SHEET_COLUMNS when it is further right than we look. */
static size_t column_of(const char *reference)
{
    size_t column = 0;
    for (; reference && *reference >= 'A' && *reference <= 'Z' && column <= SHEET_COLUMNS; reference++)
        column = column * 26 + (size_t)(*reference - 'A' + 1);
    return column && column <= SHEET_COLUMNS ? column - 1 : SHEET_COLUMNS;
}

static const char *cell_text(struct workbook *book, const xmlNode *cell, const struct strings *strings)
{
    const char *type = xml_attribute(&book->arena, cell, "t");
    for (const xmlNode *node = xml_first(cell); node; node = xml_next(node)) {
        const char *text = xml_is(node, "v") || xml_is(node, "is") ? xml_prose(&book->arena, node) : NULL;
        if (!text)
            continue;
        if (!type || strcmp(type, "s") != 0)
            return text;
        unsigned long number = strtoul(text, NULL, 10);
        return number < strings->count ? strings->texts[number] : NULL;
    }
    return NULL;
}

static const xmlNode *rows_of(const xmlNode *root)
{
    for (const xmlNode *node = xml_first(root); node; node = xml_next(node))
        if (xml_is(node, "sheetData"))
            return node;
    return NULL;
}

static dtkb_status read_sheet(struct workbook *book, const struct buf *part, const struct strings *strings, struct err *err)
{
    xmlDocPtr doc = NULL;
    dtkb_status status = xml_read_memory("worksheet", buf_text(part), part->length, NULL, &doc, err);
    if (status != DTKB_OK)
        return status;
    struct sheet *sheet = &book->sheets[book->sheet_count++];
    const xmlNode *data = rows_of(xmlDocGetRootElement(doc));
    sheet->rows = data ? arena_alloc(&book->arena, (xml_count(data, "row") + 1) * sizeof *sheet->rows) : NULL;
    if (!sheet->rows)
        status = data ? err_nomem(err) : err_set(err, DTKB_E_FORMAT, "a worksheet has no sheetData");
    for (const xmlNode *node = data ? xml_first(data) : NULL; node && status == DTKB_OK; node = xml_next(node)) {
        if (!xml_is(node, "row"))
            continue;
        struct sheet_row *row = &sheet->rows[sheet->row_count++];
        const char *number = xml_attribute(&book->arena, node, "r");
        row->number = number ? (unsigned)strtoul(number, NULL, 10) : (unsigned)sheet->row_count;
        for (const xmlNode *cell = xml_first(node); cell; cell = xml_next(cell)) {
            size_t column = column_of(xml_attribute(&book->arena, cell, "r"));
            if (column < SHEET_COLUMNS)
                row->cells[column] = cell_text(book, cell, strings);
        }
    }
    xmlFreeDoc(doc);
    return status;
}

dtkb_status xlsx_read(const char *file, struct workbook *out, struct err *err)
{
    struct parts parts = {0};
    struct workbook book = {0};
    struct strings strings = {0};
    struct err why = {0};
    dtkb_status status = unpack(file, &parts, err);
    if (status == DTKB_OK && parts.strings.length)
        status = read_strings(&book, &parts.strings, &strings, &why);
    for (size_t i = 0; i < SHEET_MAX && status == DTKB_OK; i++)
        if (parts.sheets[i].length)
            status = read_sheet(&book, &parts.sheets[i], &strings, &why);
    if (status == DTKB_OK && !book.sheet_count)
        status = err_set(&why, DTKB_E_FORMAT, "not a spreadsheet (.xlsx): no worksheet in it");
    if (status != DTKB_OK && why.code)
        err_set(err, status, "%s: %s", file, why.text);
    buf_free(&parts.strings);
    for (size_t i = 0; i < SHEET_MAX; i++)
        buf_free(&parts.sheets[i]);
    if (status == DTKB_OK)
        *out = book;
    else
        xlsx_free(&book);
    return status;
}

void xlsx_free(struct workbook *workbook)
{
    arena_free(&workbook->arena);
    *workbook = (struct workbook){0};
}
