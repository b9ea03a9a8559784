#include "probe/host/host.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { EXIT_USAGE = 64, EXIT_NO_DESCRIPTOR = 65 };

/* Moves the descriptor out of reach of a plugin that closes or inherits low ones, and out of its children. */
static bool open_wire(void)
{
    const char *number = getenv("DTKB_FD");
    int fd = number ? fcntl(atoi(number), F_DUPFD_CLOEXEC, 200) : -1;
    if (fd < 0)
        fd = number ? fcntl(atoi(number), F_DUPFD_CLOEXEC, 10) : -1;
    if (fd < 0)
        return false;
    (void)close(atoi(number));
    wire_open(fd);
    return true;
}

static const char *result_name(dtkb_result result)
{
    static const char *const names[] = {"ok", "fault", "skipped", "unavailable", "stopped", "error"};
    return result >= 0 && (size_t)result < sizeof names / sizeof *names ? names[result] : "error";
}

static unsigned count_entries(const char *folder)
{
    DIR *dir = opendir(folder);
    unsigned count = 0;
    while (dir && readdir(dir))
        count++;
    if (dir)
        (void)closedir(dir);
    return count;
}

static int run_probe(const char *file, const char *name)
{
    struct plugin plugin;
    char why[512];
    if (!plugin_load(file, &plugin, why, sizeof why)) {
        wire_message("reason", why);
        wire_message("result", "unavailable");
        return 0;
    }
    for (size_t i = 0; i < plugin.description->probe_count; i++) {
        const dtkb_probe_v1 *probe = plugin_probe(plugin.description, i);
        if (strcmp(probe->name, name) != 0)
            continue;
        dtkb_call_v1 call;
        if (!call_from_environment(&call, probe->name))
            return EXIT_USAGE;
        bool count = getenv("DTKB_COUNT_LEFT") != NULL;
        unsigned files = count ? count_entries("/proc/self/fd") : 0, threads = count ? count_entries("/proc/self/task") : 0;
        dtkb_result result = probe->run(&host_services, &call);
        call_release();
        if (count) {
            wire_begin();
            wire_key("left");
            wire_string("descriptors and threads");
            wire_key("descriptors");
            wire_i64((int64_t)count_entries("/proc/self/fd") - files);
            wire_key("threads");
            wire_i64((int64_t)count_entries("/proc/self/task") - threads);
            wire_end();
        }
        wire_message("result", result_name(result));
        return 0;
    }
    wire_message("reason", "the plugin has no such probe");
    wire_message("result", "unavailable");
    return 0;
}

static int describe_file(const char *file)
{
    struct plugin plugin;
    char why[512];
    if (plugin_load(file, &plugin, why, sizeof why))
        describe(&plugin);
    else
        wire_message("refused", why);
    return 0;
}

/* Runs a program where no network is, for the conformance check. */
static int run_offline(char **arguments)
{
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        (void)fprintf(stderr, "dtkb-probe-host: cannot make an empty network namespace: %s\n", strerror(errno));
        return EXIT_USAGE;
    }
    (void)execv(arguments[0], arguments);
    (void)fprintf(stderr, "dtkb-probe-host: cannot run %s: %s\n", arguments[0], strerror(errno));
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    /* Whoever asked has gone: nobody will end us at the deadline. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = EXIT_USAGE;
    if (argc >= 3 && !strcmp(argv[1], "offline"))
        return run_offline(argv + 2);
    if ((argc == 3 && !strcmp(argv[1], "describe")) || (argc == 4 && !strcmp(argv[1], "run"))) {
        if (!open_wire()) {
            (void)fputs("dtkb-probe-host: DTKB_FD names no open descriptor\n", stderr);
            return EXIT_NO_DESCRIPTOR;
        }
        status = argc == 3 ? describe_file(argv[2]) : run_probe(argv[2], argv[3]);
    } else {
        (void)fputs("usage: dtkb-probe-host describe FILE | run FILE PROBE | offline PROGRAM ARGUMENT...\n"
                    "Started by libdtkb; writes JSON lines to the descriptor that DTKB_FD names.\n",
                    stderr);
    }
    /* No destructor of a plugin runs: all has been said, and what it breaks now would only blur that. */
    (void)fflush(NULL);
    _exit(status);
}
