/* libcudart.so.13: tells its version, which is all the probe asks of the runtime library. */
int cudaRuntimeGetVersion(int *version);

__attribute__((visibility("default"))) int cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return 0;
}
