#!/usr/bin/env python3
"""A probe in Python that keeps the contract."""
import json
import os
import sys
import time

wire = os.fdopen(int(os.environ["DTKB_FD"]), "w", buffering=1)


def say(**words):
    wire.write(json.dumps(words) + "\n")


if sys.argv[1] == "--describe":
    say(plugin="python-good", version="1.0", licence="MIT", summary="a Python program")
    say(probe="python-good", summary="keeps the contract", facts=["double.*"], caps=["active"], timeout_ms=5000)
else:
    say(fact="double.size_bytes", type="u64", value="unlimited", unit="bytes")
    say(fact="double.rate_gbps", type="f64", value=10, unit="Gbit/s", origin="a file")
    left = float(os.environ["DTKB_DEADLINE_MS"]) / 1000 - time.monotonic()
    say(fact="double.up", type="bool", value=0 < left < 60)
    say(reason="as asked")
    say(result="fault")
