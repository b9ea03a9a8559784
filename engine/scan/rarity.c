#include "scan/rarity.h"

#include <ctype.h>
#include <string.h>

#include "scan/literal.h"

#define GRAM 4
#define PLACE_COST 15  /* of a place where the filter's tables know a sample, though no literal is there; nanoseconds */
#define LINE_COST 150  /* of a line that a literal is in */
#define OWN_COST 150   /* a megabyte: the more literals, the more samples are known by chance */
#define TINY_COST 6000 /* a window of four bytes fills the tables with all that may follow it */
#define UNSEEN_LEAST 1 /* a megabyte */

/* Four bytes as a number that orders as they do. */
static uint32_t number_of(const char *gram)
{
    uint32_t number = 0;
    for (size_t i = 0; i < GRAM; i++)
        number = number << 8 | (unsigned char)gram[i];
    return number;
}

static uint32_t folded(const char *text)
{
    char gram[GRAM];
    for (size_t i = 0; i < GRAM; i++)
        gram[i] = isdigit((unsigned char)text[i]) ? '0' : (char)(text[i] | 0x20);
    return number_of(gram);
}

/* By its letters: from 2 for e and t to 7 for what is hardly ever in a word. */
static unsigned strangeness(unsigned char c)
{
    c = (unsigned char)tolower(c);
    if (c == ' ' || isdigit(c) || strchr("etaoinsrl", c))
        return 2;
    if (strchr("dhcumpgf.:/-", c))
        return 4;
    return isalpha(c) || strchr("[]=#", c) ? 6 : 7;
}

/* The table does not tell digits apart; of those that may stand in a place, the one that is meant is there a quarter of the time or less. */
static unsigned rate_of_digits(const char *text, unsigned rate)
{
    for (size_t i = 0; i < GRAM; i++)
        rate = isdigit((unsigned char)text[i]) ? rate / 4 : rate;
    return rate ? rate : 1;
}

/* How often the four bytes at `text` are in a megabyte. */
static unsigned gram_rate(const char *text)
{
    size_t low = 0, high = gram_count;
    uint32_t wanted = folded(text);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t here = number_of(gram_table[middle].text);
        if (wanted == here)
            return rate_of_digits(text, 1u << gram_table[middle].level);
        if (wanted < here)
            high = middle;
        else
            low = middle + 1;
    }
    unsigned sum = 0; /* 8 to 28 */
    for (size_t i = 0; i < GRAM; i++)
        sum += strangeness((unsigned char)text[i]);
    return UNSEEN_LEAST + (28 - sum) / 2;
}

/* Of the most common part decides the rarest: a text is in no more places than each of its parts. Each further rare part makes it rarer. */
static unsigned text_rate(const char *text, size_t length)
{
    unsigned least = ~0u, rare = 0;
    for (size_t i = 0; i + GRAM <= length; i++) {
        unsigned here = gram_rate(text + i);
        least = here < least ? here : least;
        rare += here < 32;
    }
    return rare > 1 ? least >> (rare < 9 ? rare - 1 : 8) : least;
}

size_t literal_window(size_t length)
{
    return length < LITERAL_MIN ? length : length < 8 ? LITERAL_MIN : 8;
}

/* How often the filter stops for the window at `text`, a megabyte: where one of its samples is known. Of three six-byte samples, or of two
 * four-byte ones, one is taken. */
static unsigned stops(const char *text, size_t width)
{
    size_t sample = width < 8 ? GRAM : 6, count = width - sample + 1;
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += text_rate(text + i, sample);
    return sum / (unsigned)count;
}

static unsigned fewest_stops(const char *text, size_t length, size_t *window)
{
    size_t width = literal_window(length);
    unsigned best = ~0u;
    for (size_t i = 0; i + width <= length; i++) {
        unsigned here = stops(text + i, width);
        if (here < best) {
            best = here;
            *window = i;
        }
    }
    return best;
}

size_t literal_best_window(const char *text, size_t length)
{
    size_t window = 0;
    (void)fewest_stops(text, length, &window);
    return window;
}

uint64_t literal_cost(const char *text, size_t length)
{
    size_t window;
    if (length < GRAM)
        return UINT64_MAX / 1024;
    return (uint64_t)fewest_stops(text, length, &window) * PLACE_COST + (uint64_t)text_rate(text, length) * LINE_COST + OWN_COST +
           (length < LITERAL_MIN ? TINY_COST : 0);
}
