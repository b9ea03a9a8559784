#include "probe/scaffold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "probe/template_table.h"

#define NAME_MAX_LENGTH 64u

struct project {
    const char *name, *language, *folder;
    char file[96]; /* what dtkb loads, below the folder */
};

static bool is_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length && length <= NAME_MAX_LENGTH && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length && name[0] >= 'a' &&
           name[0] <= 'z';
}

static void fill_in(const struct project *project, const char *text, struct buf *out)
{
    const struct {
        const char *word, *value;
    } words[] = {{"@NAME@", project->name}, {"@FILE@", project->file}};
    while (*text) {
        size_t plain = strcspn(text, "@");
        buf_add(out, text, plain);
        text += plain;
        bool known = false;
        for (size_t i = 0; *text && !known && i < sizeof words / sizeof *words; i++) {
            size_t length = strlen(words[i].word);
            known = !strncmp(text, words[i].word, length);
            if (known) {
                buf_adds(out, words[i].value);
                text += length;
            }
        }
        if (*text && !known)
            buf_addc(out, *text++);
    }
}

/* ---- writing ---- */

static dtkb_status write_file(const char *path, const struct buf *text, bool executable, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(err, DTKB_E_IO, "cannot write %s: %s", path, strerror(errno));
    size_t at = 0;
    bool good = true;
    while (good && at < text->length) {
        ssize_t n = write(fd, text->data + at, text->length - at);
        good = n > 0 || (n < 0 && errno == EINTR);
        at += n > 0 ? (size_t)n : 0;
    }
    /* Whatever the umask: what others can write, dtkb does not load. */
    good = good && fchmod(fd, executable ? 0755 : 0644) == 0;
    int error = errno;
    if (close(fd) != 0 && good) {
        good = false;
        error = errno;
    }
    return good ? DTKB_OK : err_set(err, DTKB_E_IO, "cannot write %s: %s", path, strerror(error));
}

static dtkb_status write_template(const struct project *project, const struct template_file *file, struct err *err)
{
    struct buf path = {.maximum = PATH_MAX}, text = {0};
    buf_addf(&path, "%s/", project->folder);
    fill_in(project, strchr(file->path, '/') + 1, &path);
    fill_in(project, file->text, &text);
    dtkb_status status = path.failed   ? err_set(err, DTKB_E_USAGE, "the folder's name is too long")
                         : text.failed ? err_nomem(err)
                                       : write_file(path.data, &text, !strncmp(file->text, "#!", 2), err);
    buf_free(&path);
    buf_free(&text);
    return status;
}

/* A folder of our own, or one that is there and empty. */
static dtkb_status make_folder(const char *folder, struct err *err)
{
    if (mkdir(folder, 0755) == 0) {
        (void)chmod(folder, 0755); /* the umask may have left less; more it cannot */
        return DTKB_OK;
    }
    if (errno != EEXIST)
        return err_set(err, DTKB_E_IO, "cannot make the folder %s: %s", folder, strerror(errno));
    DIR *dir = opendir(folder);
    if (!dir)
        return err_set(err, DTKB_E_IO, "cannot open the folder %s: %s", folder, strerror(errno));
    unsigned entries = 0;
    while (readdir(dir))
        entries++;
    (void)closedir(dir);
    return entries <= 2 ? DTKB_OK : err_set(err, DTKB_E_USAGE, "the folder %s is not empty: name a new one", folder);
}

static bool belongs(const struct template_file *file, const char *language)
{
    size_t length = strlen(language);
    return !strncmp(file->path, "any/", 4) || (!strncmp(file->path, language, length) && file->path[length] == '/');
}

dtkb_status scaffold_write(const char *name, const char *language, const char *folder, struct err *err)
{
    static const struct {
        const char *language, *file;
    } kinds[] = {{"c", "build/plugins/libdtkb-probe-%s.so"}, {"sh", "dtkb-probe-%s"}, {"python", "dtkb-probe-%s.py"}};
    if (!is_name(name))
        return err_set(err, DTKB_E_USAGE,
                       "'%s' is no name for a plugin: a lower case letter, then letters, digits, '-' and '_', at most 64",
                       name ? name : "");
    struct project project = {.name = name, .language = language ? language : "c"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(project.language, kinds[i].language)) {
            size_t before = strcspn(kinds[i].file, "%");
            (void)snprintf(project.file, sizeof project.file, "%.*s%s%s", (int)before, kinds[i].file, name, kinds[i].file + before + 2);
        }
    if (!*project.file)
        return err_set(err, DTKB_E_USAGE, "there is no template for the language '%s'; there are c, sh and python", project.language);
    char usual[96];
    (void)snprintf(usual, sizeof usual, "dtkb-probe-%s", name);
    project.folder = folder ? folder : usual;
    dtkb_status status = make_folder(project.folder, err);
    for (size_t i = 0; status == DTKB_OK && i < template_count; i++)
        if (belongs(&template_table[i], project.language))
            status = write_template(&project, &template_table[i], err);
    return status;
}
