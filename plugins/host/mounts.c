#include "mounts.h"

#include <stdlib.h>
#include <string.h>

char *mounts_read(struct kit *kit)
{
    return kit_read(kit, (size_t)4 << 20, NULL, kit->call->proc_root, "self/mountinfo");
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Blanks and backslashes of a path are written as \040 and so on. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (*from == '\\' && is_octal(from[1]) && is_octal(from[2]) && is_octal(from[3])) {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* "36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/vda rw": any number of optional fields stand before the dash. */
static bool parse(char *line, struct mount *out)
{
    char *save, *fields[6];
    for (int i = 0; i < 6; i++)
        if (!(fields[i] = strtok_r(i ? NULL : line, " ", &save)))
            return false;
    const char *optional;
    do
        optional = strtok_r(NULL, " ", &save);
    while (optional && strcmp(optional, "-") != 0);
    char *type = strtok_r(NULL, " ", &save), *source = strtok_r(NULL, " ", &save), *super = strtok_r(NULL, " ", &save);
    if (!optional || !type || !source)
        return false;
    unescape(fields[3]);
    unescape(fields[4]);
    unescape(source);
    *out = (struct mount){.id = strtoull(fields[0], NULL, 10),
                          .root = fields[3],
                          .point = fields[4],
                          .options = fields[5],
                          .type = type,
                          .source = source,
                          .super_options = super ? super : ""};
    return true;
}

bool mount_next(char **at, struct mount *out)
{
    while (**at) {
        char *line = *at, *end = strchr(line, '\n');
        *at = end ? end + 1 : line + strlen(line);
        if (end)
            *end = '\0';
        if (parse(line, out))
            return true;
    }
    return false;
}

bool mount_option(const char *options, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = options; (at = strstr(at, word)); at++)
        if ((at == options || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

bool mount_is_remote(const char *type)
{
    static const char *const remote[] = {"nfs", "nfs4", "cifs",   "smb3",  "lustre",     "ceph",         "gpfs",          "beegfs",
                                         "9p",  "afs",  "wekafs", "panfs", "fuse.sshfs", "fuse.juicefs", "fuse.glusterfs"};
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if (!strcmp(type, remote[i]))
            return true;
    return false;
}
