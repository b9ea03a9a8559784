#!/bin/sh
# The public headers compile alone, pedantically, as C11 and as C++; a C++ plugin exports its entry symbol and nothing else.
# Usage: headers.sh C-COMPILER SOURCE-FOLDER
set -eu
cc=$1 root=$2
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I$root/engine/include"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for header in dtkb plugin; do
    echo "#include <dtkb/$header.h>" >"$work/$header.c"
    cp "$work/$header.c" "$work/$header.cpp"
    for standard in c11 c17; do
        "$cc" -std=$standard $strict -Wstrict-prototypes -fsyntax-only "$work/$header.c"
    done
done
command -v c++ >/dev/null || { echo "no C++ compiler: C only"; exit 0; }
for header in dtkb plugin; do
    for standard in c++11 c++20; do
        c++ -std=$standard $strict -fsyntax-only "$work/$header.cpp"
    done
done
c++ -std=c++20 $strict -shared -fPIC -fvisibility=hidden -o "$work/plugin.so" "$root/tests/headers/plugin.cpp"
symbols=$(nm -D --defined-only "$work/plugin.so" | awk '{ print $3 }')
[ "$symbols" = dtkb_plugin_entry_v1 ] || { echo "the plugin exports: $symbols" >&2; exit 1; }
