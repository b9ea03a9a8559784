/* The dynamic section of a 64-bit ELF file: is libnccl needed, and where is it looked for. The file is untrusted and may be a gigabyte: it
 * is mapped, and each offset is checked. */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "python_env.h"

struct image {
    const unsigned char *bytes;
    size_t size;
};

static const void *at(const struct image *image, uint64_t offset, uint64_t length)
{
    return offset <= image->size && length <= image->size - offset ? image->bytes + offset : NULL;
}

static bool program_header(const struct image *image, const Elf64_Ehdr *header, size_t index, Elf64_Phdr *out)
{
    const void *from = at(image, header->e_phoff + (uint64_t)index * sizeof *out, sizeof *out);
    if (from)
        memcpy(out, from, sizeof *out); /* it may be unaligned */
    return from != NULL;
}

/* The file offset of an address of the loaded image. */
static bool offset_of(const struct image *image, const Elf64_Ehdr *header, uint64_t address, uint64_t *out)
{
    Elf64_Phdr segment;
    for (size_t i = 0; i < header->e_phnum && program_header(image, header, i, &segment); i++)
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
            *out = segment.p_offset + (address - segment.p_vaddr);
            return true;
        }
    return false;
}

/* A string of the string table, NULL when it does not end within the file. */
static const char *string_at(const struct image *image, uint64_t table, uint64_t offset)
{
    const char *text = offset < UINT64_MAX - table ? at(image, table + offset, 1) : NULL;
    return text && memchr(text, '\0', image->size - (size_t)(table + offset)) ? text : NULL;
}

static void copy(char *out, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length < size)
        memcpy(out, text, length + 1);
}

static void entry_read(const struct image *image, uint64_t strings, const Elf64_Dyn *entry, struct py_elf *out)
{
    if (entry->d_tag != DT_NEEDED && entry->d_tag != DT_RPATH && entry->d_tag != DT_RUNPATH)
        return;
    const char *text = string_at(image, strings, entry->d_un.d_val);
    if (!text)
        return;
    if (entry->d_tag == DT_NEEDED)
        out->needs_nccl |= !strncmp(text, "libnccl.so", 10);
    else
        copy(entry->d_tag == DT_RPATH ? out->rpath : out->runpath, sizeof out->rpath, text);
}

static bool dynamic_read(const struct image *image, const Elf64_Ehdr *header, struct py_elf *out)
{
    Elf64_Phdr dynamic = {.p_type = PT_NULL};
    for (size_t i = 0; i < header->e_phnum && program_header(image, header, i, &dynamic) && dynamic.p_type != PT_DYNAMIC; i++)
        ;
    const unsigned char *table = dynamic.p_type == PT_DYNAMIC ? at(image, dynamic.p_offset, dynamic.p_filesz) : NULL;
    if (!table)
        return false;
    Elf64_Dyn entry;
    uint64_t strings = 0;
    bool known = false;
    size_t count = (size_t)(dynamic.p_filesz / sizeof entry);
    for (size_t i = 0; i < count && !known; i++) {
        memcpy(&entry, table + i * sizeof entry, sizeof entry);
        known = entry.d_tag == DT_STRTAB && offset_of(image, header, entry.d_un.d_ptr, &strings);
    }
    for (size_t i = 0; known && i < count; i++) {
        memcpy(&entry, table + i * sizeof entry, sizeof entry);
        entry_read(image, strings, &entry, out);
    }
    return known;
}

bool py_elf_read(const char *file, struct py_elf *out)
{
    *out = (struct py_elf){0};
    struct stat status;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool good = false;
    if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size > (off_t)sizeof(Elf64_Ehdr)) {
        struct image image = {.size = (size_t)status.st_size};
        void *map = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
        Elf64_Ehdr header;
        if (map != MAP_FAILED) {
            image.bytes = map;
            memcpy(&header, map, sizeof header);
            good = !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                   header.e_phentsize == sizeof(Elf64_Phdr) && dynamic_read(&image, &header, out);
            (void)munmap(map, image.size);
        }
    }
    (void)close(fd);
    return good;
}
