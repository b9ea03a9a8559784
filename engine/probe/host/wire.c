#include "probe/host/host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One line at a time, written with one write(), so what was said before a crash has been said. */
static struct {
    int fd;
    size_t length;
    bool first; /* no comma before the next key */
    char line[(size_t)64 << 10];
} wire = {.fd = -1};

void wire_open(int fd)
{
    wire.fd = fd;
}

static void add(const char *text, size_t length)
{
    if (length > sizeof wire.line - wire.length)
        length = sizeof wire.line - wire.length;
    memcpy(wire.line + wire.length, text, length);
    wire.length += length;
}

void wire_raw(const char *text)
{
    add(text, strlen(text));
}

void wire_begin(void)
{
    wire.length = 0;
    wire.first = true;
    add("{", 1);
}

void wire_end(void)
{
    add("}\n", 2);
    for (size_t at = 0; at < wire.length;) {
        ssize_t n = write(wire.fd, wire.line + at, wire.length - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(70); /* nobody listens any more */
        at += (size_t)n;
    }
}

void wire_key(const char *key)
{
    if (!wire.first)
        add(", ", 2);
    wire.first = false;
    wire_string(key);
    add(": ", 2);
}

/* Length of the well-formed character at `p`, 0 if there is none. The engine checks strictly; this only has to yield what it accepts. */
static size_t character(const unsigned char *p, size_t left)
{
    if (*p < 0x80)
        return 1;
    size_t need = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
    if (*p < 0xc2 || *p > 0xf4 || need > left)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
        return 0;
    return need;
}

void wire_bytes(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    add("\"", 1);
    for (size_t at = 0; at < length;) {
        size_t step = character(p + at, length - at);
        char escaped[8];
        if (step == 1 && (p[at] < 0x20 || p[at] == 0x7f)) {
            (void)snprintf(escaped, sizeof escaped, "\\u%04x", p[at] ? p[at] : '?');
            add(escaped, 6);
        } else if (step == 1 && (p[at] == '"' || p[at] == '\\')) {
            escaped[0] = '\\';
            escaped[1] = (char)p[at];
            add(escaped, 2);
        } else if (step) {
            add(text + at, step);
        } else {
            add("\xef\xbf\xbd", 3);
            step = 1;
        }
        at += step;
    }
    add("\"", 1);
}

void wire_string(const char *text)
{
    wire_bytes(text ? text : "", text ? strlen(text) : 0);
}

void wire_u64(uint64_t number)
{
    char text[32];
    (void)snprintf(text, sizeof text, number > INT64_MAX ? "\"%llu\"" : "%llu", (unsigned long long)number);
    wire_raw(text);
}

void wire_i64(int64_t number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)number);
    wire_raw(text);
}

void wire_f64(double number)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.17g", number);
    char *comma = strchr(text, ','); /* the plugin may have set a locale */
    if (comma)
        *comma = '.';
    wire_raw(text);
}

void wire_bool(bool truth)
{
    wire_raw(truth ? "true" : "false");
}

void wire_message(const char *key, const char *text)
{
    wire_begin();
    wire_key(key);
    wire_bytes(text, strnlen(text, 4096));
    wire_end();
}
