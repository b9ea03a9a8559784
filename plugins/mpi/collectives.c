/* dtkb-mpi-rank [ROUNDS]: one MPI rank that runs small collectives and checks every element. The probe starts it, as a process of its own:
 * MPI ends the process it is in when MPI_Init() fails, and blocks for ever when a rank is lost. What it does goes line by line to stdout,
 * for the probe and beside whatever MPI prints:
 *   @dtkb RANK version TEXT | world SIZE | begin STEP NAME BYTES | end NAME BYTES SECONDS | wrong NAME BYTES ELEMENT GOT WANTED
 *              | error NAME BYTES CLASS TEXT | finalize STEP | done */
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "steps.h"

#define REPEATS 2

struct world {
    int rank, size, root;
    int64_t salt; /* differs from operation to operation, so that a result of the last one is no right one for this */
    int64_t *out, *in;
};

/* One line with one write(), so that lines of several ranks stay whole on their way through the launcher. */
__attribute__((format(printf, 2, 3))) static void tell(const struct world *world, const char *format, ...)
{
    char line[512];
    va_list args;
    int length = snprintf(line, sizeof line, "@dtkb %d ", world->rank);
    va_start(args, format);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, args);
    va_end(args);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    for (int i = 0; i < length; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    line[length++] = '\n';
    if (write(STDOUT_FILENO, line, (size_t)length) < 0)
        _exit(1); /* nobody listens */
}

/* What rank `rank` contributes at `index`; a sum over ranks stays far from overflow. */
static int64_t factor(const struct world *world, size_t index)
{
    return (int64_t)(index % 251) + world->salt;
}

static int64_t value(const struct world *world, int rank, size_t index)
{
    return (rank + 1) * factor(world, index);
}

static int64_t sum(const struct world *world, size_t index)
{
    return factor(world, index) * world->size * (world->size + 1) / 2;
}

static void fill(const struct world *world, size_t count, size_t out_count)
{
    for (size_t i = 0; i < out_count; i++)
        world->out[i] = value(world, world->rank, i);
    memset(world->in, 0xff, count * sizeof *world->in);
}

/* Elements each rank gets of a buffer that all share. */
static size_t share(const struct world *world, size_t count)
{
    return count / (size_t)world->size ? count / (size_t)world->size : 1;
}

/* ---- the collectives: run, and what element `index` of the result must be; the result's length ---- */

static int run_allreduce(struct world *world, size_t count)
{
    return MPI_Allreduce(world->out, world->in, (int)count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}
static int64_t want_allreduce(const struct world *world, size_t count, size_t index)
{
    (void)count;
    return sum(world, index);
}

static int run_broadcast(struct world *world, size_t count)
{
    if (world->rank == world->root)
        memcpy(world->in, world->out, count * sizeof *world->in);
    return MPI_Bcast(world->in, (int)count, MPI_INT64_T, world->root, MPI_COMM_WORLD);
}
static int64_t want_broadcast(const struct world *world, size_t count, size_t index)
{
    (void)count;
    return value(world, world->root, index);
}

static int run_allgather(struct world *world, size_t count)
{
    int each = (int)share(world, count);
    return MPI_Allgather(world->out, each, MPI_INT64_T, world->in, each, MPI_INT64_T, MPI_COMM_WORLD);
}
static int64_t want_allgather(const struct world *world, size_t count, size_t index)
{
    size_t each = share(world, count);
    return value(world, (int)(index / each), index % each);
}

static int run_reducescatter(struct world *world, size_t count)
{
    return MPI_Reduce_scatter_block(world->out, world->in, (int)share(world, count), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}
static int64_t want_reducescatter(const struct world *world, size_t count, size_t index)
{
    return sum(world, (size_t)world->rank * share(world, count) + index);
}

static int run_sendrecv(struct world *world, size_t count)
{
    int next = (world->rank + 1) % world->size, last = (world->rank + world->size - 1) % world->size;
    return MPI_Sendrecv(world->out, (int)count, MPI_INT64_T, next, 7, world->in, (int)count, MPI_INT64_T, last, 7, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE);
}
static int64_t want_sendrecv(const struct world *world, size_t count, size_t index)
{
    (void)count;
    return value(world, (world->rank + world->size - 1) % world->size, index);
}

enum extent { WHOLE, SHARE, SHARES };
static const struct collective {
    int (*run)(struct world *, size_t);
    int64_t (*want)(const struct world *, size_t count, size_t index);
    enum extent out, in;
} collectives[COLLECTIVES] = {
    [ALLREDUCE] = {run_allreduce, want_allreduce, WHOLE, WHOLE},  [BROADCAST] = {run_broadcast, want_broadcast, WHOLE, WHOLE},
    [ALLGATHER] = {run_allgather, want_allgather, SHARE, SHARES}, [REDUCESCATTER] = {run_reducescatter, want_reducescatter, SHARES, SHARE},
    [SENDRECV] = {run_sendrecv, want_sendrecv, WHOLE, WHOLE},
};

static size_t length(const struct world *world, enum extent extent, size_t count)
{
    size_t each = share(world, count);
    return extent == WHOLE ? count : extent == SHARE ? each : each * (size_t)world->size;
}

/* ---- running them ---- */

static const char *class_name(int error, char *text)
{
    static const struct {
        int class;
        const char *name;
    } names[] = {{MPI_ERR_COMM, "MPI_ERR_COMM"},     {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE"}, {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM"},
                 {MPI_ERR_INTERN, "MPI_ERR_INTERN"}, {MPI_ERR_OTHER, "MPI_ERR_OTHER"},       {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN"}};
    int class = 0, size = 0;
    *text = '\0';
    (void)MPI_Error_class(error, &class);
    (void)MPI_Error_string(error, text, &size);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].class == class)
            return names[i].name;
    return "MPI_ERR_OTHER";
}

static bool check(const struct world *world, const struct collective *collective, const char *name, size_t bytes, size_t count)
{
    size_t elements = length(world, collective->in, count);
    for (size_t i = 0; i < elements; i++) {
        int64_t want = collective->want(world, count, i);
        if (world->in[i] == want)
            continue;
        tell(world, "wrong %s %zu %zu %lld %lld", name, bytes, i, (long long)world->in[i], (long long)want);
        return false;
    }
    return true;
}

static bool run_one(struct world *world, const struct collective *collective, const char *name, size_t bytes)
{
    size_t count = bytes / sizeof(int64_t);
    double best = 0;
    for (int i = 0; i < REPEATS; i++) {
        char text[MPI_MAX_ERROR_STRING + 1];
        world->salt++;
        world->root = (int)(world->salt % world->size);
        fill(world, length(world, collective->in, count), length(world, collective->out, count));
        double start = MPI_Wtime();
        int error = collective->run(world, count);
        double seconds = MPI_Wtime() - start;
        if (error != MPI_SUCCESS) {
            const char *class = class_name(error, text);
            tell(world, "error %s %zu %s %s", name, bytes, class, text);
            return false;
        }
        if (!check(world, collective, name, bytes, count))
            return false;
        best = i == 0 || seconds < best ? seconds : best;
    }
    tell(world, "end %s %zu %.9f", name, bytes, best);
    return true;
}

static bool run_all(struct world *world, int rounds)
{
    unsigned step = 1; /* MPI_Init */
    for (int round = 0; round < rounds; round++)
        for (int c = 0; c < COLLECTIVES; c++)
            for (int s = 0; s < SIZES; s++) {
                tell(world, "begin %u %s %zu", ++step, collective_names[c], step_sizes[s]);
                if (!run_one(world, &collectives[c], collective_names[c], step_sizes[s]))
                    return false;
            }
    tell(world, "finalize %u", ++step);
    return true;
}

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int size = 0, rounds = argc > 1 ? atoi(argv[1]) : 1;
    struct world world = {.rank = -1};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* the probe's deadline holds for us too */
    (void)MPI_Get_library_version(version, &size);
    tell(&world, "version %s", version);
    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    tell(&world, "world %d", world.size);
    size_t elements = step_sizes[SIZES - 1] / sizeof(int64_t) + (size_t)world.size;
    world.out = malloc(elements * sizeof *world.out);
    world.in = malloc(elements * sizeof *world.in);
    if (!world.out || !world.in) {
        tell(&world, "error init 0 MPI_ERR_NO_MEM no memory for the buffers");
        return 1;
    }
    if (!run_all(&world, rounds))
        (void)pause(); /* the probe ends us; leaving now would look like a second trouble to the other ranks */
    (void)MPI_Finalize();
    tell(&world, "done");
    free(world.out);
    free(world.in);
    return 0;
}
