#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "job.h"
#include "stall.h"

static void report_stall(struct job *job, double seconds, void *context)
{
    (void)context;
    fprintf(stderr, "\ndtkb run: no output for %.0f s; the job goes on. Its processes:\n", seconds);
    stall_describe(job->pid, stderr);
}

/* The job's end as launchers print it, so that the reader of logs knows it too. */
static dtkb_status feed_end(const struct job *job, dtkb_diagnosis *diagnosis)
{
    char line[96] = "";
    const char *rank = getenv("RANK")                   ? getenv("RANK")
                       : getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK")
                                                        : getenv("SLURM_PROCID");
    int code = WIFSIGNALED(job->wait_status) ? -WTERMSIG(job->wait_status) : WEXITSTATUS(job->wait_status);
    int length = rank ? snprintf(line, sizeof line, "\nrank %.8s exit code %d\n", rank, code)
                      : snprintf(line, sizeof line, "\nprocess exits with return code = %d\n", code);
    return dtkb_feed(diagnosis, "dtkb run", line, (size_t)length);
}

static dtkb_status feed_job(const struct job *job, dtkb_diagnosis *diagnosis)
{
    static const char *const names[] = {"stdout", "stderr"};
    dtkb_status status = DTKB_OK;
    for (int i = 0; status == DTKB_OK && i < job->streams && i < 2; i++)
        status = window_feed(&job->windows[i], diagnosis, job->streams == 1 ? "output" : names[i]);
    return status == DTKB_OK ? feed_end(job, diagnosis) : status;
}

/* After a failure: the diagnosis, to stderr (stdout is the job's own) or to -o FILE. */
static void diagnose_job(const struct command *command, const struct options *options, const struct job *job)
{
    int ignored = 0;
    dtkb *engine = open_engine(command, options, &ignored);
    dtkb_diagnosis *diagnosis;
    dtkb_doc *report = NULL;
    if (!engine)
        return;
    dtkb_diagnose_options how = diagnose_options(options);
    dtkb_status status = dtkb_diagnosis_new(engine, &how, &diagnosis);
    if (status == DTKB_OK) {
        status = feed_job(job, diagnosis);
        if (status == DTKB_OK && (status = dtkb_conclude(diagnosis, &report)) == DTKB_OK) {
            fputs("\n---- dtkb ----\n", stderr);
            write_document_to(command, options, report, stderr);
        }
        dtkb_diagnosis_free(diagnosis);
    }
    if (status != DTKB_OK)
        engine_failed(command, engine, status);
    dtkb_close(engine);
}

static int run(const struct command *command, const struct options *options)
{
    struct job job = {.stall = options->stall, .stalled = report_stall};
    int status = job_run(&job, options->operands);
    if (!status) {
        status = job_exit_status(&job);
        if (status)
            diagnose_job(command, options, &job);
    }
    job_free(&job);
    return status;
}

const struct command command_run = {
    .name = "run",
    .operands = "-- CMD [ARG...]",
    .summary = "run a job unchanged; when it fails, print the diagnosis after its output",
    .details = "Output, signals, terminal and exit status are the job's own (128+N for a signal). The diagnosis goes to stderr, or\n"
               "to the file that -o names. Works around a launcher and, one per rank, under it.\n"
               "With --stall, a silent job's processes, their stacks (py-spy or gdb) and NCCL's RAS service are asked what they wait for.",
    .example = "dtkb run --stall 600 -- torchrun --nproc-per-node 8 train.py",
    .options = OPTIONS_COMMON | OPTION(OPT_PROBE) | OPTION(OPT_TIMEOUT) | OPTION(OPT_BUDGET) | OPTION(OPT_SET) | OPTION(OPT_STALL) |
               OPTION(OPT_PLUGINS) | OPTION(OPT_EXPLAIN),
    .minimum = 1,
    .maximum = -1,
    .command_line = true,
    .run = run,
};
