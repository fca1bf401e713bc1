import json
import math
import os
import sys
import threading
import time

from acor.action_ids import next_action_id
from acor.run_context import run_id as current_run_id
from acor.run_context import trace_fields, utc_now

STDOUT = 1
# What a shell reports for a program that SIGPIPE ended.
EXIT_BROKEN_PIPE = 141
FINAL_TYPES = ("result", "error", "cancelled")

# Reentrant, because a signal handler may emit while its own thread holds it.
_write_lock = threading.RLock()


def _new_write_lock():
    global _write_lock
    _write_lock = threading.RLock()


# A child forked while another thread wrote would find the lock taken for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_write_lock)


class ProtocolEmitter:
    """Writes protocol v1 messages (contract §1), one JSON object a line; any thread may use it."""

    def __init__(self, run_id=None):
        self.run_id = run_id or current_run_id()
        # The step named last; a background heartbeat takes it over.
        self.step = ""
        # Whether a final message is out: nothing may follow it.
        self.ended = False
        # On the monotonic clock; a beat in the background moves only the first of the two.
        self.last_line_s = time.monotonic()
        self.last_sign_of_work_s = self.last_line_s

    def emit(self, type, **fields):
        """Write a message of any type."""
        envelope = {"v": 1, "type": type, "ts": utc_now(), "run_id": self.run_id}
        envelope.update(trace_fields())
        # Twice, so that the envelope stands first and no field replaces it.
        line = _to_json({**envelope, **fields, **envelope}) + "\n"
        with _write_lock:
            _write_line(line.encode("utf-8"))
            if isinstance(fields.get("step"), str):
                self.step = fields["step"]
            self.ended = self.ended or type in FINAL_TYPES
            self.last_line_s = self.last_sign_of_work_s = time.monotonic()

    def emit_start(self, step, args=None, **more):
        """Say once, first, what begins and with what."""
        self.emit("start", step=step, args=args or {}, **more)

    def emit_progress(self, step, pct, msg="", **more):
        """Say how far the work is, in per cent."""
        pct = 0 if math.isnan(pct) else round(min(100, max(0, pct)), 2)
        self.emit("progress", step=step, pct=pct, msg=msg, **more)

    def emit_heartbeat(self, step, **more):
        """A sign of life from the work itself."""
        self.emit("heartbeat", step=step, **more)

    def emit_action(self, action, *, msg=None, **context):
        """Put a question and go on without waiting; returns the ``action_id`` that ``answer_to`` takes.

        ``msg`` is the question in words.
        """
        action_id = next_action_id(action)
        words = {} if msg is None else {"msg": msg}
        self.emit("action_required", action=action, action_id=action_id, context=context, blocking=False, **words)
        return action_id

    def emit_result(self, status="ok", **fields):
        """Say that the work is done, and with what outcome; the last message of a tool."""
        self.emit("result", status=status, **fields)

    def emit_error(self, code, msg, hint="", retryable=None, **more):
        """Say what went wrong and how to put it right; the last message of a tool.

        Without ``retryable`` the exit code and the table of error codes decide whether a retry may help.
        """
        if retryable is not None:
            more["retryable"] = retryable
        self.emit("error", code=code, msg=msg, hint=hint, **more)

    def emit_log(self, level, msg, **more):
        """A remark for the readers of the events."""
        self.emit("log", level=level, msg=msg, **more)

    def emit_record(self, record):
        """Hand a record, a dict, on to the tool that comes next in a pipe."""
        self.emit_log("info", "record", record=record)

    def emit_cancelled(self, reason):
        """Report that the tool stopped on request; ``check_cancel`` does it for you."""
        with _write_lock:
            if not self.ended:
                self.emit("cancelled", reason=reason)

    def beat(self, step=None):
        """A sign of life from the background, which says nothing about progress."""
        with _write_lock:
            if self.ended:
                return
            last_sign_of_work_s = self.last_sign_of_work_s
            self.emit_heartbeat(self.step if step is None else step)
            self.last_sign_of_work_s = last_sign_of_work_s


emitter = ProtocolEmitter()
emit = emitter.emit
emit_start = emitter.emit_start
emit_progress = emitter.emit_progress
emit_heartbeat = emitter.emit_heartbeat
emit_action = emitter.emit_action
emit_result = emitter.emit_result
emit_error = emitter.emit_error
emit_log = emitter.emit_log
emit_record = emitter.emit_record
emit_cancelled = emitter.emit_cancelled


def _to_json(message):
    try:
        return json.dumps(message, allow_nan=False, separators=(",", ":"), default=str)
    except ValueError:
        return json.dumps(_without_nan(message), allow_nan=False, separators=(",", ":"), default=str)


def _without_nan(value):
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_line(data):
    try:
        # What the tool printed by itself came before this line.
        sys.stdout.flush()
        view = memoryview(data)
        while view:
            view = view[_write_some(view) :]
    except (BrokenPipeError, ConnectionResetError):
        _end_quietly()


def _write_some(view):
    try:
        return os.write(STDOUT, view)
    except BlockingIOError:
        time.sleep(0.001)
        return 0


def _end_quietly():
    # Python flushes stdout again when it exits, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
    if threading.current_thread() is threading.main_thread():
        raise SystemExit(EXIT_BROKEN_PIPE)
    os._exit(EXIT_BROKEN_PIPE)
