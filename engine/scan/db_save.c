/* The compiled form as bytes: a header that says what it is of, the literals (finding them again would cost more than everything else at
 * start), then Hyperscan's own serialised form. */
#include <stdlib.h>
#include <string.h>

#include "scan/anchor.h"
#include "base/buf.h"
#include "scan/db.h"
#include "scan/literal.h"
#include "scan/rarity.h"

#define FORM 9 /* of these bytes; raise it when literals are chosen differently */

struct header {
    char magic[8];
    uint32_t form, pointer_size;
    char matcher[48]; /* its version, and so the form of what follows */
    char machine[16];
    uint64_t hash;        /* of signatures and anchors */
    uint64_t literals;    /* bytes of them: owner, flags, length, text and NUL each */
    uint64_t guards;      /* bytes of them: where each signature's begins, then the words */
    uint64_t length, sum; /* of all that follows */
};

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "other"
#endif

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Damage on a disk is to be seen before the matcher runs what it was given; eight bytes at a time, as every start pays for it. */
static uint64_t checksum(const char *bytes, size_t length)
{
    uint64_t sum = length, word;
    for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return hash_bytes(sum, bytes, length);
}

static struct header header_of(const struct signature *signatures, size_t count)
{
    struct header header = {.magic = "DTKBSCAN", .form = FORM, .pointer_size = sizeof(void *), .machine = MACHINE};
    strncpy(header.matcher, hs_version(), sizeof header.matcher - 1);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < anchor_count; i++)
        hash = hash_bytes(hash, anchors[i].text, strlen(anchors[i].text) + 1);
    for (size_t i = 0; i < count; i++) {
        char flags[2] = {(char)signatures[i].is_regex, (char)signatures[i].ignore_case};
        hash = hash_bytes(hash, flags, sizeof flags);
        hash = hash_bytes(hash, signatures[i].pattern, strlen(signatures[i].pattern) + 1);
    }
    header.hash = hash;
    return header;
}

struct saved_literal {
    uint32_t owner, length;
    uint32_t window, ignore_case;
};

static void add_literals(const struct scan_db *db, struct buf *out)
{
    for (size_t i = anchor_count; i < db->literal_count; i++) {
        const struct db_literal *literal = &db->literals[i];
        struct saved_literal saved = {literal->owner, literal->length, literal->window, literal->ignore_case};
        buf_add(out, &saved, sizeof saved);
        buf_add(out, literal->text, literal->length + 1);
    }
}

dtkb_status scan_db_save(const struct scan_db *db, void **bytes, size_t *length, struct err *err)
{
    char *serialised = NULL;
    size_t size = 0;
    if (hs_serialize_database(db->hs, &serialised, &size) != HS_SUCCESS)
        return err_nomem(err);
    struct header header = header_of(db->signatures, db->signature_count);
    struct buf whole = {0};
    buf_add(&whole, &header, sizeof header);
    add_literals(db, &whole);
    header.literals = whole.length - sizeof header;
    buf_add(&whole, db->guards, db->signature_count * sizeof db->guards[0]);
    buf_add(&whole, db->guard_words, db->guard_count * sizeof db->guard_words[0]);
    header.guards = whole.length - sizeof header - header.literals;
    buf_add(&whole, serialised, size);
    free(serialised);
    if (whole.failed) {
        buf_free(&whole);
        return err_nomem(err);
    }
    header.length = whole.length - sizeof header;
    header.sum = checksum(whole.data + sizeof header, (size_t)header.length);
    memcpy(whole.data, &header, sizeof header);
    *bytes = whole.data;
    *length = whole.length;
    return DTKB_OK;
}

/* Literals as they were saved; false if they make no sense. Their texts stay in `bytes`' copy in the set's arena. */
static bool read_literals(struct scan_db *db, const char *bytes, size_t length)
{
    size_t at = 0;
    for (struct saved_literal saved; at < length; at += sizeof saved + saved.length + 1) {
        if (length - at < sizeof saved)
            return false;
        memcpy(&saved, bytes + at, sizeof saved);
        const char *text = bytes + at + sizeof saved;
        if (saved.length >= length - at - sizeof saved || text[saved.length] || saved.owner >= db->signature_count ||
            strlen(text) != saved.length || saved.window + literal_window(saved.length) > saved.length ||
            db_add_literal(db, text, saved.owner, saved.window, saved.ignore_case != 0) != DTKB_OK)
            return false;
    }
    return true;
}

/* Guards as they were saved, likewise. */
static bool read_guards(struct scan_db *db, const char *bytes, size_t length)
{
    size_t table = db->signature_count * sizeof db->guards[0];
    void *copy = length >= table ? arena_alloc(&db->arena, length + 1) : NULL;
    if (!copy)
        return false;
    memcpy(copy, bytes, length);
    db->guards = copy;
    db->guard_words = (const uint16_t *)((const char *)copy + table);
    db->guard_count = (length - table) / sizeof(uint16_t);
    for (size_t i = 0; i < db->signature_count; i++)
        if (db->guards[i] != GUARD_NONE && db->guards[i] + GUARD_HEADER > db->guard_count)
            return false;
    return true;
}

/* What the header says is checked: of these signatures, this matcher, this machine, and whole. */
static dtkb_status check_header(const struct header *header, const char *bytes, size_t length, const struct signature *signatures,
                                size_t count, struct err *err)
{
    struct header wanted = header_of(signatures, count);
    wanted.literals = header->literals;
    wanted.guards = header->guards;
    wanted.length = header->length;
    wanted.sum = header->sum;
    if (memcmp(&wanted, header, sizeof wanted) != 0 || header->length != length || header->literals > length ||
        header->guards > length - header->literals)
        return err_set(err, DTKB_E_UNSUPPORTED,
                       "compiled signatures: of other signatures, or of another version or platform of the matcher");
    if (checksum(bytes, length) != header->sum)
        return err_set(err, DTKB_E_UNSUPPORTED, "compiled signatures: damaged");
    return DTKB_OK;
}

dtkb_status scan_db_load(const void *bytes, size_t length, const struct signature *signatures, size_t count, struct scan_db **out,
                         struct err *err)
{
    struct header header;
    if (length < sizeof header)
        return err_set(err, DTKB_E_UNSUPPORTED, "compiled signatures: too short");
    memcpy(&header, bytes, sizeof header);
    const char *rest = (const char *)bytes + sizeof header;
    length -= sizeof header;
    dtkb_status status = check_header(&header, rest, length, signatures, count, err);
    if (status != DTKB_OK)
        return status;
    struct scan_db *db = calloc(1, sizeof *db);
    char *literals = NULL;
    if (db) {
        db->signatures = signatures;
        db->signature_count = count;
        literals = arena_strndup(&db->arena, rest, (size_t)header.literals);
    }
    if (!db || !literals)
        status = err_nomem(err);
    else if (db_add_anchors(db) != DTKB_OK || !read_literals(db, literals, (size_t)header.literals) ||
             !read_guards(db, rest + header.literals, (size_t)header.guards) ||
             hs_deserialize_database(rest + header.literals + header.guards, length - (size_t)(header.literals + header.guards), &db->hs) !=
                 HS_SUCCESS)
        status = err_set(err, DTKB_E_UNSUPPORTED, "compiled signatures: not accepted by this machine's matcher");
    if (status == DTKB_OK)
        status = db_prepare(db, err);
    if (status == DTKB_OK)
        *out = db;
    else
        scan_db_free(db);
    return status;
}
