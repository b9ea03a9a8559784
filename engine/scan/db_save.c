/* The compiled form as bytes: a header that says what it is of, then Hyperscan's own serialised form. Literals are found again from the
 * signatures, which is quick; the header's hash proves that they are the same. */
#include <stdlib.h>
#include <string.h>

#include "scan/anchor.h"
#include "scan/db.h"

#define FORM 1 /* of these bytes; raise it when literals are chosen differently */

struct header {
    char magic[8];
    uint32_t form, pointer_size;
    char matcher[48]; /* its version, and so the form of what follows */
    char machine[16];
    uint64_t hash;        /* of signatures and anchors */
    uint64_t length, sum; /* of what follows */
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

dtkb_status scan_db_save(const struct scan_db *db, void **bytes, size_t *length, struct err *err)
{
    char *serialised = NULL;
    size_t size = 0;
    if (hs_serialize_database(db->hs, &serialised, &size) != HS_SUCCESS)
        return err_nomem(err);
    struct header header = header_of(db->signatures, db->signature_count);
    header.length = size;
    header.sum = checksum(serialised, size);
    char *whole = malloc(sizeof header + size);
    if (whole) {
        memcpy(whole, &header, sizeof header);
        memcpy(whole + sizeof header, serialised, size);
        *bytes = whole;
        *length = sizeof header + size;
    }
    free(serialised);
    return whole ? DTKB_OK : err_nomem(err);
}

dtkb_status scan_db_load(const void *bytes, size_t length, const struct signature *signatures, size_t count, struct scan_db **out,
                         struct err *err)
{
    struct header wanted = header_of(signatures, count), header;
    if (length < sizeof header)
        return err_set(err, DTKB_E_UNSUPPORTED, "compiled signatures: too short");
    memcpy(&header, bytes, sizeof header);
    wanted.length = header.length;
    wanted.sum = header.sum;
    if (memcmp(&wanted, &header, sizeof header) != 0 || header.length != length - sizeof header)
        return err_set(err, DTKB_E_UNSUPPORTED,
                       "compiled signatures: of other signatures, or of another version or platform of the matcher");
    if (checksum((const char *)bytes + sizeof header, length - sizeof header) != header.sum)
        return err_set(err, DTKB_E_UNSUPPORTED, "compiled signatures: damaged");
    struct scan_db *db = calloc(1, sizeof *db);
    if (!db)
        return err_nomem(err);
    db->signatures = signatures;
    db->signature_count = count;
    dtkb_status status = DTKB_OK;
    if (hs_deserialize_database((const char *)bytes + sizeof header, length - sizeof header, &db->hs) != HS_SUCCESS)
        status = err_set(err, DTKB_E_UNSUPPORTED, "compiled signatures: not accepted by this machine's matcher");
    if (status == DTKB_OK)
        status = db_collect_literals(db, err);
    if (status == DTKB_OK)
        status = db_prepare(db, err);
    if (status == DTKB_OK)
        *out = db;
    else
        scan_db_free(db);
    return status;
}
