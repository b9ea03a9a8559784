/* Any bytes as a pickle; what is read goes on into the Flight Recorder's verdict. */
#include <stdint.h>
#include <stdlib.h>

#include "scan/flight.h"
#include "scan/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *root = NULL;
    struct collect collect = {0};
    struct flight *flight = flight_new();
    if (flight && pickle_read("fuzz", data, size, &root, NULL) == DTKB_OK && flight_is_dump(root)) {
        (void)flight_add(flight, root, 0, 0, NULL);
        (void)flight_add(flight, root, 1, 1, NULL);
        flight_conclude(flight, &collect);
    }
    json_decref(root);
    collect_free(&collect);
    flight_free(flight);
    return 0;
}
