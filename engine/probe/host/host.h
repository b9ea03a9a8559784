/* dtkb-probe-host: loads one plugin and describes it or runs one of its probes. Needs nothing but the C library, so that it starts in a
 * millisecond and a plugin meets no library of ours in its process. What it says goes as JSON lines to a descriptor of its own;
 * engine/probe/README.md describes them. */
#ifndef DTKB_PROBE_HOST_H
#define DTKB_PROBE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dtkb/plugin.h>

/* ---- wire.c: JSON lines to the supervisor ---- */
void wire_open(int fd);
void wire_begin(void); /* {  */
void wire_end(void);   /* } and newline, written at once */
void wire_key(const char *key);
void wire_string(const char *text); /* broken UTF-8 becomes U+FFFD; NULL becomes "" */
void wire_bytes(const char *text, size_t length);
void wire_u64(uint64_t number); /* past INT64_MAX as a string: JSON readers stop there */
void wire_i64(int64_t number);
void wire_f64(double number);
void wire_bool(bool truth);
void wire_raw(const char *text); /* punctuation */
/* {"KEY": "text"} as one line. */
void wire_message(const char *key, const char *text);

/* ---- load.c: a shared object and its description, whatever ABI version it was built for ---- */
struct plugin {
    const dtkb_plugin_v1 *description; /* validated */
    uint32_t abi;
};
/* False with the reason in `why`. */
bool plugin_load(const char *file, struct plugin *out, char *why, size_t why_size);
const dtkb_probe_v1 *plugin_probe(const dtkb_plugin_v1 *plugin, size_t index);

/* ---- describe.c ---- */
void describe(const struct plugin *plugin);

/* ---- services.c: the host table, and the call that it serves ---- */
extern const dtkb_host_v1 host_services;
/* Fills the call from the environment and takes our own variables out of it; false when there is no memory. */
bool call_from_environment(dtkb_call_v1 *call, const char *probe);
/* Releases what scratch() handed out. */
void call_release(void);

#endif
