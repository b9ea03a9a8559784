/* Space, inodes and state of the file systems a job writes to. Each place is asked by a thread of its own: statvfs() on a dead file server
 * does not come back, and then that is the finding. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "mounts.h"
#include "parts.h"

#define PATIENCE_NS 1500000000ull
#define FULL_BYTES ((uint64_t)1 << 20)

struct place {
    const char *name; /* in the facts */
    char path[1024];
    pthread_t thread;
    bool started, answered;
    int error;
    struct statvfs space;
    uint64_t mount_id; /* 0 when the kernel does not tell */
};

/* Shared with threads that may outlive run(), so never freed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct place places[] = {{.name = "cwd"}, {.name = "tmp"}, {.name = "home"}, {.name = "shm"}};
enum { PLACES = sizeof places / sizeof *places };

static void *ask(void *context)
{
    struct place *place = context;
    struct statvfs space = {.f_bsize = 0};
    struct statx detail;
    int error = statvfs(place->path, &space) ? errno : 0;
    uint64_t id =
        !error && !statx(AT_FDCWD, place->path, 0, STATX_MNT_ID, &detail) && detail.stx_mask & STATX_MNT_ID ? detail.stx_mnt_id : 0;
    (void)pthread_mutex_lock(&lock);
    place->space = space;
    place->error = error;
    place->mount_id = id;
    place->answered = true;
    (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&lock);
    return NULL;
}

static void choose_paths(struct kit *kit)
{
    const char *tmp = kit_env(kit, "TMPDIR"), *home = kit_env(kit, "HOME");
    bool live = host_is_live(kit);
    char here[sizeof places->path];
    const char *chosen[PLACES] = {kit_param(kit, "cwd", live && getcwd(here, sizeof here) ? here : ""),
                                  kit_param(kit, "tmp",
                                            !live         ? ""
                                            : tmp && *tmp ? tmp
                                                          : "/tmp"),
                                  kit_param(kit, "home", live && home ? home : ""), live ? "/dev/shm" : ""};
    for (size_t i = 0; i < PLACES; i++)
        (void)snprintf(places[i].path, sizeof places[i].path, "%s", chosen[i]);
}

static void start(struct kit *kit)
{
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    for (size_t i = 0; i < PLACES; i++) {
        struct place *place = &places[i];
        place->started = *place->path && pthread_create(&place->thread, NULL, ask, place) == 0;
        if (*place->path && !place->started)
            kit_log(kit, 2, "no thread to ask for %s (%s)", place->name, place->path);
    }
}

/* Waits until all have answered or patience ends; the lock is held on return. */
static void wait_for_answers(const struct kit *kit)
{
    uint64_t end = kit->host->now_ns() + PATIENCE_NS, last = kit->call->deadline_ns - 200000000u;
    if (end > last)
        end = last;
    const struct timespec until = {.tv_sec = (time_t)(end / 1000000000u), .tv_nsec = (long)(end % 1000000000u)};
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < PLACES; i++)
        while (places[i].started && !places[i].answered && pthread_cond_timedwait(&changed, &lock, &until) == 0)
            continue;
}

/* The mount a path lies on: by its number, or, for a path that cannot be asked, by the longest mount point it begins with. */
static bool find_mount(struct kit *kit, const struct place *place, struct mount *out)
{
    char *at = mounts_read(kit);
    struct mount mount;
    size_t best = 0;
    bool found = false;
    while (at && mount_next(&at, &mount)) {
        size_t length = strcmp(mount.point, "/") ? strlen(mount.point) : 0;
        bool under =
            *place->path == '/' && !strncmp(place->path, mount.point, length) && (!place->path[length] || place->path[length] == '/');
        if (place->mount_id ? mount.id == place->mount_id : under && length >= best) {
            *out = mount;
            best = length;
            found = true;
        }
    }
    return found;
}

static void emit_silent(struct kit *kit, const struct place *place)
{
    struct mount mount;
    bool known = find_mount(kit, place, &mount);
    kit_wrong(kit, true);
    kit_bool(kit, false, "statvfs", "host.disk.%s.responding", place->name);
    if (known)
        kit_string(kit, mount.type, "self/mountinfo", "host.disk.%s.type", place->name);
    kit_fault(kit, "the file system of %s (%s%s%s%s%s) does not answer%s", place->name, place->path, known ? ", " : "",
              known ? mount.type : "", known ? " from " : "", known ? mount.source : "",
              known && mount_is_remote(mount.type) ? ": its server or the way to it is down" : "");
}

/* What is wrong with a place that answers. */
enum trouble { NO_TROUBLE, READ_ONLY, FULL, NO_INODE };

static enum trouble judge(struct kit *kit, const struct place *place, uint64_t free_bytes)
{
    bool work = !strcmp(place->name, "cwd") || !strcmp(place->name, "tmp");
    if (place->space.f_flag & ST_RDONLY) {
        if (!work)
            return NO_TROUBLE;
        kit_fault(kit, "the file system of %s (%s) is mounted read-only", place->name, place->path);
        return READ_ONLY;
    }
    if (place->space.f_blocks && free_bytes < FULL_BYTES && strcmp(place->name, "shm") != 0) {
        kit_fault(kit, "the file system of %s (%s) is full: %llu bytes are free", place->name, place->path, (unsigned long long)free_bytes);
        return FULL;
    }
    if (place->space.f_files && !place->space.f_favail) {
        kit_fault(kit, "the file system of %s (%s) has no inode left: remove small files", place->name, place->path);
        return NO_INODE;
    }
    return NO_TROUBLE;
}

static void emit_place(struct kit *kit, const struct place *place)
{
    struct mount mount;
    uint64_t free_bytes = (uint64_t)place->space.f_bavail * place->space.f_frsize;
    const enum trouble trouble = judge(kit, place, free_bytes);
    kit_bool(kit, true, place->path, "host.disk.%s.responding", place->name);
    kit_wrong(kit, trouble == FULL);
    kit_u64(kit, free_bytes, "bytes", place->path, "host.disk.%s.free_bytes", place->name);
    /* Some file systems (btrfs, overlays of it) have no fixed number of inodes and tell 0 of 0. */
    kit_wrong(kit, trouble == NO_INODE);
    if (place->space.f_files)
        kit_u64(kit, place->space.f_favail, "inodes", place->path, "host.disk.%s.free_inodes", place->name);
    kit_wrong(kit, trouble == READ_ONLY);
    kit_bool(kit, (place->space.f_flag & ST_RDONLY) != 0, place->path, "host.disk.%s.readonly", place->name);
    if (find_mount(kit, place, &mount))
        kit_string(kit, mount.type, "self/mountinfo", "host.disk.%s.type", place->name);
}

void host_disks(struct kit *kit)
{
    choose_paths(kit);
    start(kit);
    wait_for_answers(kit);
    for (size_t i = 0; i < PLACES; i++) {
        const struct place *place = &places[i];
        if (!place->started)
            kit_log(kit, 0, "%s: no folder to look at", place->name);
        else if (!place->answered)
            emit_silent(kit, place);
        else if (place->error)
            kit_log(kit, 2, "%s: %s: %s", place->name, place->path, strerror(place->error));
        else
            emit_place(kit, place);
    }
    (void)pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < PLACES; i++)
        if (places[i].started && places[i].answered)
            (void)pthread_join(places[i].thread, NULL);
}
