import sys

from acor.emitter import emitter
from acor.errors import ToolError

EXIT_RETRYABLE = 20
EXIT_FATAL = 30


def report_uncaught():
    """Report a ToolError that the tool does not catch, and leave each other error to the hook that was there."""
    earlier = sys.excepthook

    def hook(kind, error, trace):
        earlier(kind, error, trace)
        if isinstance(error, ToolError) and not emitter.ended:
            emitter.emit_error(error.code, error.msg, error.hint, error.retryable)
            raise SystemExit(EXIT_RETRYABLE if error.retryable else EXIT_FATAL)

    sys.excepthook = hook
