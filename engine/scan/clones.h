/* Loops over every byte of the input are compiled twice, for any x86-64 and for those with AVX2 and BMI2; the loader picks. */
#ifndef DTKB_SCAN_CLONES_H
#define DTKB_SCAN_CLONES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SCAN_CLONES __attribute__((target_clones("arch=haswell", "default")))
#else
#define SCAN_CLONES
#endif

#endif
