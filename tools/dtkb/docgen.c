/* Writes the manual pages and the shell completions from the same tables that parse the command line: they can't drift apart.
 * usage: docgen FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void finish(FILE *file)
{
    if (ferror(file) || fclose(file) != 0) {
        perror("docgen");
        exit(1);
    }
}

/* Text for roff: a leading dot or quote and every backslash would be a request. */
static void roff(FILE *out, const char *text)
{
    for (bool start = true; *text; text++) {
        if (start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        start = *text == '\n';
    }
}

static void write_options(FILE *out, const struct command *command)
{
    fputs(".SH OPTIONS\n", out);
    for (int id = 0; id < OPT_COUNT; id++) {
        struct option_text option = option_text((enum option_id)id);
        if (!(command->options & OPTION(id)))
            continue;
        fputs(".TP\n", out);
        if (option.letter)
            fprintf(out, "\\fB\\-%c\\fR, ", option.letter);
        fputs("\\fB\\-\\-", out);
        roff(out, option.name);
        fprintf(out, "\\fR%s%s%s\n", option.argument ? " \\fI" : "", option.argument ? option.argument : "", option.argument ? "\\fR" : "");
        roff(out, option.help);
        fputc('\n', out);
    }
}

static void write_exit_status(FILE *out)
{
    fputs(".SH EXIT STATUS\n.TP\n0\nnothing wrong found, or done\n.TP\n1\na fault found, also one whose cause is unknown\n.TP\n2\nwrong "
          "usage or unreadable "
          "input\n.TP\n3\nthe knowledge base or the installation is broken\n.PP\n\\fBdtkb run\\fR returns the command's own status, 128+N "
          "for a signal.\n",
          out);
}

static void write_verb_page(const char *folder, const struct command *command)
{
    char name[128];
    (void)snprintf(name, sizeof name, "dtkb-%s.1", command->name);
    FILE *out = create(folder, name);
    fprintf(out, ".TH DTKB\\-%s 1 \"\" \"dtkb %s\" \"dtkb manual\"\n.SH NAME\ndtkb\\-%s \\- ", command->name, dtkb_version(),
            command->name);
    roff(out, command->summary);
    fprintf(out, "\n.SH SYNOPSIS\n\\fBdtkb %s\\fR [\\fIOPTION\\fR...] ", command->name);
    roff(out, command->operands);
    fputs("\n.SH DESCRIPTION\n.nf\n", out);
    roff(out, command->details);
    fputs("\n.fi\n", out);
    write_options(out, command);
    write_exit_status(out);
    fputs(".SH EXAMPLE\n.nf\n", out);
    roff(out, command->example);
    fputs("\n.fi\n.SH SEE ALSO\n.BR dtkb (1)\n", out);
    finish(out);
}

static void write_main_page(const char *folder)
{
    FILE *out = create(folder, "dtkb.1");
    fprintf(
        out,
        ".TH DTKB 1 \"\" \"dtkb %s\" \"dtkb manual\"\n.SH NAME\ndtkb \\- what went wrong with a distributed training job\n.SH SYNOPSIS\n"
        "\\fBdtkb\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIOPERAND\\fR...]\n.SH DESCRIPTION\nTells what went wrong with a distributed "
        "training job, "
        "how sure it is, what to do, and who met it before.\n.SH COMMANDS\n",
        dtkb_version());
    for (size_t i = 0; i < command_count; i++) {
        fprintf(out, ".TP\n\\fBdtkb\\-%s\\fR(1)\n", commands[i]->name);
        roff(out, commands[i]->summary);
        fputc('\n', out);
    }
    write_exit_status(out);
    fputs(".SH ENVIRONMENT\n.TP\nDTKB_KB\nthe knowledge base to use\n.TP\nDTKB_PACK_PATH\nfolders of knowledge packs, joined by ':'\n.TP\n"
          "DTKB_PLUGIN_PATH\nfolders of plugins, joined by ':'\n.TP\nNO_COLOR\nno colours\n.SH FILES\n.TP\n"
          "$XDG_DATA_HOME/dtkb/packs, $XDG_DATA_HOME/dtkb/plugins\nthe user's packs and plugins\n",
          out);
    finish(out);
}

static void write_bash(const char *folder)
{
    FILE *out = create(folder, "dtkb.bash");
    fputs("# Completion of dtkb for bash.\n_dtkb() {\n    local verb=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} options=\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '",
          out);
    for (size_t i = 0; i < command_count; i++)
        fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
    fputs("' -- \"$word\"))\n        return\n    fi\n    case $verb in\n", out);
    for (size_t i = 0; i < command_count; i++) {
        fprintf(out, "        %s) options='", commands[i]->name);
        for (int id = 0; id < OPT_COUNT; id++)
            if (commands[i]->options & OPTION(id))
                fprintf(out, " --%s", option_text((enum option_id)id).name);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    case $word in\n        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n        *) "
          "COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
          "    esac\n}\ncomplete -o filenames -F _dtkb dtkb\n",
          out);
    finish(out);
}

/* Text inside single quotes and brackets of zsh's _arguments, or single quotes of fish. */
static void quoted(FILE *out, const char *text, const char *escape)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr(escape, *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void write_zsh(const char *folder)
{
    FILE *out = create(folder, "_dtkb");
    fputs("#compdef dtkb\n# Completion of dtkb for zsh.\n_dtkb() {\n    if (( CURRENT == 2 )); then\n        local -a verbs=(\n", out);
    for (size_t i = 0; i < command_count; i++) {
        fprintf(out, "            '%s:", commands[i]->name);
        quoted(out, commands[i]->summary, ":");
        fputs("'\n", out);
    }
    fputs("        )\n        _describe verb verbs\n        return\n    fi\n    case ${words[2]} in\n", out);
    for (size_t i = 0; i < command_count; i++) {
        fprintf(out, "        %s) _arguments", commands[i]->name);
        for (int id = 0; id < OPT_COUNT; id++) {
            struct option_text option = option_text((enum option_id)id);
            if (!(commands[i]->options & OPTION(id)))
                continue;
            fprintf(out, " '--%s%s[", option.name, option.argument ? "=" : "");
            quoted(out, option.help, "[]:");
            fprintf(out, "]%s'", option.argument ? ":value:_files" : "");
        }
        fputs(" '*:file:_files' ;;\n", out);
    }
    fputs("    esac\n}\n_dtkb \"$@\"\n", out);
    finish(out);
}

static void write_fish(const char *folder)
{
    FILE *out = create(folder, "dtkb.fish");
    fputs("# Completion of dtkb for fish.\n", out);
    for (size_t i = 0; i < command_count; i++) {
        fprintf(out, "complete -c dtkb -n __fish_use_subcommand -a %s -d '", commands[i]->name);
        quoted(out, commands[i]->summary, "");
        fputs("'\n", out);
        for (int id = 0; id < OPT_COUNT; id++) {
            struct option_text option = option_text((enum option_id)id);
            if (!(commands[i]->options & OPTION(id)))
                continue;
            fprintf(out, "complete -c dtkb -n '__fish_seen_subcommand_from %s' -l %s%s -d '", commands[i]->name, option.name,
                    option.argument ? " -r" : "");
            quoted(out, option.help, "");
            fputs("'\n", out);
        }
    }
    finish(out);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fputs("usage: docgen FOLDER\n", stderr), 2;
    write_main_page(argv[1]);
    for (size_t i = 0; i < command_count; i++)
        write_verb_page(argv[1], commands[i]);
    write_bash(argv[1]);
    write_zsh(argv[1]);
    write_fish(argv[1]);
    return 0;
}
