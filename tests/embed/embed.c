/* A host program as strict as they come: many threads, many logs, some cancelled; nothing printed, no signal handler changed, no descriptor
 * leaked, no child left. usage: embed KB LOGS-PER-THREAD LOG... */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dtkb/dtkb.h>

#define THREADS 8

struct task {
    const char *kb;
    char **texts;
    size_t text_count, logs, number;
    size_t faults, healthy, cancelled;
    char error[DTKB_ERROR_TEXT_MAX];
};

static void *cancel(void *diagnosis)
{
    dtkb_diagnosis_cancel(diagnosis);
    return NULL;
}

/* One log; of seven, one is cancelled from another thread half-way, and one while it is being fed. */
static dtkb_status run_one(struct task *task, dtkb *engine, size_t i)
{
    const char *text = task->texts[(i + task->number) % task->text_count];
    size_t half = strlen(text) / 2;
    dtkb_diagnosis *diagnosis;
    dtkb_doc *report;
    dtkb_status status = dtkb_diagnosis_new(engine, NULL, &diagnosis);
    if (status != DTKB_OK)
        return status;
    status = dtkb_feed(diagnosis, "log", text, half);
    pthread_t thread;
    bool half_way = i % 7 == 3, meanwhile = i % 7 == 5;
    bool cancelling = (half_way || meanwhile) && pthread_create(&thread, NULL, cancel, diagnosis) == 0;
    if (cancelling && half_way)
        pthread_join(thread, NULL);
    if (status == DTKB_OK)
        status = dtkb_feed(diagnosis, "log", text + half, strlen(text) - half);
    if (status == DTKB_OK)
        status = dtkb_conclude(diagnosis, &report);
    if (status == DTKB_OK) {
        task->faults += dtkb_doc_verdict(report) == DTKB_VERDICT_FAULT;
        task->healthy += dtkb_doc_verdict(report) == DTKB_VERDICT_NO_FAULT;
        dtkb_doc_free(report);
    }
    if (cancelling && meanwhile)
        pthread_join(thread, NULL);
    task->cancelled += status == DTKB_E_CANCELLED;
    dtkb_diagnosis_free(diagnosis);
    return status == DTKB_E_CANCELLED ? DTKB_OK : status;
}

/* A look at the machine, which runs a helper program. */
static void probe_once(struct task *task, dtkb *engine)
{
    dtkb_doc *report;
    if (dtkb_probe(engine, "host", NULL, &report) == DTKB_OK)
        dtkb_doc_free(report);
    else
        snprintf(task->error, sizeof task->error, "%s", dtkb_error(engine));
}

static void *work(void *argument)
{
    struct task *task = argument;
    dtkb_open_options options = DTKB_OPEN_OPTIONS_INIT;
    dtkb *engine;
    options.kb = task->kb;
    options.no_default_packs = 1;
    if (dtkb_open(&engine, &options, task->error, sizeof task->error) != DTKB_OK)
        return NULL;
    for (size_t i = 0; i < task->logs && !*task->error; i++)
        if (run_one(task, engine, i) != DTKB_OK)
            snprintf(task->error, sizeof task->error, "%s", dtkb_error(engine));
    if (!*task->error)
        probe_once(task, engine);
    dtkb_close(engine);
    return NULL;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!file || !text) {
        perror(path);
        exit(2);
    }
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* Handlers and mask of every signal, to be compared byte by byte. */
struct signals {
    struct sigaction actions[NSIG];
    sigset_t mask;
};

static void look_at_signals(struct signals *out)
{
    memset(out, 0, sizeof *out);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, NULL, &out->actions[number]);
    sigprocmask(SIG_BLOCK, NULL, &out->mask);
}

static bool same_signals(const struct signals *a, const struct signals *b)
{
    for (int number = 1; number < NSIG; number++)
        if (a->actions[number].sa_handler != b->actions[number].sa_handler)
            return false;
    return !memcmp(&a->mask, &b->mask, sizeof a->mask);
}

int main(int argc, char **argv)
{
    static struct signals before, after;
    struct task tasks[THREADS] = {0};
    pthread_t threads[THREADS];
    if (argc < 4)
        return fputs("usage: embed KB LOGS-PER-THREAD LOG...\n", stderr), 2;
    size_t text_count = (size_t)argc - 3, faults = 0, healthy = 0, cancelled = 0, wrong = 0;
    char **texts = calloc(text_count, sizeof *texts);
    for (size_t i = 0; texts && i < text_count; i++)
        texts[i] = read_text(argv[i + 3]);
    look_at_signals(&before);
    size_t descriptors = open_descriptors();
    for (size_t i = 0; i < THREADS; i++) {
        tasks[i] = (struct task){.kb = argv[1], .texts = texts, .text_count = text_count, .logs = strtoul(argv[2], NULL, 10), .number = i};
        pthread_create(&threads[i], NULL, work, &tasks[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (*tasks[i].error)
            wrong += fprintf(stderr, "thread %zu: %s\n", i, tasks[i].error) > 0;
        faults += tasks[i].faults;
        healthy += tasks[i].healthy;
        cancelled += tasks[i].cancelled;
    }
    look_at_signals(&after);
    if (open_descriptors() != descriptors)
        wrong += fprintf(stderr, "descriptors: %zu before, %zu after\n", descriptors, open_descriptors()) > 0;
    if (!same_signals(&before, &after))
        wrong += fputs("a signal handler or the mask changed\n", stderr) >= 0;
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        wrong += fputs("a child was left\n", stderr) >= 0;
    if (!faults || !healthy || !cancelled)
        wrong += fprintf(stderr, "not all ways were taken: %zu faults, %zu healthy, %zu cancelled\n", faults, healthy, cancelled) > 0;
    for (size_t i = 0; texts && i < text_count; i++)
        free(texts[i]);
    free(texts);
    return wrong ? 1 : 0;
}
