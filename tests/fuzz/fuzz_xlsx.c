/* Any bytes as a spreadsheet. */
#include "kb/xlsx.h"

#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct workbook workbook = {0};
    char path[64];
    int fd = memory_file(data, size, path);
    if (fd < 0)
        return 0;
    if (xlsx_read(path, &workbook, NULL) == DTKB_OK)
        xlsx_free(&workbook);
    close(fd);
    return 0;
}
