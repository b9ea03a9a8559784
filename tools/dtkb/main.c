/* dtkb: the command line. Results go to stdout, everything else to stderr. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static void usage(FILE *out)
{
    fputs("dtkb tells what went wrong with a distributed training job, how sure it is, what to do, and who met it before.\n\n"
          "usage: dtkb COMMAND [OPTION...] [OPERAND...]\n\n",
          out);
    for (size_t i = 0; i < command_count; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n'dtkb COMMAND --help' explains one. Begin with: dtkb diagnose train.log\n", out);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return EXIT_CLEAN;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("dtkb %s\n", dtkb_version());
        return EXIT_CLEAN;
    }
    for (size_t i = 0; i < command_count; i++) {
        struct options options;
        if (strcmp(argv[1], commands[i]->name) != 0)
            continue;
        int status = options_parse(commands[i], argc - 1, argv + 1, &options);
        if (status < 0)
            return commands[i]->run(commands[i], &options);
        return status == EXIT_CLEAN ? status : failure_exit(&options, status);
    }
    fprintf(stderr, "dtkb: no command '%s'; 'dtkb --help' lists them\n", argv[1]);
    return EXIT_USAGE;
}
