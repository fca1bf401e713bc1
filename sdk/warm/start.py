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
import sys
import sysconfig
import types

_ORDERS = 3


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


def _preload(tree):
    """Imports what is installed with Python. The project's own modules may change before the run."""
    paths = sysconfig.get_paths()
    installed = tuple(paths[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    for name in _imported(tree):
        try:
            spec = importlib.util.find_spec(name.partition(".")[0])
            if spec is not None and (spec.origin in ("built-in", "frozen") or (spec.origin or "").startswith(installed)):
                importlib.import_module(name)
        except BaseException:  # The tool meets the same error, and reports it.
            pass


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
    os.environb.update(variables)
    os.chdir(folder)
    sys.argv[:] = arguments[arguments.index(entry) :]


def _run(entry, source, code):
    with open(entry, "rb") as file:
        now = file.read()
    if code is None or now != source:
        code = compile(now, entry, "exec")
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=entry, __builtins__=builtins, __cached__=None)
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
    _enter(entry)
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
