/* Listings: folders of checkpoints without weights in them, folders that each process made for itself. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/observe/host.h"

#define FOLDERS_APART 8 /* seconds */

static bool is_weights(const char *name)
{
    static const char *const marks[] = {".safetensors",  ".pt",           ".pth",        ".ckpt",       ".distcp", ".index",   ".data-",
                                        ".h5",           ".pdparams",     ".msgpack",    ".params",     ".npz",    "mp_rank_", "model.bin",
                                        "pytorch_model", "adapter_model", "checkpoint-", "global_step", "iter_",   "epoch",    "step",
                                        ".tar",          ".orbax",        "state",       ".keras"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcasestr(name, marks[i]))
            return true;
    return false;
}

static void close_listing(struct observe_files *files)
{
    files->empty = files->empty || (files->listing && !files->weights);
    files->listing = false;
}

/* Seconds of the day that a name tells: "2020-12-30_18-20-05_1b7z", "run_20230411-101502"; -1: none. `*end` gets what follows. */
static long seconds_of_name(const char *name, const char **end)
{
    for (const char *p = name; *p && *p != ' '; p++) {
        int h, m, s, length = 0;
        bool begins = p == name || !isdigit((unsigned char)p[-1]);
        if (begins &&
            (sscanf(p, "%2d-%2d-%2d%n", &h, &m, &s, &length) == 3 || sscanf(p, "%2d_%2d_%2d%n", &h, &m, &s, &length) == 3 ||
             (p > name && strchr("-_T", p[-1]) && strspn(p, "0123456789") == 6 && sscanf(p, "%2d%2d%2d%n", &h, &m, &s, &length) == 3)) &&
            length >= 6 && h < 24 && m < 60 && s < 60 && h >= 0 && m >= 0 && s >= 0 && !isdigit((unsigned char)p[length]) &&
            p[length] != '-') {
            *end = p + length;
            return (h * 60L + m) * 60L + s;
        }
    }
    return -1;
}

/* Folders one below the other that bear the same minute: each process has made its own, by its own clock. */
static void read_folder(struct observe_files *files, const char *text, const struct place *place)
{
    const char *end = text;
    long seconds = *text && !strpbrk(text, " :=$[(") ? seconds_of_name(text, &end) : -1;
    bool folder = seconds >= 0 && !strpbrk(end, ".");
    if (folder && files->seconds >= 0 && files->folders && seconds >= files->seconds && seconds - files->seconds <= FOLDERS_APART) {
        files->folders++;
        files->most_folders = files->folders > files->most_folders ? files->folders : files->most_folders;
        files->folders_at = *place;
    } else {
        files->folders = folder;
    }
    files->seconds = folder ? seconds : -1;
}

void files_line(struct observe_files *files, const char *text, const struct place *place)
{
    read_folder(files, text, place);
    if (*text == '$') {
        close_listing(files);
        bool checkpoints = strcasestr(text, "checkpoint") || strcasestr(text, "ckpt");
        if ((!strncmp(text, "$ ls ", 5) || !strncmp(text, "$ ll ", 5)) && checkpoints && !strchr(text, '|')) {
            files->listing = true;
            files->entries = files->weights = 0;
            files->at = *place;
        }
        return;
    }
    if (!files->listing || !*text)
        return;
    if (strstr(text, "cannot access")) { /* an error of its own */
        files->listing = false;
        return;
    }
    files->entries++;
    files->weights += is_weights(text);
    files->at = *place;
}

void files_conclude(const struct observe_files *files, struct collect *collect)
{
    struct observe_files last = *files;
    if (files->most_folders > 1)
        observe_tell(collect, &files->folders_at, "folders: %u were made within seconds of each other", files->most_folders);
    /* The last listing may have been cut off before its weights came; without a line at all nothing was listed. */
    if (last.listing && last.entries)
        close_listing(&last);
    if (last.empty)
        observe_tell(collect, &files->at, "checkpoint: the folder that was listed holds no weights");
}
