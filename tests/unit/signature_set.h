/* The set of a test's own signatures: group set-up and tear-down. Include it behind the array `signatures`. */
#ifndef DTKB_TEST_SIGNATURE_SET_H
#define DTKB_TEST_SIGNATURE_SET_H

static struct scan_db *db;

static int build(void **state)
{
    (void)state;
    return scan_db_build(signatures, sizeof signatures / sizeof signatures[0], &db, NULL) == DTKB_OK ? 0 : -1;
}

static int discard(void **state)
{
    (void)state;
    scan_db_free(db);
    return 0;
}

#endif
