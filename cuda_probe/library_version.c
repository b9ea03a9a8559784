/* What a library's file says of itself, without loading it. */
#include "library.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct mapping {
    const unsigned char *bytes;
    size_t size;
};

static struct mapping map(const char *path)
{
    struct mapping mapping = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED)
            mapping = (struct mapping){bytes, (size_t)info.st_size};
    }
    if (fd >= 0)
        (void)close(fd);
    return mapping;
}

static void unmap(struct mapping mapping)
{
    if (mapping.bytes)
        (void)munmap((void *)(uintptr_t)mapping.bytes, mapping.size);
}

static bool inside(struct mapping mapping, uint64_t offset, uint64_t length)
{
    return offset <= mapping.size && length <= mapping.size - offset;
}

static void copy_version(const unsigned char *from, size_t left, char *out, size_t size)
{
    size_t length = 0;
    while (length < left && length + 1 < size && (isdigit(from[length]) || from[length] == '.'))
        length++;
    memcpy(out, from, length);
    out[length] = '\0';
}

/* The marker followed by a digit, in the sections that hold constants: the rest of such a file is hundreds of megabytes of GPU code. */
static void search_constants(struct mapping mapping, const char *marker, char *out, size_t size)
{
    Elf64_Ehdr header;
    if (mapping.size < sizeof header)
        return;
    memcpy(&header, mapping.bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr) || !inside(mapping, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
        return;
    const size_t marker_length = strlen(marker);
    for (unsigned i = 0; i < header.e_shnum && !*out; i++) {
        Elf64_Shdr section;
        memcpy(&section, mapping.bytes + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_PROGBITS || section.sh_flags & (SHF_WRITE | SHF_EXECINSTR) || section.sh_size > (uint64_t)16 << 20 ||
            !inside(mapping, section.sh_offset, section.sh_size))
            continue;
        const unsigned char *at = mapping.bytes + section.sh_offset, *end = at + section.sh_size;
        while (!*out && (at = memmem(at, (size_t)(end - at), marker, marker_length)) != NULL) {
            at += marker_length;
            copy_version(at, (size_t)(end - at), out, size);
        }
    }
}

void library_file_version(const char *path, const char *marker, char *out, size_t size)
{
    *out = '\0';
    const char *name = strrchr(path, '/'), *numbers = strstr(name ? name : path, ".so.");
    if (numbers && strchr(numbers + 4, '.')) {
        copy_version((const unsigned char *)numbers + 4, strlen(numbers + 4), out, size);
    } else if (marker) {
        struct mapping mapping = map(path);
        if (mapping.bytes)
            search_constants(mapping, marker, out, size);
        unmap(mapping);
    }
}

/* ---- the loader's cache, as ldconfig writes it since glibc 2.2 ---- */

#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_FLAG_X86_64 0x0303u
#define CACHE_FLAG_AARCH64 0x0a03u

struct cache_header {
    char magic[sizeof CACHE_MAGIC - 1];
    uint32_t count, strings_length, unused[5];
};
struct cache_entry {
    uint32_t flags, key, value, os_version;
    uint64_t hardware;
};

static const char *string_at(struct mapping mapping, uint32_t offset)
{
    if (offset >= mapping.size || !memchr(mapping.bytes + offset, '\0', mapping.size - offset))
        return NULL;
    return (const char *)mapping.bytes + offset;
}

void library_in_loader_cache(const char *cache_file, const char *pattern, void (*found)(void *context, const char *path), void *context)
{
#if defined(__aarch64__)
    const uint32_t wanted = CACHE_FLAG_AARCH64;
#else
    const uint32_t wanted = CACHE_FLAG_X86_64;
#endif
    struct mapping mapping = map(cache_file);
    struct cache_header header;
    if (mapping.size >= sizeof header) {
        memcpy(&header, mapping.bytes, sizeof header);
        bool known = !memcmp(header.magic, CACHE_MAGIC, sizeof header.magic);
        for (uint64_t i = 0; known && i < header.count; i++) {
            struct cache_entry entry;
            if (!inside(mapping, sizeof header + i * sizeof entry, sizeof entry))
                break;
            memcpy(&entry, mapping.bytes + sizeof header + i * sizeof entry, sizeof entry);
            const char *name = string_at(mapping, entry.key), *path = string_at(mapping, entry.value);
            if (name && path && entry.flags == wanted && fnmatch(pattern, name, 0) == 0)
                found(context, path);
        }
    }
    unmap(mapping);
}
