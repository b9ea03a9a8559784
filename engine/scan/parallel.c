/*
 * A regular file by several threads. Each takes the next block, reads and searches it; then, in the order of the blocks, turns what was
 * found into evidence. So the searching runs side by side while the result is that of one thread, byte for byte.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scan/scan_private.h"

#define THREADS_MAX 4
#define BLOCKS_PER_THREAD 8 /* fewer don't pay for starting one */

struct job {
    struct scan *scan;
    struct stream *stream;
    int fd;
    uint64_t size, blocks;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    uint64_t next_block; /* to be searched */
    uint64_t turn;       /* to be turned into evidence */
    dtkb_status status;
    int error; /* errno of a failed read */
};

static bool read_fully(int fd, char *to, size_t length, uint64_t offset, size_t *got)
{
    *got = 0;
    while (*got < length) {
        ssize_t n = pread(fd, to + *got, length - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0)
            break; /* the file shrank meanwhile */
        *got += (size_t)n;
    }
    return true;
}

/* Fills the block from the file, with its margins. */
static bool load(const struct job *job, uint64_t index, struct block *block)
{
    uint64_t offset = index * BLOCK_BYTES, rest = job->size - offset;
    block->lead = offset ? BLOCK_MARGIN : 0;
    block->offset = offset;
    size_t wanted = rest < BLOCK_BYTES + BLOCK_MARGIN ? (size_t)rest : BLOCK_BYTES + BLOCK_MARGIN, got;
    if (!read_fully(job->fd, block->data, block->lead + wanted, offset - block->lead, &got))
        return false;
    size_t own = got > block->lead ? got - block->lead : 0;
    if (got < block->lead)
        memset(block->data + got, '\n', block->lead - got);
    block->length = own < BLOCK_BYTES ? own : BLOCK_BYTES;
    block->tail = own - block->length;
    return true;
}

static void *work(void *context)
{
    struct job *job = context;
    struct finder finder = {0};
    struct block block = {0};
    dtkb_status status = finder_open(&finder, job->scan->db) && block_open(&block, BLOCK_ROOM) ? DTKB_OK : DTKB_E_NOMEM;
    while (true) {
        (void)pthread_mutex_lock(&job->lock);
        uint64_t index = job->next_block++;
        bool stop = index >= job->blocks || job->status != DTKB_OK;
        (void)pthread_mutex_unlock(&job->lock);
        if (stop)
            break;
        int error = 0;
        bool last = index + 1 == job->blocks;
        if (status == DTKB_OK && !load(job, index, &block)) {
            error = errno;
            status = DTKB_E_IO;
        }
        if (status == DTKB_OK) {
            block_trim(&block, last);
            block_search(&block, &finder);
        }
        (void)pthread_mutex_lock(&job->lock);
        while (job->turn != index)
            (void)pthread_cond_wait(&job->turned, &job->lock);
        if (job->status == DTKB_OK && status == DTKB_OK && scan_cancelled(job->scan))
            status = DTKB_E_CANCELLED;
        if (job->status == DTKB_OK) {
            job->status = status;
            job->error = error;
        }
        if (job->status == DTKB_OK) {
            stream_block(job->stream, &job->scan->collect, &block, last);
            scan_progress(job->scan, (index + 1) * BLOCK_BYTES < job->size ? (index + 1) * BLOCK_BYTES : job->size, job->size);
        }
        job->turn++;
        (void)pthread_cond_broadcast(&job->turned);
        (void)pthread_mutex_unlock(&job->lock);
    }
    finder_close(&finder);
    block_close(&block);
    return NULL;
}

static unsigned thread_count(const struct scan *scan, uint64_t blocks)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned most = scan->options.threads ? scan->options.threads : cpus > 0 ? (unsigned)cpus : 1;
    if (most > THREADS_MAX)
        most = THREADS_MAX;
    uint64_t useful = blocks / BLOCKS_PER_THREAD + 1;
    return useful < most ? (unsigned)useful : most;
}

static void run(struct job *job)
{
    pthread_t threads[THREADS_MAX];
    unsigned started = 0;
    for (unsigned wanted = thread_count(job->scan, job->blocks); started + 1 < wanted; started++)
        if (pthread_create(&threads[started], NULL, work, job) != 0)
            break; /* fewer then */
    (void)work(job);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
}

dtkb_status scan_regular(struct scan *scan, const char *name, int fd, uint64_t size, struct err *err)
{
    uint32_t file;
    dtkb_status status = scan_add_file(scan, name, &file, err);
    struct stream *stream = status == DTKB_OK ? calloc(1, sizeof *stream) : NULL;
    if (status != DTKB_OK)
        return status;
    if (!stream || !stream_open(stream, scan->db, file, scan->files[file].rank)) {
        free(stream);
        return err_nomem(err);
    }
    struct job job = {.scan = scan, .stream = stream, .fd = fd, .size = size, .blocks = (size + BLOCK_BYTES - 1) / BLOCK_BYTES};
    (void)pthread_mutex_init(&job.lock, NULL);
    (void)pthread_cond_init(&job.turned, NULL);
    run(&job);
    (void)pthread_cond_destroy(&job.turned);
    (void)pthread_mutex_destroy(&job.lock);
    scan->files[file].bytes = size;
    scan->files[file].lines = stream->lines_read;
    stream_close(stream);
    free(stream);
    if (job.status == DTKB_E_IO)
        return err_set(err, DTKB_E_IO, "%s: cannot be read: %s", name, strerror(job.error));
    if (job.status == DTKB_E_CANCELLED)
        return err_set(err, DTKB_E_CANCELLED, "%s: reading was cancelled", name);
    return job.status == DTKB_OK ? DTKB_OK : err_nomem(err);
}
