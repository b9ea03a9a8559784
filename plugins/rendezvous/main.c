/* The probe `rendezvous`: can the ranks of this job meet at MASTER_ADDR and MASTER_PORT, and if not, where else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

#define SECOND 1000000000u
#define TURN_NS 50000000u
#define LAST_WORDS_NS 500000000u

enum { WORK_KNOCK = 1, WORK_SUMMARY };

_Static_assert(sizeof(struct summary) <= ROLL_GIFT_MAX && sizeof(struct offer) <= ROLL_GIFT_MAX, "both travel with the roll call");

static bool may_wait(struct run *run)
{
    return !kit_stop(&run->kit) && run->kit.host->now_ns() + LAST_WORDS_NS < run->kit.call->deadline_ns;
}

/* ---- rank 0 ---- */

static void ask_all(struct run *run)
{
    const uint32_t status = run->own;
    for (uint32_t rank = 0; rank < run->job.size; rank++)
        roll_hand_out(run->roll, rank, WORK_KNOCK, &status, sizeof status);
    run->asked = true;
}

static void add_rank(char *list, size_t size, uint32_t rank)
{
    size_t length = strlen(list);
    if (length + 12 < size)
        (void)snprintf(list + length, size - length, "%s%u", length ? "," : "", rank);
}

/* Once all have answered: the gravest of what they saw, and who saw it. */
static void sum_up(struct run *run)
{
    struct summary summary = {.status = run->own};
    for (uint32_t rank = 0; rank < run->job.size; rank++) {
        const uint32_t *answer = roll_answered(run->roll, rank, WORK_KNOCK);
        if (!answer)
            return;
        if (*answer > summary.status)
            summary = (struct summary){.status = *answer, .rank = rank};
        if (*answer && *answer == summary.status)
            add_rank(summary.ranks, sizeof summary.ranks, rank);
    }
    (void)snprintf(summary.host, sizeof summary.host, "%s", roll_host(run->roll, summary.rank));
    for (uint32_t rank = 0; rank < run->job.size; rank++)
        roll_hand_out(run->roll, rank, WORK_SUMMARY, &summary, sizeof summary);
}

/* ---- every rank ---- */

static void take_work(struct run *run)
{
    char bytes[ROLL_GIFT_MAX];
    uint32_t number, listening;
    if (!roll_take(run->roll, &number, bytes))
        return;
    memcpy(&listening, bytes, sizeof listening);
    if (number == WORK_SUMMARY) {
        memcpy(&run->summary, bytes, sizeof run->summary);
        run->summary.ranks[sizeof run->summary.ranks - 1] = run->summary.host[sizeof run->summary.host - 1] = '\0';
        run->told = true;
        roll_done(run->roll);
    } else if (listening == POINT_OK) {
        run->knocking = true;
    } else {
        roll_answer(run->roll, WORK_KNOCK, &listening, sizeof listening); /* nobody would open */
    }
}

static void knock(struct run *run)
{
    enum point_status status;
    if (!run->knocking || !point_knock(&run->point, run->kit.host->now_ns(), &status))
        return;
    run->knocking = false;
    const uint32_t answer = run->own = status;
    roll_answer(run->roll, WORK_KNOCK, &answer, sizeof answer);
}

static void meet(struct run *run)
{
    while (!roll_over(run->roll) && may_wait(run)) {
        struct pollfd fds[2];
        size_t count = 0;
        if (run->point.listener >= 0)
            fds[count++] = (struct pollfd){.fd = run->point.listener, .events = POLLIN};
        if (run->point.fd >= 0)
            fds[count++] = (struct pollfd){.fd = run->point.fd, .events = run->point.connecting ? POLLOUT : POLLIN};
        roll_turn(run->roll, fds, count, TURN_NS);
        point_serve(&run->point);
        if (!run->job.rank && roll_present(run->roll) && !run->asked)
            ask_all(run);
        if (!run->told)
            take_work(run);
        knock(run);
        if (!run->job.rank && run->asked && !run->told)
            sum_up(run);
    }
}

/* ---- the course ---- */

/* Without a launcher this process is a job of its own, if the address is this host's. */
static bool find_job(struct run *run)
{
    struct kit *kit = &run->kit;
    if (job_read(kit, JOB_ANY, &run->job))
        return true;
    if (run->job.launcher) {
        kit_unavailable(kit, "%s", run->job.problem);
        return false;
    }
    run->job = (struct job){.size = 1, .one_host = true, .local_rank = -1};
    (void)snprintf(run->job.id, sizeof run->job.id, "alone %ld", (long)getpid());
    return true;
}

static bool call_the_roll(struct run *run)
{
    char port[32];
    const double arrive = strtod(kit_param(&run->kit, "arrive", "10"), NULL);
    struct roll_setup setup = roll_setup(&run->kit, &run->job, "rendezvous");
    setup.arrive_ns = (uint64_t)((arrive > 0 && arrive < 3600 ? arrive : 10) * SECOND);
    setup.silence_ns = 5ull * SECOND;
    (void)snprintf(port, sizeof port, "MASTER_PORT=%u", run->point.port);
    setup.stamp = port;
    setup.gift = &run->offer;
    setup.gift_length = sizeof run->offer;
    run->roll = roll_begin(&run->kit, &setup);
    return run->roll != NULL;
}

static dtkb_result probe(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    struct run run = {.kit = kit_start(host, call)};
    struct kit *kit = &run.kit;
    if (!find_job(&run))
        return kit_finish(kit);
    if (run.job.size > 1 && !kit_env(kit, "MASTER_ADDR")) {
        kit_skip(kit, "MASTER_ADDR is not set, so the ranks know no place to meet: set it to rank 0's host, as the job does");
        return kit_finish(kit);
    }
    const enum point_status found = point_find(&run.point, kit, "localhost", roll_token(&run.job, "point", NULL));
    if (!run.job.launcher && found == POINT_OK && !point_is_here(&run.point)) {
        kit_skip(kit, "MASTER_ADDR=%.100s is another host, and no launcher started this process: start it as the ranks of the job",
                 run.point.address);
        return kit_finish(kit);
    }
    kit_string(kit, run.point.address, "MASTER_ADDR", "rendezvous.address");
    kit_u64(kit, run.point.port, "port", "MASTER_PORT", "rendezvous.port");
    kit_u64(kit, run.job.size, "ranks", run.job.launcher, "rendezvous.ranks");
    if (!run.job.rank) {
        run.own = found == POINT_BAD_PORT ? found : point_listen(&run.point);
        offer_make(&run.offer, run.point.port, run.job.one_host);
    }
    if (call_the_roll(&run)) {
        meet(&run);
        if (roll_present(run.roll))
            memcpy(&run.offer, roll_gift(run.roll), sizeof run.offer);
        offer_check(&run.offer);
        run_report(&run);
        roll_end(run.roll);
    }
    point_close(&run.point);
    return kit_finish(kit);
}

static const char *const facts[] = {"rendezvous.*", NULL};
static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "arrive", .summary = "seconds in which all ranks must check in", .default_value = "10"},
    {DTKB_PARAM_V1_INIT, .name = "head", .summary = "address of rank 0's host for the roll call; by the launcher's variables if not given"},
    {DTKB_PARAM_V1_INIT, .name = "port", .summary = "first of four ports for the roll call; by the job's id if not given"},
};
static const dtkb_probe_v1 probes[] = {{DTKB_PROBE_V1_INIT, .default_timeout_ms = 30000, .name = "rendezvous",
                                        .summary = "the ranks of this job meet at MASTER_ADDR and MASTER_PORT, as the job would",
                                        .caps = DTKB_CAP_ACTIVE | DTKB_CAP_NETWORK | DTKB_CAP_MULTI_RANK | DTKB_CAP_TRIALS, .facts = facts,
                                        .params = params, .param_count = sizeof params / sizeof *params, .run = probe}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "rendezvous",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "checks the place where a job's ranks meet",
                                      .probes = probes,
                                      .probe_count = sizeof probes / sizeof *probes,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)
