/* Reading the cells of a spreadsheet in the .xlsx format: a zip archive of XML files. */
#ifndef DTKB_KB_XLSX_H
#define DTKB_KB_XLSX_H

#include "base/arena.h"
#include "base/err.h"

#define SHEET_COLUMNS 16
#define SHEET_MAX 8

struct sheet_row {
    unsigned number;                  /* as the spreadsheet counts, from 1 */
    const char *cells[SHEET_COLUMNS]; /* by column, A first; NULL when empty */
};
struct sheet {
    struct sheet_row *rows;
    size_t row_count;
};
struct workbook {
    struct sheet sheets[SHEET_MAX]; /* sheet1.xml first */
    size_t sheet_count;
    struct arena arena;
};

dtkb_status xlsx_read(const char *file, struct workbook *out, struct err *err);
void xlsx_free(struct workbook *workbook);

#endif
