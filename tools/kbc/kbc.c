/* kbc FOLDER FILE: compiles a knowledge folder into a knowledge base. What the build of dtkb itself runs; users have `dtkb kb build`. */
#include <stdio.h>

#include <dtkb/dtkb.h>

int main(int argc, char **argv)
{
    char why[DTKB_ERROR_TEXT_MAX];
    if (argc != 3) {
        fputs("usage: kbc FOLDER FILE\n", stderr);
        return 2;
    }
    if (dtkb_kb_build(argv[1], argv[2], why, sizeof why) == DTKB_OK)
        return 0;
    fprintf(stderr, "%s\n", why);
    return 1;
}
