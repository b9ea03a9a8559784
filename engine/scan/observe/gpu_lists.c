/* Lists of GPUs and of their processes, as queries and monitors print them: a heading, or the command itself, says what the columns hold. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/gpus.h"

#define MISSES_MOST 3 /* headings of another list, blank lines */

struct column_name {
    const char *name;
    char letter;
};

static const struct column_name of_query[] = {{"index", 'i'},        {"utilization.gpu", 'u'}, {"memory.used", 'm'},
                                              {"memory.total", 't'}, {"power.draw", 'p'},      {"power.limit", 'l'}};
static const struct column_name of_apps[] = {{"gpu_bus_id", 'g'}, {"gpu_uuid", 'g'},        {"gpu_serial", 'g'},
                                             {"pid", 'd'},        {"used_gpu_memory", 'm'}, {"used_memory", 'm'}};
static const struct column_name of_monitor[] = {{"gpu", 'i'}, {"pid", 'd'}, {"sm", 'u'}, {"fb", 'm'}, {"pwr", 'p'}};

#define NAMES(table) (table), sizeof(table) / sizeof *(table)

/* `separators` part the names; `end`: where the list is over */
static void read_columns(struct observe_gpus *gpus, enum gpu_list list, const char *text, const char *end, const char *separators,
                         const struct column_name *names, size_t count)
{
    gpus->column_count = gpus->misses = 0;
    gpus->list = list;
    for (const char *p = text; p < end && gpus->column_count < GPU_COLUMNS_MAX;) {
        p += strspn(p, separators);
        p += strspn(p, " ");
        size_t length = strcspn(p, separators);
        if (!length || p >= end)
            break;
        char letter = '-';
        for (size_t i = 0; i < count && letter == '-'; i++)
            if (!strncmp(p, names[i].name, strlen(names[i].name)))
                letter = names[i].letter;
        gpus->columns[gpus->column_count++] = letter;
        p += length;
    }
}

static bool has_column(const struct observe_gpus *gpus, char letter)
{
    return memchr(gpus->columns, letter, gpus->column_count) != NULL;
}

/* Where no heading is asked for, the command itself is one. */
static bool read_heading(struct observe_gpus *gpus, const char *text)
{
    const char *query = strstr(text, "--query-gpu="), *apps = strstr(text, "--query-compute-apps=");
    const char *names = query ? query + 12 : apps ? apps + 21 : text;
    const char *end = names + (names == text ? strlen(text) : strcspn(names, " "));
    if ((strstr(names, "utilization.gpu") && (query || strchr(text, ','))) || (query && strstr(names, "memory.used"))) {
        read_columns(gpus, GPU_LIST_QUERY, names, end, ",", NAMES(of_query));
    } else if (apps || strstr(text, "gpu_bus_id, pid") || strstr(text, "gpu_uuid, pid")) {
        read_columns(gpus, GPU_LIST_APPS, names, end, ",", NAMES(of_apps));
        gpus->process_count = gpus->name_count = 0;
    } else if (!strncmp(text, "# gpu ", 6) && strstr(text, " sm")) {
        read_columns(gpus, strstr(text, "pid") ? GPU_LIST_PMON : GPU_LIST_DMON, text + 1, text + strlen(text), " ", NAMES(of_monitor));
        gpus->process_count = 0;
    } else {
        return false;
    }
    gpus->counted = gpus->list == GPU_LIST_QUERY && gpus->column_count == 1 && strstr(text, "uniq -c");
    gpus->fresh = true;
    return true;
}

static void set_value(struct gpu_row *row, char letter, double value)
{
    double *const values[] = {&row->util, &row->used, &row->total, &row->power, &row->cap};
    static const char letters[] = "umtpl";
    const char *at = letter ? strchr(letters, letter) : NULL;
    if (at)
        *values[at - letters] = value;
    else if (letter == 'i')
        row->index = value >= 0 && value < 1024 ? (int)value : -1;
}

/* Fields that are parted by commas, or by blanks. */
static bool read_fields(struct observe_gpus *gpus, const char *text, const char *separators, struct gpu_row *row, long *pid, uint64_t *name)
{
    unsigned column = 0;
    for (const char *p = text; *p && column < gpus->column_count; column++) {
        p += strspn(p, " ");
        size_t length = strcspn(p, separators);
        if (!length)
            break;
        char letter = gpus->columns[column];
        bool number = isdigit((unsigned char)*p);
        if (letter == 'g')
            *name = observe_hash(OBSERVE_HASH, p, length);
        else if (letter == 'd' && number)
            *pid = strtol(p, NULL, 10);
        else
            set_value(row, letter, number ? strtod(p, NULL) : NAN);
        p += length;
        p += *p == ',';
    }
    return column == gpus->column_count;
}

static int index_of_name(struct observe_gpus *gpus, uint64_t name)
{
    for (unsigned i = 0; i < gpus->name_count; i++)
        if (gpus->names[i] == name)
            return (int)i;
    if (gpus->name_count == GPUS_MAX)
        return -1;
    gpus->names[gpus->name_count] = name;
    return (int)gpus->name_count++;
}

/* "100 % 100 % 0 %", "0, 100 %, 71333 MiB 1, 0 %, 71011 MiB": rows that a shell has joined. How many values there are, 0: something else. */
static unsigned joined_values(const char *text, double *values, unsigned most)
{
    unsigned count = 0;
    for (const char *p = text; *p;) {
        p += strspn(p, " ,;%");
        if (!strncmp(p, "MiB", 3) || !strncmp(p, "W ", 2) || !strncmp(p, "W,", 2)) {
            p += *p == 'M' ? 3 : 1;
            continue;
        }
        if (!*p)
            break;
        if (count == most || !isdigit((unsigned char)*p) || !observe_number(&p, &values[count]))
            return 0;
        count++;
    }
    return count;
}

static bool joined_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    double values[GPUS_MAX * 4];
    unsigned columns = gpus->column_count, count = joined_values(text, values, GPUS_MAX * 4);
    if (!columns || count <= columns || count % columns || has_column(gpus, '-'))
        return false;
    gpus->fresh = true;
    for (unsigned i = 0; i < count; i += columns) {
        struct gpu_row *row = gpus_row(gpus, -1, place);
        for (unsigned k = 0; row && k < columns; k++)
            set_value(row, gpus->columns[k], values[i + k]);
    }
    return true;
}

/* "      8 100 %": what uniq(1) has counted of a query of one column. */
static bool counted_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    const char *p = text + strspn(text, " ");
    double times, value;
    if (!gpus->counted || *text != ' ' || !observe_number(&p, &times) || *p != ' ' || times < 1 || times > GPUS_MAX ||
        times != floor(times))
        return false;
    p += strspn(p, " ");
    if (!observe_number(&p, &value))
        return false;
    for (unsigned i = 0; i < (unsigned)times; i++) {
        struct gpu_row *row = gpus_row(gpus, -1, place);
        if (row)
            set_value(row, gpus->columns[0], value);
    }
    return true;
}

/* "13198MiB 100%": the columns of nvidia-smi's table that awk(1) was told to print */
static bool picked_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    double used, util;
    int end = 0;
    if (strncmp(text + strspn(text, "0123456789."), "MiB ", 4) != 0 || sscanf(text, "%lfMiB %lf%%%n", &used, &util, &end) != 2 || !end ||
        text[end] || used < 0 || util < 0 || util > 100)
        return false;
    struct gpu_row *row = gpus_row(gpus, -1, place);
    if (row) {
        row->used = used;
        row->util = util;
    }
    return true;
}

static bool query_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    struct gpu_row read = {-1, NAN, NAN, NAN, NAN, NAN};
    long pid = 0;
    uint64_t name = 0;
    if (counted_line(gpus, text, place) || joined_line(gpus, text, place))
        return true;
    if (!read_fields(gpus, text, ",", &read, &pid, &name) || (isnan(read.util) && isnan(read.used)))
        return false;
    struct gpu_row *row = gpus_row(gpus, read.index, place);
    if (row) {
        read.index = row->index;
        *row = read;
    }
    return true;
}

/* A row of a monitor has the same columns again and again; what a process does there stands for what it holds where memory is not shown. */
static bool monitor_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    struct gpu_row read = {-1, NAN, NAN, NAN, NAN, NAN};
    long pid = 0;
    uint64_t name = 0;
    if (!strncmp(text, "# Idx", 5))
        return true;
    if (strspn(text, " ") == strlen(text) || !isdigit((unsigned char)text[strspn(text, " ")]) ||
        !read_fields(gpus, text, " ", &read, &pid, &name) || read.index < 0)
        return false;
    if (gpus->list == GPU_LIST_PMON) {
        if (pid > 1)
            gpus_process(gpus, read.index, pid, isnan(read.used) ? read.util : read.used, place);
        return true;
    }
    struct gpu_row *row = gpus_row(gpus, read.index, place);
    if (row)
        *row = read;
    return true;
}

static bool apps_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    struct gpu_row read = {-1, NAN, NAN, NAN, NAN, NAN};
    long pid = 0;
    uint64_t name = 0;
    unsigned long times = strtoul(text + strspn(text, " "), NULL, 10);
    const char *counted = text + strspn(text, " 0123456789");
    if (gpus->column_count == 1 && *text == ' ' && times && times <= GPU_PROCESSES_MAX && counted > text && strspn(counted - 1, " 0") > 0) {
        const char *gpu_name = text + strspn(text, " ");
        gpu_name += strcspn(gpu_name, " ");
        gpu_name += strspn(gpu_name, " ");
        int gpu = *gpu_name ? index_of_name(gpus, observe_hash(OBSERVE_HASH, gpu_name, strcspn(gpu_name, " "))) : -1;
        for (; gpu >= 0 && times; times--) /* what uniq(1) has counted */
            gpus_process(gpus, gpu, -(long)++gpus->unnamed, NAN, place);
        return gpu >= 0;
    }
    if (!has_column(gpus, 'g') || !read_fields(gpus, text, ",", &read, &pid, &name) || pid < 2 || !name)
        return false;
    int gpu = index_of_name(gpus, name);
    if (gpu >= 0)
        gpus_process(gpus, gpu, pid, read.used, place);
    return true;
}

/* "GPU[3]		: GPU use (%): 0", as rocm-smi prints it */
static bool rocm_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    int index;
    double util;
    if (sscanf(text, "GPU[%4d]", &index) != 1 || index < 0 || index > 1023 || !observe_after(text, "GPU use (%)", &util, NULL))
        return false;
    struct gpu_row *row = gpus_row(gpus, index, place);
    if (row)
        row->util = util;
    return true;
}

bool gpu_list_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    if (rocm_line(gpus, text, place) || picked_line(gpus, text, place) || read_heading(gpus, text))
        return true;
    bool row = false;
    switch (gpus->list) {
    case GPU_LIST_NONE:
        return false;
    case GPU_LIST_QUERY:
        row = query_line(gpus, text, place);
        break;
    case GPU_LIST_APPS:
        row = apps_line(gpus, text, place);
        break;
    case GPU_LIST_DMON:
    case GPU_LIST_PMON:
        row = monitor_line(gpus, text, place);
        break;
    }
    gpus->misses = row ? 0 : gpus->misses + 1;
    if (*text == '$' || gpus->misses > MISSES_MOST)
        gpus->list = GPU_LIST_NONE;
    return row;
}

/* "4101/5M", "python/4101(5M)", "user(4764M)": process and MiB, as far as they are shown */
static void gpustat_process(struct observe_gpus *gpus, int gpu, const char *word, size_t length, const struct place *place)
{
    char copy[64];
    (void)snprintf(copy, sizeof copy, "%.*s", (int)(length < 63 ? length : 63), word);
    char *bracket = strchr(copy, '('), *slash = strrchr(copy, '/'), *end;
    const char *memory = bracket ? bracket + 1 : slash ? slash + 1 : copy;
    double used = strtod(memory, &end);
    if (end == memory || *end != 'M')
        return;
    long pid = bracket && slash ? strtol(slash + 1, NULL, 10) : slash ? strtol(copy, NULL, 10) : 0;
    gpus_process(gpus, gpu, pid > 1 ? pid : -(long)++gpus->unnamed, used, place);
}

void gpustat_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    const char *heat = strstr(text, "'C,");
    char *end;
    long index = strtol(text + 1, &end, 10);
    if (!heat || *end != ']' || index < 0 || index > 1023)
        return;
    struct gpu_row *row = gpus_row(gpus, (int)index, place);
    if (!row)
        return;
    const char *share = strchr(heat, '%'), *bar = strchr(heat, '|'), *slash = bar ? strstr(bar, " /") : NULL;
    (void)observe_after(heat, "'C,", &row->util, NULL);
    row->util = share && bar && share < bar ? row->util : NAN;
    if (!slash)
        return;
    row->used = strtod(bar + 1, NULL);
    row->total = strtod(slash + 2, NULL);
    for (const char *p = strchr(slash, '|'); p && *p;) {
        p += strspn(p, " |");
        size_t length = strcspn(p, " ");
        if (length)
            gpustat_process(gpus, (int)index, p, length, place);
        p += length;
    }
}
