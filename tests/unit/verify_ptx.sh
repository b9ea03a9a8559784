#!/usr/bin/env bash
# verify_ptx.sh COMPILED BY_HAND: both kernels have the same entries, parameters and constant, and assemble for every architecture that
# ptxas still knows from their own target on.
set -euo pipefail
compiled=$1 by_hand=$2
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT

entries() { grep -oE '\.visible \.entry [a-z_]+|^[[:space:]]*\.param \.[a-z0-9]+ [a-z_0-9]+' "$1" | tr -s ' \t' ' '; }
entries "$compiled" >"$out/compiled"
entries "$by_hand" >"$out/by_hand"
[ -s "$out/compiled" ] || { echo "no entries in $compiled"; exit 1; }
diff "$out/compiled" "$out/by_hand" || { echo "entries or parameters differ"; exit 1; }

# 2654435761, as the compiler writes it and as a person does
grep -qE -- '-1640531535|0x9[eE]3779[bB]1|2654435761' "$compiled" || { echo "the pattern changed in verify.cu"; exit 1; }
grep -q 0x9E3779B1 "$by_hand" || { echo "the pattern changed in verify_sm60.ptx"; exit 1; }
version=$(sed -n 's/^\.version //p' "$by_hand") target=$(sed -n 's/^\.target //p' "$by_hand")
[ "$version $target" = "5.0 sm_60" ] || { echo "the kernel by hand is for PTX $version, $target"; exit 1; }

assembled=0
for arch in $(nvcc --list-gpu-arch | sed 's/compute_/sm_/'); do
    ptxas -arch="$arch" -o "$out/cubin" "$by_hand"
    ptxas -arch="$arch" -o "$out/cubin" "$compiled"
    assembled=$((assembled + 1))
done
[ "$assembled" -gt 0 ]
echo "both assemble for $assembled architectures"
