/* Version numbers as programs print them: "2.21.5+cuda12.4", "1.13.1+dfsg", "12.4". */
#ifndef DTKB_BASE_VERSION_H
#define DTKB_BASE_VERSION_H

/* Compares the numeric parts left to right; missing parts count as 0; a pre-release mark (rc, a, b, dev) sorts before the plain version;
 * anything after '+' or the first other character is ignored. Returns <0, 0, >0. */
int version_compare(const char *left, const char *right);

#endif
