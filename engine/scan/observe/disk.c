/* Disks that cannot keep up, as iostat(1) shows them. Of flash the share of busy time says little: it serves many requests at once. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/host.h"

#define BUSY 95.0 /* per cent of the time */

void disk_line(struct observe_disk *disk, const char *text, const struct place *place)
{
    if (!strncmp(text, "Device", 6) && strstr(text, "%util")) {
        disk->listing = true;
        return;
    }
    size_t length = strcspn(text, " ");
    const char *last = strrchr(text, ' ');
    if (!disk->listing || !last || strncmp(text, "sd", 2) != 0 || length >= sizeof disk->name)
        return;
    char *end;
    double busy = strtod(last + 1, &end);
    if (*end || end == last + 1 || busy <= disk->busy)
        return;
    (void)snprintf(disk->name, sizeof disk->name, "%.*s", (int)length, text);
    disk->busy = busy;
    disk->at = *place;
}

void disk_conclude(const struct observe_disk *disk, struct collect *collect)
{
    if (disk->busy >= BUSY)
        observe_tell(collect, &disk->at, "disk: %s is busy all the time", disk->name);
}
