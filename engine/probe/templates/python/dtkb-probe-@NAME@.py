#!/usr/bin/env python3
"""Looks at how busy the machine is, and says so as a fact; @NAME@.xml draws the conclusion."""
import json
import os
import sys

# What dtkb shall know goes as one JSON object a line to this descriptor; stdout and stderr are only notes.
wire = os.fdopen(int(os.environ["DTKB_FD"]), "w", buffering=1)


def say(**words):
    wire.write(json.dumps(words) + "\n")


def describe():
    say(plugin="@NAME@", version="0.1", licence="Apache-2.0", summary="load of the machine")
    say(probe="@NAME@", summary="how busy the machine is", facts=["@NAME@.load_per_core"])


def run():
    # The root is a parameter: a test may hand over a recorded tree instead of /proc.
    path = os.environ["DTKB_PROC_ROOT"] + "/loadavg"
    try:
        with open(path, encoding="ascii") as file:
            load = float(file.read().split()[0])
    except (OSError, ValueError, IndexError) as error:
        say(reason=f"{path}: {error}")
        say(result="unavailable")
        return
    say(fact="@NAME@.load_per_core", type="f64", value=load / (os.cpu_count() or 1), unit="tasks", origin=path)
    say(result="ok")


if sys.argv[1] == "--describe":
    describe()
else:
    run()
