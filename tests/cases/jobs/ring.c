/* A small MPI job that passes a token round, or fails in a chosen way: ring MODE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void healthy(void)
{
    double local = rank + 1.0, sum = 0.0;

    for (int step = 0; step < 5; step++) {
        MPI_Allreduce(&local, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0)
            printf("step %d sum %.1f expected %.1f errors 0\n", step, sum, size * (size + 1) / 2.0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d of %d done\n", rank, size);
}

static void truncate_message(void)
{
    int big[64] = {0}, small[8];

    if (rank == 0)
        MPI_Send(big, 64, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(small, 8, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bad_rank(void)
{
    int value = 1;

    MPI_Send(&value, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD);
}

static void abort_job(void)
{
    if (rank == 1) {
        fprintf(stderr, "rank 1: loss is not finite, giving up\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void segfault(void)
{
    if (rank == 1) {
        int *volatile nowhere = NULL;
        *nowhere = 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void early_exit(void)
{
    if (rank == 1)
        exit(0);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"healthy", healthy}, {"truncate", truncate_message}, {"bad-rank", bad_rank},
                 {"abort", abort_job}, {"segfault", segfault},         {"early-exit", early_exit}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (argc == 2 && strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            MPI_Finalize();
            return 0;
        }
    }
    if (rank == 0)
        fprintf(stderr, "usage: ring MODE (healthy, truncate, bad-rank, abort, segfault, early-exit)\n");
    MPI_Finalize();
    return 2;
}
