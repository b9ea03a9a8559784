/* Every verb, in the order help and manual list them. */
#include "cli.h"

const struct command *const commands[] = {
    &command_diagnose, &command_run, &command_probe,  &command_search, &command_show,    &command_explain, &command_stats,
    &command_taxonomy, &command_kb,  &command_plugin, &command_mcp,    &command_collect, &command_merge,
};
const size_t command_count = sizeof commands / sizeof *commands;
