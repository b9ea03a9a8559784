/* Settings of the environment: "NAME=VALUE", or several joined by commas. */
#ifndef DTKB_BASE_SETTING_H
#define DTKB_BASE_SETTING_H

#include <stdbool.h>
#include <stddef.h>

/* One of them, within the text it was taken from. */
struct setting {
    const char *name, *value;
    size_t name_length, value_length; /* no value: the variable is to be removed */
};

/* Takes the first setting off *text. False at the end, and where no NAME= follows: then *text does not stand at its end. A comma belongs to
 * the value (NCCL_SOCKET_IFNAME=^lo,docker) unless a name in capital letters and '=' come behind it. */
bool setting_next(const char **text, struct setting *out);

/* Is all of it settings, one or more? */
bool setting_is_well_formed(const char *text);

#endif
