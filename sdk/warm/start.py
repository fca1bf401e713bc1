"""Starts a Python tool before its run (`warm: true`): imports what the tool imports, and waits for the run.

Called as `python start.py ENTRY`. Descriptor 3 delivers the run: records that end in NUL, `cwd=`, `env=NAME=VALUE` for what the
process does not have yet, and `arg=`.
The process serves one run, so nothing of it is shared with another.
"""

import ast
import builtins
import gc
import importlib.util
import os
import site
import sys
import sysconfig
import time
import types

_ORDERS = 3
_STARTED_NS = time.time_ns()


def _imported(tree):
    """The modules that the file imports wherever it is loaded, without those that are imported by a function later."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            waiting.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))


_STDLIB = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib"))
_PACKAGES = tuple(folder + os.sep for folder in site.getsitepackages())


def _preload(tree):
    """Imports what is installed with Python. The project's own modules may change before the run."""
    for name in _imported(tree):
        try:
            spec = importlib.util.find_spec(name.partition(".")[0])
            if spec is not None and (spec.origin in ("built-in", "frozen") or (spec.origin or "").startswith(_STDLIB + _PACKAGES)):
                importlib.import_module(name)
        except BaseException:  # The tool meets the same error, and reports it.
            pass


def _watched():
    """What decides on the modules: where they are looked for, the folders of the standard library, and each other file."""
    yield from sys.path
    yield from _STDLIB
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if path and (path.startswith(_PACKAGES) or not path.startswith(_STDLIB)):
            yield path


def _state(path):
    try:
        stats = os.stat(path)
        return stats.st_ino, stats.st_mtime_ns, stats.st_size
    except OSError:
        return None


def _is_changed(path, state):
    # What has changed since this process started may have been read before or after that.
    return _state(path) != state or (state is not None and state[1] >= _STARTED_NS)


def _orders():
    parts = []
    while True:
        part = os.read(_ORDERS, 65536)
        if not part:
            break
        parts.append(part)
    os.close(_ORDERS)
    return b"".join(parts)


def _enter(entry):
    """Takes over the variables, the folder and the arguments of the run. Without a run the process ends."""
    text = _orders()
    if not text:
        os._exit(0)
    variables, arguments, folder = {}, [], None
    for record in text.split(b"\0"):
        key, _, value = record.partition(b"=")
        if key == b"env":
            name, _, content = value.partition(b"=")
            variables[name] = content
        elif key == b"arg":
            arguments.append(os.fsdecode(value))
        elif key == b"cwd":
            folder = value
    # A shell that has started the interpreter has noted its own folder there.
    if b"PWD" in os.environb:
        os.environb[b"PWD"] = folder
    os.environb.update(variables)
    os.chdir(folder)
    sys.argv[:] = arguments[arguments.index(entry) :]


def _run(entry, source, code):
    with open(entry, "rb") as file:
        now = file.read()
    if code is None or now != source:
        code = compile(now, entry, "exec")
    main = types.ModuleType("__main__")
    loader = type(__loader__)("__main__", entry)
    main.__dict__.update(__file__=entry, __builtins__=builtins, __cached__=None, __loader__=loader)
    # Python before 3.14 makes them for the main module alone.
    if "__annotations__" in globals():
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _start(entry):
    sys.path[0] = os.path.dirname(entry)
    source = code = None
    try:
        with open(entry, "rb") as file:
            source = file.read()
        tree = ast.parse(source, entry)
        code = compile(tree, entry, "exec")
        _preload(tree)
    except Exception:  # The run reports it.
        pass
    # What is there by now lives as long as the process: its end need not look through it.
    gc.collect()
    gc.freeze()
    watched = {path: _state(path) for path in _watched()}
    _enter(entry)
    if any(_is_changed(path, state) for path, state in watched.items()):
        # A package was installed or changed since: the run starts as any other.
        os.execv(sys.executable, [sys.executable, *sys.argv])
    try:
        _run(entry, source, code)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Without the frames of this file.
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(1)


_start(sys.argv[1])
