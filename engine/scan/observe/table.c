/*
 * Tables in text, as people and scripts print them: "| GPUs | images/s |". A heading says what the columns hold: g(PUs), n(odes), s(amples a
 * second), i(terations a second), t(ime), a(ccuracy of an evaluation), b (accuracy in training), - (something else).
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/observe/speed.h"

#define CELL_MAX 40

/* Cells without their blanks; how many there are. */
static unsigned cells_of(const char *text, char cells[TABLE_COLUMNS][CELL_MAX])
{
    unsigned count = 0;
    for (const char *p = text + 1; *p && count < TABLE_COLUMNS; count++) {
        size_t length = strcspn(p, "|");
        if (!p[length] && strspn(p, " ") == length)
            break;
        size_t blank = strspn(p, " "), used = blank < length ? length - blank : 0;
        while (used && p[blank + used - 1] == ' ')
            used--;
        (void)snprintf(cells[count], CELL_MAX, "%.*s", (int)(used < CELL_MAX ? used : CELL_MAX - 1), p + blank);
        p += length + (p[length] == '|');
    }
    return count;
}

static char column_of(const char *heading)
{
    static const struct {
        const char *word;
        char column;
    } words[] = {{"it/s", 'i'},       {"iter/s", 'i'},  {"steps/s", 'i'}, {"/s", 's'},      {"speed", 's'},    {"throughput", 's'},
                 {"per second", 's'}, {"val", 'a'},     {"test", 'a'},    {"eval", 'a'},    {"accuracy", 'b'}, {"acc", 'b'},
                 {"time", 't'},       {"seconds", 't'}, {"node", 'n'},    {"machine", 'n'}, {"gpu", 'g'},      {"device", 'g'},
                 {"worker", 'g'},     {"process", 'g'}, {"rank", 'g'},    {"world", 'g'}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(heading, words[i].word))
            return words[i].column;
    return '-';
}

static bool is_number(const char *cell, double *value)
{
    const char *p = cell;
    return observe_number(&p, value) && strspn(p, " x%sGMK") == strlen(p);
}

static bool read_heading(struct observe_speed *speed, char cells[TABLE_COLUMNS][CELL_MAX], unsigned count)
{
    bool useful = false;
    for (unsigned i = 0; i < count; i++) {
        double number;
        if (is_number(cells[i], &number) || !*cells[i])
            return false;
        speed->columns[i] = column_of(cells[i]);
        useful = useful || strchr("sitab", speed->columns[i]);
    }
    speed->column_count = useful ? count : 0;
    return useful;
}

static void read_cell(struct setting *setting, char column, double value, const struct place *place)
{
    if (column == 's')
        readings_add(&setting->speed[SPEED_SAMPLE], value, place);
    else if (column == 'i')
        readings_add(&setting->speed[SPEED_STEP], value, place);
    else if (column == 't')
        readings_add(&setting->speed[SPEED_EPOCH], value, place);
    else if (column == 'b' && value <= 1)
        readings_add(&setting->train_accuracy, value, place);
    else if (column == 'a') {
        setting->accuracy = value > 1 ? value / 100 : value;
        setting->accuracy_at = *place;
    }
}

bool table_row(struct observe_speed *speed, const char *text, const struct place *place)
{
    char cells[TABLE_COLUMNS][CELL_MAX];
    double values[TABLE_COLUMNS];
    unsigned count = cells_of(text, cells), gpus = 0, nodes = 0;
    if (count < 2 || strspn(text, "|-: +=") == strlen(text))
        return false;
    if (!isdigit((unsigned char)*cells[0]) && read_heading(speed, cells, count))
        return true;
    if (count != speed->column_count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (!is_number(cells[i], &values[i]))
            values[i] = NAN;
        gpus = speed->columns[i] == 'g' && values[i] > 0 && values[i] < 1e6 ? (unsigned)values[i] : gpus;
        nodes = speed->columns[i] == 'n' && values[i] > 0 && values[i] < 1e6 ? (unsigned)values[i] : nodes;
    }
    bool own = memchr(speed->columns, 'g', count) || memchr(speed->columns, 'n', count);
    if (own && !gpus && !nodes)
        return false;
    const struct setting *last = speed->count ? &speed->settings[speed->count - 1] : NULL;
    struct setting *setting = speed_setting(speed, own || !last ? gpus : last->gpus, own || !last ? nodes : last->nodes);
    for (unsigned i = 0; i < count; i++)
        if (values[i] > 0)
            read_cell(setting, speed->columns[i], values[i], place);
    return true;
}
