/* A library that has a vendor's name and none of its functions. */
int fake_empty(void);

__attribute__((visibility("default"))) int fake_empty(void)
{
    return 0;
}
