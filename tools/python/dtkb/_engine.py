"""The C interface (dtkb.h) as a class."""

import ctypes
import json
import os

_ERROR_TEXT_MAX = 1024
_FORMATS = {"text": 0, "json": 1, "markdown": 2, "sarif": 3, "junit": 4, "html": 5, "github": 6}


class Error(RuntimeError):
    """What dtkb_error() says; `status` is the dtkb_status."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class _OpenOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("kb", ctypes.c_char_p),
        ("packs", ctypes.POINTER(ctypes.c_char_p)),
        ("pack_count", ctypes.c_size_t),
        ("no_default_packs", ctypes.c_int),
        ("log", ctypes.c_void_p),
        ("log_context", ctypes.c_void_p),
    ]


class _DiagnoseOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("probes", ctypes.c_char_p),
        ("plugin_path", ctypes.c_char_p),
        ("parameters", ctypes.POINTER(ctypes.c_char_p)),
        ("parameter_count", ctypes.c_size_t),
        ("probe_timeout", ctypes.c_double),
        ("probe_budget", ctypes.c_double),
        ("try_fixes", ctypes.c_int),
        ("threads", ctypes.c_uint),
        ("max_causes", ctypes.c_size_t),
        ("max_similar", ctypes.c_size_t),
        ("explain_scores", ctypes.c_int),
        ("progress", ctypes.c_void_p),
        ("progress_context", ctypes.c_void_p),
    ]


class _Query(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (name, ctypes.c_char_p) for name in ("text", "framework", "stage", "symptom", "fix", "kind", "source")
    ] + [("limit", ctypes.c_size_t)]


class _WriteOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("width", ctypes.c_uint), ("color", ctypes.c_int)]


_WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def _candidates():
    named = os.environ.get("DTKB_LIBRARY")
    if named:
        yield named
        return
    # Installed beside us: PREFIX/lib/pythonX/.../dtkb or PREFIX/share/dtkb/python/dtkb.
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(6):
        folder = os.path.dirname(folder)
        for lib in ("lib", "lib64", os.path.join("lib", "%s-linux-gnu" % os.uname().machine)):
            path = os.path.join(folder, lib, "libdtkb.so.0")
            if os.path.exists(path):
                yield path
    yield "libdtkb.so.0"


def _load():
    problems = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            problems.append(str(error))
    raise ImportError("libdtkb was not found; set DTKB_LIBRARY to its path (%s)" % "; ".join(problems))


def _declare(lib):
    handle, out, text = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p
    signatures = {
        "dtkb_version": (text, []),
        "dtkb_open": (ctypes.c_int, [out, ctypes.POINTER(_OpenOptions), ctypes.c_char_p, ctypes.c_size_t]),
        "dtkb_close": (None, [handle]),
        "dtkb_error": (text, [handle]),
        "dtkb_diagnosis_new": (ctypes.c_int, [handle, ctypes.POINTER(_DiagnoseOptions), out]),
        "dtkb_feed": (ctypes.c_int, [handle, text, ctypes.c_char_p, ctypes.c_size_t]),
        "dtkb_feed_path": (ctypes.c_int, [handle, text]),
        "dtkb_conclude": (ctypes.c_int, [handle, out]),
        "dtkb_diagnosis_free": (None, [handle]),
        "dtkb_search": (ctypes.c_int, [handle, ctypes.POINTER(_Query), out]),
        "dtkb_show": (ctypes.c_int, [handle, text, out]),
        "dtkb_explain": (ctypes.c_int, [handle, text, out]),
        "dtkb_doc_json": (text, [handle]),
        "dtkb_doc_write": (ctypes.c_int, [handle, ctypes.c_int, ctypes.POINTER(_WriteOptions), _WRITE, handle]),
        "dtkb_doc_free": (None, [handle]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


_lib = None


def _library():
    global _lib
    if _lib is None:
        _lib = _declare(_load())
    return _lib


def version():
    """Version of the library, "0.1.0"."""
    return _library().dtkb_version().decode()


def _bytes(value):
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


class Engine:
    """An opened knowledge base. One thread at a time; any number of engines. Close it, or use it as a context manager."""

    def __init__(self, kb=None, packs=()):
        lib = _library()
        self._handle = ctypes.c_void_p()
        why = ctypes.create_string_buffer(_ERROR_TEXT_MAX)
        names = (ctypes.c_char_p * max(1, len(packs)))(*[_bytes(os.fspath(pack)) for pack in packs])
        options = _OpenOptions(ctypes.sizeof(_OpenOptions), _bytes(kb), names, len(packs), 0, None, None)
        status = lib.dtkb_open(ctypes.byref(self._handle), ctypes.byref(options), why, len(why))
        if status:
            raise Error(status, why.value.decode("utf-8", "replace"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the knowledge base; twice is harmless."""
        if self._handle:
            _library().dtkb_close(self._handle)
            self._handle = None

    def _check(self, status):
        if status:
            raise Error(status, _library().dtkb_error(self._handle).decode("utf-8", "replace"))

    def _document(self, doc, form):
        lib = _library()
        try:
            if form == "dict":
                return json.loads(lib.dtkb_doc_json(doc))
            chunks = []

            def write(_, data, length):
                chunks.append(ctypes.string_at(data, length))
                return 0

            options = _WriteOptions(ctypes.sizeof(_WriteOptions), 100, 0)
            status = lib.dtkb_doc_write(doc, _FORMATS[form], ctypes.byref(options), _WRITE(write), None)
            if status:
                raise Error(status, "no such format for this document: %s" % form)
            return b"".join(chunks).decode("utf-8", "replace")
        finally:
            lib.dtkb_doc_free(doc)

    def diagnose(self, text=None, *, path=None, probes="none", form="dict", name="log"):
        """Diagnoses `text` (str or bytes) or the log, folder or archive at `path`.

        probes: "none", "auto", or names joined by commas. form: "dict", or one of text, json, markdown, sarif, junit, html, github.
        """
        lib = _library()
        options = _DiagnoseOptions()
        options.struct_size, options.probes = ctypes.sizeof(options), _bytes(probes)
        diagnosis, doc = ctypes.c_void_p(), ctypes.c_void_p()
        self._check(lib.dtkb_diagnosis_new(self._handle, ctypes.byref(options), ctypes.byref(diagnosis)))
        try:
            if text is not None:
                data = _bytes(text)
                self._check(lib.dtkb_feed(diagnosis, _bytes(name), data, len(data)))
            if path is not None:
                self._check(lib.dtkb_feed_path(diagnosis, os.fsencode(path)))
            self._check(lib.dtkb_conclude(diagnosis, ctypes.byref(doc)))
        finally:
            lib.dtkb_diagnosis_free(diagnosis)
        return self._document(doc, form)

    def search(self, query, *, framework=None, stage=None, symptom=None, fix=None, kind=None, source=None, limit=10):
        """Searches the issues; returns the document dtkb.search/1."""
        doc = ctypes.c_void_p()
        words = [_bytes(word) for word in (query, framework, stage, symptom, fix, kind, source)]
        what = _Query(ctypes.sizeof(_Query), *words, limit)
        self._check(_library().dtkb_search(self._handle, ctypes.byref(what), ctypes.byref(doc)))
        return self._document(doc, "dict")

    def show(self, issue):
        """One issue by id or URL."""
        doc = ctypes.c_void_p()
        self._check(_library().dtkb_show(self._handle, _bytes(issue), ctypes.byref(doc)))
        return self._document(doc, "dict")

    def explain(self, cause):
        """One diagnosis card by id."""
        doc = ctypes.c_void_p()
        self._check(_library().dtkb_explain(self._handle, _bytes(cause), ctypes.byref(doc)))
        return self._document(doc, "dict")
