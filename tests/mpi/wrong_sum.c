/* Put before MPI with LD_PRELOAD: on rank WRONG_RANK, element 5 of every all-reduce of more than one element is one too much. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator)
{
    const char *wrong = getenv("WRONG_RANK");
    int rank = 0, error = PMPI_Allreduce(out, in, count, type, operation, communicator);
    (void)PMPI_Comm_rank(communicator, &rank);
    if (wrong && rank == atoi(wrong) && count > 5)
        ((int64_t *)in)[5]++;
    return error;
}
