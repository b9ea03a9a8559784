// The verification kernel: fills memory with a pattern that depends on the place, and counts the words that differ from it.
// verify_sm60.ptx does the same for drivers and GPUs that refuse what this file compiles to; the two are kept in step by a test.
typedef unsigned int word;
typedef unsigned long long length;

__device__ static word pattern(length index, word seed)
{
    return ((word)index * 2654435761u) ^ seed;
}

extern "C" __global__ void dtkb_fill(word *memory, length count, word seed)
{
    for (length i = (length)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (length)gridDim.x * blockDim.x)
        memory[i] = pattern(i, seed);
}

// found[0]: words that differ; found[1]: the lowest index of one.
extern "C" __global__ void dtkb_check(const word *memory, length count, word seed, length *found)
{
    for (length i = (length)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (length)gridDim.x * blockDim.x)
        if (memory[i] != pattern(i, seed)) {
            atomicAdd(&found[0], 1ull);
            atomicMin(&found[1], i);
        }
}
