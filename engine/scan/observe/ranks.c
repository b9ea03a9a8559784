/* What the ranks say: processes that each take themselves for the only one, parameters that differ between ranks, data that do not. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/ranks.h"

#define ALONE_COUNT 3 /* lines "rank 0 of 1" from who knows where */
#define LIST_NUMBERS 3
#define MANY_NUMBERS 8
#define HEADING_LINES 12

/* "rank 0 of 1", "rank: 0, world size: 1", "rank=0 size=1", "GLOBAL_RANK: 0, MEMBER: 1/1", "process 0/1". A local rank is another matter. */
static bool read_claim(const char *text, double *rank, double *size)
{
    static const char *const names[] = {"global_rank", "rank()", "rank", "process"};
    static const char *const sizes[] = {"world_size", "world size", "worldsize", "size()", "size", "num_workers", "nranks"};
    const char *at = NULL, *behind = text;
    for (size_t i = 0; i < sizeof names / sizeof *names && !at; i++)
        for (behind = text; (behind = observe_behind(behind, names[i]));) {
            const char *word = behind - strlen(names[i]);
            bool local = word - text >= 6 && !strncasecmp(word - 6, "local", 5);
            const char *p = behind + strspn(behind, " :=");
            if (!local && observe_number(&p, rank)) {
                at = p;
                break;
            }
        }
    if (!at)
        return false;
    const char *p = at + strspn(at, " ,");
    if (*at == '/' || !strncmp(p, "of ", 3)) {
        p = *at == '/' ? at + 1 : p + 3;
        return observe_number(&p, size);
    }
    const char *member = observe_behind(at, "member");
    if (member && (p = strchr(member, '/'))) {
        p++;
        return observe_number(&p, size);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (observe_after(text, sizes[i], size, NULL))
            return true;
    return false;
}

static void read_alone(struct observe_ranks *ranks, const struct line *line, const struct place *place)
{
    double rank, size;
    /* mpirun -np 4 python -c "...; print(MPI.COMM_WORLD.size)"; a program of few words */
    if ((ranks->asked_size && !strcmp(line->text, "1")) || !strcmp(line->text, "0 of 1")) {
        ranks->alone++;
        ranks->alone_at = *place;
        return;
    }
    if (!read_claim(line->text, &rank, &size) || rank != 0 || size != 1)
        return;
    ranks->alone++;
    ranks->alone_at = *place;
    uint64_t origin = OBSERVE_HASH;
    for (const char *p = line->bare; p < line->text; p++)
        origin = isspace((unsigned char)*p) ? origin : observe_hash(origin, p, 1);
    for (unsigned i = 0; i < ranks->origin_count; i++)
        if (ranks->origins[i] == origin)
            return;
    if (ranks->origin_count < CLAIM_ORIGINS_MAX)
        ranks->origins[ranks->origin_count++] = origin;
}

/* Words and numbers apart, hashed: lines that say the same thing of other values have the same shape. */
static unsigned split(const char *text, uint64_t *shape, uint64_t *value)
{
    unsigned numbers = 0;
    *shape = *value = OBSERVE_HASH;
    for (const char *p = text; *p;) {
        const char *q = p;
        double read;
        if ((p == text || !isalnum((unsigned char)p[-1])) && observe_number(&q, &read)) {
            *value = observe_hash(observe_hash(*value, p, (size_t)(q - p)), " ", 1);
            p = q;
            numbers++;
        } else {
            *shape = isspace((unsigned char)*p) ? *shape : observe_hash(*shape, p, 1);
            p++;
        }
    }
    return numbers;
}

/* The line without the words that tell whose it is: "cuda:1" differs between ranks that agree. */
static const char *behind_rank(const struct line *line, int32_t *rank)
{
    static const char *const names[] = {"rank", "dp_shard", "dp_rank", "xla:", "worker:", "worker", "Device "};
    double value;
    const char *at;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (observe_after(line->text, names[i], &value, &at) && value >= 0 && value < 100000) {
            *rank = (int32_t)value;
            return at + strspn(at, "0123456789");
        }
    const char *of = strchr(line->text, '(');
    int own, all, length = 0;
    if (line->rank < 0 && of && of - line->text < 40 && sscanf(of, "(%5d/%5d)%n", &own, &all, &length) == 2 && length && own >= 0 &&
        own < all) {
        *rank = own; /* "(3/16) validation batches seen: 13" */
        return of + length;
    }
    *rank = line->rank;
    return line->rank >= 0 ? line->text : NULL;
}

static void compare(struct observe_ranks *ranks, const struct rank_value *now, const struct place *place)
{
    for (unsigned i = 0; i < ranks->value_count; i++) {
        const struct rank_value *other = &ranks->values[i];
        if (other->shape != now->shape || other->rank == now->rank || other->kind != now->kind || other->seen != now->seen)
            continue;
        bool same = other->value == now->value;
        if (now->kind == 'p' && !same && ranks->early && ranks->heading_left) {
            ranks->early_differing++;
            ranks->differing_at = *place;
        } else if (now->kind == 'p' && !same) {
            ranks->differing++;
            ranks->differing_at = *place;
        } else if (now->kind == 'm' && !same) {
            ranks->judging++;
            ranks->judging_at = *place;
        } else if (now->kind == 'r' && same) {
            ranks->drawing++;
            ranks->drawing_at = *place;
        } else if (now->kind == 'c' && !same && now->value <= 2 * other->value && other->value <= 2 * now->value) {
            ranks->counting++;
            ranks->counting_at = *place;
        } else if (now->kind == 'c') {
            ranks->agreeing++;
        } else if (now->kind == 'd' && same) {
            ranks->equal += now->numbers >= MANY_NUMBERS ? 2 : 1; /* so many are the same by no chance */
            ranks->equal_at = *place;
        } else if (now->kind == 'd') {
            ranks->unequal++;
        }
    }
}

static void keep(struct observe_ranks *ranks, struct rank_value *now, const struct place *place)
{
    struct rank_value *slot = NULL;
    for (unsigned i = 0; i < ranks->value_count && !slot; i++)
        if (ranks->values[i].shape == now->shape && ranks->values[i].rank == now->rank)
            slot = &ranks->values[i];
    if (!slot) {
        if (ranks->value_count == RANK_VALUES_MAX)
            return;
        slot = &ranks->values[ranks->value_count++];
        *slot = (struct rank_value){0};
    }
    now->seen = slot->seen + 1;
    compare(ranks, now, place);
    *slot = *now;
}

/* "worker 0  sample 0: snr 12.31 dB  offset 0.0173  phase 1.204": fractions that a loader's worker drew */
static bool drawn_by_worker(const struct line *line)
{
    unsigned fractions = 0;
    for (const char *p = line->text; *p; p++)
        fractions += *p == '.' && p > line->text && isdigit((unsigned char)p[-1]) && isdigit((unsigned char)p[1]);
    return !strncmp(line->text, "worker ", 7) && strcasestr(line->text, "sample") && fractions >= LIST_NUMBERS;
}

/* A word of those, and a fraction behind it: sums and norms are compared, not counts. */
static bool has_fraction_behind(const char *text, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        for (const char *p = strcasestr(text, words[i]); p && *p; p++)
            if (*p == '.' && isdigit((unsigned char)p[-1]) && isdigit((unsigned char)p[1]))
                return true;
    return false;
}

/* "79 batches", "batches yielded 511", and of a device alone "xla:5 1424": `shape` gets the hash of the words up to there. */
static bool read_count(const char *rest, uint64_t *shape, uint64_t *count)
{
    static const char *const words[] = {"batches", "steps per epoch", "num_batches"};
    const char *at = NULL;
    double value = 0;
    char before[LINE_MAX_BYTES + 1];
    uint64_t numbers;
    if (*rest == ' ' && isdigit((unsigned char)rest[1]) && strspn(rest + 1, "0123456789") == strlen(rest + 1)) {
        *shape = 0;
        *count = strtoul(rest + 1, NULL, 10);
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words && !at; i++) {
        const char *word = strstr(rest, words[i]);
        const char *end = word && word > rest && word[-1] == ' ' ? word - 1 : word;
        const char *begin = end;
        while (begin && begin > rest && isdigit((unsigned char)begin[-1]))
            begin--;
        const char *behind = word ? word + strlen(words[i]) + strcspn(word + strlen(words[i]), "0123456789") : NULL;
        if (begin && begin < end && (begin == rest || begin[-1] == ' '))
            at = begin;
        else if (behind && *behind && behind - word < 28)
            at = behind;
    }
    const char *p = at;
    if (!at || !observe_number(&p, &value) || value < 1 || value > 1e12 || value != floor(value) || *p == '/')
        return false;
    memcpy(before, rest, (size_t)(at - rest));
    before[at - rest] = '\0';
    (void)split(before, shape, &numbers);
    *count = (uint64_t)value;
    return true;
}

/* "# sum of tok_embeddings.weight on each rank before step 1": what the bare numbers of the ranks below are. */
static void read_heading(struct observe_ranks *ranks, const char *text)
{
    static const char *const of_parameters[] = {"weight", "param", "checksum of", "gradient of", NULL};
    static const char *const of_chance[] = {"noise", "random number", "torch.rand", NULL};
    /* ... and what ranks may hold unlike: before they reduce it, or a part each */
    static const char *const other[] = {"second",         "memory",       "time ",       "count", "shape", "before all",
                                        "before the all", "before reduc", "before sync", "local", "shard", NULL};
    static const char *const early[] = {"before step 1",    "before the first step", "after the model is built",
                                        "at initiali",      "before training",       "freshly made",
                                        "right after init", "before wrapping",       NULL};
    if (*text != '#' || !strcasestr(text, "rank") || observe_any(text, other))
        return;
    ranks->heading = observe_any(text, of_parameters) ? 'p' : observe_any(text, of_chance) ? 'r' : '\0';
    ranks->early = observe_any(text, early);
    ranks->heading_left = ranks->heading ? HEADING_LINES : 0;
}

/* "rank 1    3.0971": a line of the ranks below a heading, with a fraction and without a word */
static bool bare_numbers(const char *rest)
{
    return strchr(rest, '.') && strspn(rest, " \t:,;|[]()-+.0123456789e") == strlen(rest);
}

static void read_values(struct observe_ranks *ranks, const struct line *line, const struct place *place)
{
    static const char *const of_parameters[] = {"param", "weight", "bias", "grad", "checksum", "state_dict", "|w|", NULL};
    static const char *const of_chance[] = {"noise", "random", "crop", "flip", "augment", "latent", NULL};
    static const char *const of_judgement[] = {"best score", "new best", "early stop", "did not improve", "monitored metric", NULL};
    double checksum;
    static const char *const of_data[] = {"sample", "indices", "index", "idx",   "batch", "data",
                                          "ids",    "image",   "input", "label", "files", NULL};
    static const char *const neither[] = {"loss",  "time",  "memory", "shape", "size(",  "shard",
                                          "local", "numel", "lr",     "/s",    "shards", NULL};
    struct rank_value now = {0};
    char text[LINE_MAX_BYTES + 1];
    const char *rest = behind_rank(line, &now.rank);
    bool judges = rest && observe_any(rest, of_judgement);
    if (rest && read_count(rest, &now.shape, &now.value)) {
        now.kind = 'c';
        keep(ranks, &now, place);
        return;
    }
    if (!rest || !strpbrk(rest, "0123456789") || (!judges && observe_any(rest, neither)))
        return;
    size_t length = strlen(rest);
    memcpy(text, rest, length + 1);
    char *device = strstr(text, "cuda:");
    if (device)
        device[5] = '\0'; /* what follows names the rank's own device */
    unsigned numbers = now.numbers = split(text, &now.shape, &now.value);
    /* Seeds of the ranks are equal for good reason, those of loader workers not. */
    bool seeds = strstr(text, "worker") && strstr(text, "seed");
    if (judges)
        now.kind = 'm';
    else if (seeds || drawn_by_worker(line) ||
             (numbers >= LIST_NUMBERS && observe_any(text, of_chance) && has_fraction_behind(text, of_chance)))
        now.kind = 'r';
    else if (((strchr(text, '[') && numbers >= LIST_NUMBERS) || numbers >= 2 * LIST_NUMBERS) && observe_any(text, of_data))
        now.kind = 'd';
    else if (ranks->heading_left && bare_numbers(rest))
        now.kind = ranks->heading;
    else if (has_fraction_behind(text, of_parameters) || observe_after(text, "checksum", &checksum, NULL))
        now.kind = 'p';
    if (now.kind)
        keep(ranks, &now, place);
}

/* wandb tells of each run that it begins, and sums up each that ends. */
static void read_run(struct observe_ranks *ranks, const char *text, const struct place *place)
{
    ranks->trials = ranks->trials || strstr(text, "Agent Starting Run");
    if (strstr(text, "Run history") || strstr(text, "Run summary") || strstr(text, "Synced ") || strstr(text, "process to finish"))
        ranks->syncing = 0;
    if (!strstr(text, "Syncing run "))
        return;
    if (++ranks->syncing > ranks->most_syncing) {
        ranks->most_syncing = ranks->syncing;
        ranks->syncing_at = *place;
    }
}

void ranks_line(struct observe_ranks *ranks, const struct line *line, const struct place *place)
{
    const char *run = strstr(line->text, "wandb: ");
    if (run)
        read_run(ranks, run, place);
    lists_line(ranks, line, place);
    ranks->heading_left -= ranks->heading_left > 0;
    read_heading(ranks, line->text);
    if (strchr(line->text, '$'))
        ranks->asked_size = (strstr(line->text, "mpirun ") || strstr(line->text, "mpiexec ") || strstr(line->text, "srun ")) &&
                            strcasestr(line->text, "size");
    if (!ranks->asked_size && !strcasestr(line->text, "rank") && !strcasestr(line->text, "process") && !strstr(line->text, "xla:") &&
        !strstr(line->text, "worker:") && strncmp(line->text, "worker ", 7) != 0 && !strstr(line->text, "Device ") && line->rank < 0 &&
        !strstr(line->text, " of 1") && strncmp(line->text, "dp_", 3) != 0 && !strstr(line->text, " batches"))
        return;
    read_alone(ranks, line, place);
    read_values(ranks, line, place);
}

void ranks_conclude(const struct observe_ranks *ranks, unsigned started, struct collect *collect)
{
    if (ranks->origin_count > 1 || ranks->alone >= ALONE_COUNT || (ranks->alone > 1 && started > 1))
        observe_tell(collect, &ranks->alone_at, "ranks: %u times a process takes itself for rank 0 of 1", ranks->alone);
    if (ranks->most_syncing > 1 && !ranks->trials)
        observe_tell(collect, &ranks->syncing_at, "ranks: %u wandb runs are begun by one job", ranks->most_syncing);
    if (ranks->differing)
        observe_tell(collect, &ranks->differing_at, "ranks: parameters or gradients differ between ranks");
    if (ranks->early_differing)
        observe_tell(collect, &ranks->differing_at, "ranks: they begin with unlike parameters");
    if (ranks->judging)
        observe_tell(collect, &ranks->judging_at, "ranks: each judges by its own value of a metric");
    if (ranks->drawing)
        observe_tell(collect, &ranks->drawing_at, "ranks: several ranks draw the same random numbers");
    if (ranks->counting)
        observe_tell(collect, &ranks->counting_at, "ranks: they count unlike numbers of batches");
    if (ranks->equal > 1 && !ranks->unequal)
        observe_tell(collect, &ranks->equal_at, "ranks: several ranks work on the same data");
    lists_conclude(ranks, collect);
}
