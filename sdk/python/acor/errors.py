import json
import re

_SAFE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}")


class ToolError(Exception):
    """A mistake that a tool should report: a code of the error table, what happened, and the fix.

    One that the tool does not catch becomes the error of the run. Without ``retryable`` the exit code and the table decide.
    """

    def __init__(self, code, msg, hint="", retryable=None):
        super().__init__(msg)
        self.code = code
        self.msg = msg
        self.hint = hint
        self.retryable = retryable


def check_file_name(what, name):
    """Refuse a name that could lead out of the folder it is used in."""
    if not isinstance(name, str) or not _SAFE_NAME.fullmatch(name):
        raise ToolError(
            "E_USAGE",
            "not a %s: %s" % (what, json.dumps(name, default=str)),
            'Use letters, digits, "_", "-" and ".", at most 128, not beginning with a dot.',
        )
