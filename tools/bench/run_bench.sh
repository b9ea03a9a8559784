#!/usr/bin/env bash
# Output through `dtkb run` beside the same output through `cat`: the promise is 200 MB/s with less than 10 % slowdown.
# Usage: run_bench.sh BUILD-FOLDER [MEGABYTES [ROUNDS]]
set -euo pipefail
dtkb=$(cd "$1" && pwd)/bin/dtkb
megabytes=${2:-2000} rounds=${3:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Lines as trainers write them.
line="[rank3]: 2026-03-04 10:12:41,331 INFO step 123456 loss 2.7182 lr 0.0003 grad_norm 0.97 tokens/s 41235 mem 71.3 GiB"
yes "$line" | head -c 64M >"$work/text" || true
times=$((megabytes / 64))
cat >"$work/job" <<JOB
#!/bin/sh
i=0
while [ \$i -lt $times ]; do cat "$work/text"; i=\$((i + 1)); done
JOB
chmod +x "$work/job"

# seconds COMMAND...: wall-clock time with its output going to a reader.
seconds() {
    local start=$EPOCHREALTIME
    "$@" | cat >/dev/null
    echo "$start $EPOCHREALTIME" | awk '{ printf "%.3f\n", $2 - $1 }'
}
through_cat() { "$work/job" | cat; }
through_run() { "$dtkb" run --probe none -- "$work/job"; }
best() { sort -n | head -n 1; }

for _ in $(seq "$rounds"); do
    seconds through_cat >>"$work/cat"
    seconds through_run >>"$work/run"
done
cat_time=$(best <"$work/cat") run_time=$(best <"$work/run")
awk -v c="$cat_time" -v r="$run_time" -v mb="$((times * 64))" 'BEGIN {
    printf "cat %.0f MB/s, dtkb run %.0f MB/s, slowdown %.1f %% (bars: 200 MB/s, 10 %%)\n", mb / c, mb / r, (r / c - 1) * 100
    exit !(mb / r >= 200 && r / c < 1.1) }'
