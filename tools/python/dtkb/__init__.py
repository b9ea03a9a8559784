"""dtkb for Python: what went wrong with a distributed training job, from libdtkb through ctypes. No dependency beyond the standard library.

    import dtkb
    report = dtkb.diagnose(open("train.log").read())
    print(report["verdict"], report["causes"][0]["title"])

    dtkb.install_excepthook()        # an uncaught exception is followed by its diagnosis
    dtkb.install_elastic_hook()      # torchrun's error files carry the diagnosis, too
"""

from ._engine import Engine, Error, version
from ._hooks import install_elastic_hook, install_excepthook

__all__ = ["Engine", "Error", "diagnose", "explain", "install_elastic_hook", "install_excepthook", "search", "show", "version"]


def diagnose(text, **options):
    """Diagnoses a log given as str or bytes and returns the report as a dict (schema dtkb.report/1). Options as of Engine.diagnose()."""
    with Engine() as engine:
        return engine.diagnose(text, **options)


def search(query, **filters):
    """Searches the issues; filters: framework, stage, symptom, fix, kind, source, limit."""
    with Engine() as engine:
        return engine.search(query, **filters)


def show(issue):
    """One issue by id or URL."""
    with Engine() as engine:
        return engine.show(issue)


def explain(cause):
    """One diagnosis card by id."""
    with Engine() as engine:
        return engine.explain(cause)
