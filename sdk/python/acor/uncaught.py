import os
import sys
import threading

from acor.emitter import emitter
from acor.errors import ToolError

EXIT_RETRYABLE = 20
EXIT_FATAL = 30


def report_uncaught():
    """Report a ToolError that the tool does not catch, in any thread, and leave each other error to the hook that was there."""
    earlier = sys.excepthook
    earlier_in_thread = threading.excepthook

    def hook(kind, error, trace):
        earlier(kind, error, trace)
        if _is_reported(error):
            raise SystemExit(_exit_code(error))

    def hook_in_thread(args):
        earlier_in_thread(args)
        if _is_reported(args.exc_value):
            # An exit in a thread ends the thread alone.
            sys.stderr.flush()
            os._exit(_exit_code(args.exc_value))

    sys.excepthook = hook
    threading.excepthook = hook_in_thread


def _is_reported(error):
    if not isinstance(error, ToolError) or emitter.ended:
        return False
    emitter.emit_error(error.code, error.msg, error.hint, error.retryable)
    return True


def _exit_code(error):
    return EXIT_RETRYABLE if error.retryable else EXIT_FATAL
