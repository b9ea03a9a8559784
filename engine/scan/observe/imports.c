/*
 * Libraries that crash each other while they are loaded: `python -c "import a, b"` that ends in a segmentation fault where another order, or
 * each of the two alone, does not; a dumped stack that stands in the import of a package which loads alone.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "scan/observe/stall.h"

/* The name at `p` up to a dot, into the command's list. */
static void add_module(struct imports_command *command, const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    if (n && n < IMPORTS_NAME && command->count < IMPORTS_MODULES)
        (void)snprintf(command->modules[command->count++], IMPORTS_NAME, "%.*s", (int)n, p);
}

/* "import a, b.c as d" or "from a import b": what one statement loads */
static void read_statement(struct imports_command *command, const char *p, size_t length)
{
    const char *end = p + length;
    p += strspn(p, " ");
    if (!strncmp(p, "from ", 5)) {
        add_module(command, p + 5);
        return;
    }
    if (strncmp(p, "import ", 7) != 0)
        return;
    for (p += 7; p && p < end; p = memchr(p, ',', (size_t)(end - p)), p = p ? p + 1 : NULL)
        add_module(command, p + strspn(p, " "));
}

/* `$ python3 -c "import a; import b; print(...)"` */
static bool read_command(struct imports_command *command, const char *text)
{
    const char *python = *text == '$' ? strstr(text, "python") : NULL, *code = python ? strstr(python, " -c ") : NULL;
    if (!code || !strchr("\"'", code[4]) || !code[4])
        return false;
    char quote = code[4];
    const char *p = code + 5, *end = strchr(p, quote);
    memset(command, 0, sizeof *command);
    while (p && *p && (!end || p < end)) {
        size_t length = strcspn(p, (char[]){';', quote, '\0'});
        read_statement(command, p, length);
        p = p[length] == ';' ? p + length + 1 : NULL;
    }
    return command->count > 0;
}

static bool has_module(const struct imports_command *command, const char *name)
{
    for (unsigned i = 0; i < command->count; i++)
        if (!strcmp(command->modules[i], name))
            return true;
    return false;
}

/* The first frames of "Fatal Python error: Segmentation fault": one that runs a package's own top level is an import of it. */
static void read_frame(struct observe_imports *imports, const char *text, const struct place *place)
{
    const char *p = text + strspn(text, " ");
    if (strncmp(p, "File \"", 6) != 0)
        return;
    imports->frames--;
    const char *root = strstr(p, "-packages/");
    if (!root || !strstr(root, " in <module>"))
        return;
    root += strlen("-packages/");
    (void)snprintf(imports->package, sizeof imports->package, "%.*s", (int)strcspn(root, "/.\""), root);
    imports->package_at = *place;
    imports->frames = 0;
}

static bool is_crash(const char *text)
{
    return strstr(text, "Segmentation fault") || strstr(text, "(core dumped)");
}

void imports_line(struct observe_imports *imports, const char *text, const struct place *place)
{
    if (*text == '$') {
        imports->pending = imports->count < IMPORTS_COMMANDS && read_command(&imports->commands[imports->count], text);
        imports->count += imports->pending;
        imports->frames = 0;
    } else if (imports->pending && is_crash(text)) {
        imports->commands[imports->count - 1].crashed = true;
        imports->crashed_at = *place;
        imports->pending = false;
    } else if (imports->pending && !strncmp(text, "Traceback", 9)) {
        imports->commands[imports->count - 1].raised = true; /* it did not load, either, but for another reason */
    }
    if (!strncmp(text, "Fatal Python error: Segmentation fault", 38))
        imports->frames = IMPORTS_FRAMES;
    else if (imports->frames)
        read_frame(imports, text, place);
}

static bool has_loaded(const struct imports_command *command)
{
    return !command->crashed && !command->raised;
}

/* Did all that `crashed` loads load in another command: together, or each alone? */
static const char *loads_otherwise(const struct observe_imports *imports, const struct imports_command *crashed)
{
    unsigned alone = 0;
    for (unsigned i = 0; i < imports->count; i++) {
        const struct imports_command *command = &imports->commands[i];
        if (!has_loaded(command))
            continue;
        unsigned common = 0;
        for (unsigned m = 0; m < crashed->count; m++)
            common += has_module(command, crashed->modules[m]);
        if (common == crashed->count)
            return "load in another order";
        alone += command->count == 1 && common == 1;
    }
    return alone >= crashed->count ? "load alone" : NULL;
}

void imports_conclude(const struct observe_imports *imports, struct collect *collect)
{
    for (unsigned i = 0; i < imports->count; i++) {
        const struct imports_command *command = &imports->commands[i];
        const char *otherwise = command->crashed && command->count > 1 ? loads_otherwise(imports, command) : NULL;
        if (otherwise) {
            observe_tell(collect, &imports->crashed_at, "imports: %s before %s crashes, while both %s", command->modules[0],
                         command->modules[1], otherwise);
            return;
        }
    }
    for (unsigned i = 0; *imports->package && i < imports->count; i++)
        if (has_loaded(&imports->commands[i]) && imports->commands[i].count == 1 && has_module(&imports->commands[i], imports->package)) {
            observe_tell(collect, &imports->package_at, "imports: %s crashes the program that loads it, and loads alone", imports->package);
            return;
        }
}
