#!/usr/bin/env python3
"""Looks at how the kernel promises memory, and says so as a fact; @NAME@.xml draws the conclusion."""
import json
import os
import sys

# What dtkb shall know goes as one JSON object a line to this descriptor; stdout and stderr are only notes.
wire = os.fdopen(int(os.environ["DTKB_FD"]), "w", buffering=1)


def say(**words):
    wire.write(json.dumps(words) + "\n")


def describe():
    say(plugin="@NAME@", version="0.1", licence="Apache-2.0", summary="memory promises of the kernel")
    say(probe="@NAME@", summary="how the kernel promises memory", facts=["@NAME@.overcommit_mode"])


def run():
    # The root is a parameter: a test may hand over a recorded tree instead of /proc.
    path = os.environ["DTKB_PROC_ROOT"] + "/sys/vm/overcommit_memory"
    try:
        with open(path, encoding="ascii") as file:
            say(fact="@NAME@.overcommit_mode", type="u64", value=int(file.read()), origin=path)
    except (OSError, ValueError) as error:
        say(reason=f"{path}: {error}")
        say(result="unavailable")
    else:
        say(result="ok")


if sys.argv[1] == "--describe":
    describe()
else:
    run()
