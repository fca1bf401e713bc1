"""The whole vocabulary of the SDK, as a list."""

from acor.answers import answer_to, ask
from acor.artifacts import artifact
from acor.cancellation import cancelled, check_cancel
from acor.checkpoints import load_checkpoint, save_checkpoint
from acor.emitter import (
    ProtocolEmitter,
    emit,
    emit_action,
    emit_cancelled,
    emit_error,
    emit_heartbeat,
    emit_log,
    emit_progress,
    emit_record,
    emit_result,
    emit_start,
)
from acor.errors import ToolError
from acor.inputs import args
from acor.liveness import heartbeat
from acor.run_context import deadline_left_s, run_id, workspace
from acor.secret_files import secret
from acor.uncaught import report_uncaught

__all__ = [
    "ProtocolEmitter",
    "ToolError",
    "answer_to",
    "args",
    "artifact",
    "ask",
    "cancelled",
    "check_cancel",
    "deadline_left_s",
    "emit",
    "emit_action",
    "emit_cancelled",
    "emit_error",
    "emit_heartbeat",
    "emit_log",
    "emit_progress",
    "emit_record",
    "emit_result",
    "emit_start",
    "heartbeat",
    "load_checkpoint",
    "run_id",
    "save_checkpoint",
    "secret",
    "workspace",
]

report_uncaught()
