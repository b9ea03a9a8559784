#!/usr/bin/env bash
# gpu_symbols.sh PLUGIN...: no plugin needs a CUDA, NVML or NCCL symbol or library at load time, and each exports its entry alone.
set -euo pipefail
for plugin in "$@"; do
    if nm -D --undefined-only "$plugin" | grep -E ' (cu[A-Z]|cuda[A-Z]|nvml[A-Z]|nccl[A-Z])'; then
        echo "$plugin is linked to the symbols above"
        exit 1
    fi
    if readelf -d "$plugin" | grep NEEDED | grep -E 'cuda|nvidia|nccl'; then
        echo "$plugin needs the libraries above"
        exit 1
    fi
    exported=$(nm -D --defined-only "$plugin" | awk '$2 == "T" {print $3}')
    [ "$exported" = dtkb_plugin_entry_v1 ] || { echo "$plugin exports: $exported"; exit 1; }
done
