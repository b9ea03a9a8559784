#!/usr/bin/env bash
# Who may include whom (the table of ARCHITECTURE.md), and functions that have no place in a library.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0

# allow FOLDER PATTERN: every quoted or dtkb include of FOLDER's sources must match PATTERN.
allow() {
    local folder=$1 pattern=$2 bad
    bad=$(git ls-files "$folder/*.c" "$folder/*.h" "$folder/*.cu" | grep -v /templates/ | xargs -r grep -nE '^\s*#\s*include\s+("|<dtkb/)' /dev/null |
        grep -vE "include\s+(\"|<)($pattern)" || true)
    if [ -n "$bad" ]; then
        printf '%s may not include:\n%s\n' "$folder" "$bad" >&2
        failed=1
    fi
}
allow engine/base 'base/|dtkb/'
allow engine/scan 'scan/|base/|dtkb/'
allow engine/kb 'kb/|scan/|base/|dtkb/'
allow engine/probe 'probe/|kb/kb.h|base/|dtkb/'
allow engine/diagnose 'diagnose/|scan/findings.h|scan/signature.h|kb/kb.h|probe/probe.h|base/|dtkb/'
allow engine/report 'report/|base/|dtkb/'
allow engine/api 'api/|base/|scan/|kb/|probe/|diagnose/|report/|dtkb/'
allow engine/examples 'dtkb/'
allow tools/bench 'kb/|scan/|base/|dtkb/' # measures what the public interface hides
for folder in tools/*/; do
    [ "$folder" = tools/bench/ ] || allow "${folder%/}" 'dtkb/dtkb.h|[a-z_]+\.h'
done
allow plugins 'dtkb/plugin.h|common/|[a-z_]+\.h'
allow cuda_probe 'dtkb/plugin.h|common/|[a-z_]+\.h'

# The library prints nothing, never ends the process, forks nothing, installs no handler. What strings and comments speak of is no call.
banned='\b(exit|_exit|abort|fork|vfork|system|signal|sigaction|strcpy|strcat|sprintf|gets|printf|puts|perror|setenv|unsetenv|putenv)\s*\('
bad=$(git ls-files 'engine/*.c' | grep -vE '^engine/(probe/host|probe/templates|examples)/' | xargs -r grep -nE "$banned" /dev/null | grep -vE '^\S+:[0-9]+:\s*(/?\*|//)' | sed -E 's/"([^"\\]|\\.)*"/""/g' | grep -E "$banned" || true)
if [ -n "$bad" ]; then
    printf 'no place in a library:\n%s\n' "$bad" >&2
    failed=1
fi
exit $failed
