/* The SQL that makes the tables of a knowledge base. */
#ifndef DTKB_KB_STORE_SCHEMA_H
#define DTKB_KB_STORE_SCHEMA_H

extern const char store_schema[];

#endif
