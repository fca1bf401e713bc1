#!/usr/bin/env python3
"""Speaks the protocol: one JSON object a line on stdout. stderr is for people."""

import sys

from acor.protocol import args, check_cancel, emit_error, emit_progress, emit_result, emit_start
from greeting import greeting

EXIT_FATAL = 30


def main():
    return selftest() if "--selftest" in sys.argv else greet(**args())


def greet(who, times):
    emit_start("greet", args={"who": who, "times": times})
    greetings = []
    for done in range(1, times + 1):
        check_cancel()
        greetings.append(greeting(who))
        emit_progress("greet", 100 * done / times, "%d of %d" % (done, times))
    emit_result(data={"greetings": greetings})
    return 0


def selftest():
    if greeting("x") != "Hello, x!":
        emit_error("E_TOOL_FAILED", "the greeting is wrong", "Fix greeting.py.")
        return EXIT_FATAL
    emit_result(data={"selftest": "ok"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
