#include "kb/boilerplate.h"

#include <string.h>

static bool has(const char *line, size_t length, const char *const *parts)
{
    for (; *parts; parts++)
        if (memmem(line, length, *parts, strlen(*parts)))
            return true;
    return false;
}

static bool is_one_of(const char *line, size_t length, const char *const *lines)
{
    for (; *lines; lines++)
        if (strlen(*lines) == length && !memcmp(line, *lines, length))
            return true;
    return false;
}

static bool begins(const char *line, size_t length, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (strlen(*beginnings) <= length && !memcmp(line, *beginnings, strlen(*beginnings)))
            return true;
    return false;
}

/* torchrun, torch.distributed.launch, accelerate launch and the deepspeed launcher end with a traceback of their own when a rank fails. */
static const char *const frames[] = {"torch/distributed/run.py\", line",
                                     "torch/distributed/launch.py\", line",
                                     "torch/distributed/launcher/api.py\", line",
                                     "torch/distributed/elastic/multiprocessing/errors/__init__.py\", line",
                                     "torch/distributed/elastic/agent/server/api.py\", line",
                                     "torch/distributed/elastic/metrics/api.py\", line",
                                     "torch/distributed/c10d_logger.py\", line",
                                     ", in _wrapped_call_impl",
                                     ", in _call_impl",
                                     "bin/torchrun\", line",
                                     "bin/accelerate\", line",
                                     "bin/deepspeed\", line",
                                     "accelerate/commands/launch.py\", line",
                                     "accelerate/commands/accelerate_cli.py\", line",
                                     "deepspeed/launcher/launch.py\", line",
                                     "runpy.py\", line",
                                     "<frozen runpy>\", line",
                                     NULL};
static const char *const sources[] = {"sys.exit(main())",
                                      "sys.exit(launch())",
                                      "main()",
                                      "main(args)",
                                      "run(args)",
                                      "launch(args)",
                                      "elastic_launch(",
                                      ")(*cmd_args)",
                                      "return launch_agent(",
                                      "return launch_agent(self._config, self._entrypoint, list(args))",
                                      "raise ChildFailedError(",
                                      "failures=result.failures,",
                                      "result = agent.run()",
                                      "result = f(*args, **kwargs)",
                                      "return f(*args, **kwargs)",
                                      "return func(*args, **kwargs)",
                                      "return self._call_impl(*args, **kwargs)",
                                      "return forward_call(*args, **kwargs)",
                                      "args.func(args)",
                                      "distrib_run.run(args)",
                                      "multi_gpu_launcher(args)",
                                      "deepspeed_launcher(args)",
                                      "launch_command(args)",
                                      "return _run_code(code, main_globals, None,",
                                      "exec(code, run_globals)",
                                      "Traceback (most recent call last):",
                                      "Failures:",
                                      "<NO_OTHER_FAILURES>",
                                      "Root Cause (first observed failure):",
                                      "Root Cause:",
                                      "Other Failures:",
                                      NULL};
static const char *const table[] = {"time      :", "host      :", "error_file:", "traceback : To enable traceback", NULL};
static const char *const notices[] = {"Setting OMP_NUM_THREADS environment variable for each process",
                                      "elastic.multiprocessing.errors.ChildFailedError",
                                      "closing signal SIGTERM",
                                      "detected that one or more processes exited with non-zero status",
                                      "the job to be terminated. The first process to do so was",
                                      "Primary job  terminated normally, but",
                                      "Per user-direction, the job has been aborted",
                                      "Process name: [[",
                                      NULL};

/* Bytes of "[rank1]: ", "[1,0]<stderr>:" or blanks before the line's own text. */
static size_t prefix_length(const char *line, size_t length)
{
    const char *colon = length && *line == '[' ? memchr(line, ':', length) : NULL;
    size_t at = colon && (colon[-1] == ']' || colon[-1] == '>') ? (size_t)(colon - line) + 1 : 0;
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at;
}

bool is_boilerplate(const char *line, size_t length)
{
    size_t prefix = prefix_length(line, length);
    line += prefix;
    length -= prefix;
    while (length && strchr(" \t\r", line[length - 1]))
        length--;
    return has(line, length, frames) || is_one_of(line, length, sources) || begins(line, length, table) || has(line, length, notices);
}
