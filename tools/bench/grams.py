#!/usr/bin/env python3
"""Writes engine/scan/gram_table.c: how often four bytes stand behind one another in logs of jobs that run well.

The matcher's build takes from there which text of a signature such logs have least of. Counted are the healthy cases, each with the same
weight, and ordinary.txt, words and lines that long jobs repeat. Run it in the repository's root when either has changed much.
"""
import collections
import glob
import math

LEAST = 30  # a megabyte; what is rarer counts as unseen
ORDINARY = 300  # a megabyte, for each time that ordinary.txt has it: such lines are most of a long log


def grams(line):
    folded = bytes(0x30 if 0x30 <= byte <= 0x39 else byte | 0x20 for byte in line)
    return (folded[i:i + 4] for i in range(len(folded) - 3))


def main():
    rate, files = collections.Counter(), collections.Counter()
    logs = sorted(glob.glob("tests/cases/healthy/*.log"))
    for path in logs:
        with open(path, "rb") as file:
            data = file.read()
        seen = collections.Counter(gram for line in data.split(b"\n") for gram in grams(line))
        for gram, times in seen.items():
            rate[gram] += times * 1e6 / len(data) / len(logs)
            files[gram] += 1
    with open("tools/bench/ordinary.txt", "rb") as file:
        for line in file.read().split(b"\n"):
            for gram in grams(line):
                rate[gram] += ORDINARY
                files[gram] += 2
    kept = sorted(gram for gram in rate if rate[gram] >= LEAST and files[gram] > 1 and all(0x20 <= byte < 0x80 for byte in gram))
    with open("engine/scan/gram_table.c", "w") as out:
        out.write("/* Written by tools/bench/grams.py: four bytes, lower case, any digit as 0, and how often (a power of two, a megabyte). */\n")
        out.write('#include "scan/rarity.h"\n\n/* clang-format off */\nconst struct gram gram_table[] = {\n')
        for i in range(0, len(kept), 8):
            cells = ('{"%s", %d}' % (gram.decode().replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?").replace("\x7f", "\\177"), round(math.log2(rate[gram])))
                     for gram in kept[i:i + 8])
            out.write("    " + ", ".join(cells) + ",\n")
        out.write("};\nconst size_t gram_count = sizeof gram_table / sizeof gram_table[0];\n")


main()
