"""Hooks that add a diagnosis where a job reports its own end. A hook never hides the error it was called for."""

import json
import os
import sys
import traceback

from ._engine import Engine


def _text_of(kind, value, trace):
    rank = os.environ.get("RANK")
    lines = "".join(traceback.format_exception(kind, value, trace))
    return "".join("[rank%s]: %s\n" % (rank, line) for line in lines.splitlines()) if rank else lines


def install_excepthook(stream=None, probes="none"):
    """After an uncaught exception the previous hook runs as before; then the diagnosis is written to `stream` (stderr)."""
    previous = sys.excepthook

    def hook(kind, value, trace):
        previous(kind, value, trace)
        if issubclass(kind, (KeyboardInterrupt, SystemExit)):
            return
        out = stream or sys.stderr
        try:
            with Engine() as engine:
                report = engine.diagnose(_text_of(kind, value, trace), probes=probes, form="text")
            out.write("\n---- dtkb ----\n" + report)
            out.flush()
        except Exception as error:  # a diagnosis that fails must not cost the traceback its place
            out.write("dtkb: no diagnosis: %s\n" % error)

    sys.excepthook = hook


def _add_to_error_file(path):
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    message = record.get("message")
    trace = message.get("extraInfo", {}).get("py_callstack") if isinstance(message, dict) else message
    with Engine() as engine:
        report = engine.diagnose(str(trace or message))
    best = report["causes"][0] if report["causes"] else None
    record["dtkb"] = {
        "verdict": report["verdict"],
        "cause": best and best["id"],
        "title": best and best["title"],
        "confidence": best and best["confidence"],
        "remedy": best and best["remedies"][0],
    }
    temporary = path + ".dtkb"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(record, file)
    os.replace(temporary, path)


def install_elastic_hook():
    """Under torchrun a failing worker writes TORCHELASTIC_ERROR_FILE when it is decorated with @record; the hook adds a member "dtkb" to it."""
    from torch.distributed.elastic.multiprocessing.errors import error_handler

    original = error_handler.ErrorHandler.record_exception

    def record_exception(self, error):
        original(self, error)
        path = os.environ.get("TORCHELASTIC_ERROR_FILE")
        try:
            if path and os.path.exists(path):
                _add_to_error_file(path)
        except Exception as problem:
            sys.stderr.write("dtkb: no diagnosis in %s: %s\n" % (path, problem))

    error_handler.ErrorHandler.record_exception = record_exception
