#!/usr/bin/env python3
"""Shows that neither an SDK nor a manifest is needed: it prints the protocol by itself."""

import json
import os
import sys
import time


def emit(kind, **fields):
    envelope = {
        "v": 1,
        "type": kind,
        "ts": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "run_id": os.environ.get("RUN_ID", "r-local"),
    }
    print(json.dumps({**envelope, **fields}), flush=True)


def main():
    paths = sys.argv[1:]
    emit("start", step="words", args={"files": paths})
    counts = {}
    for number, path in enumerate(paths, 1):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                counts[path] = sum(len(line.split()) for line in file)
        except OSError as problem:
            emit("error", code="E_INPUT_NOT_FOUND", msg=str(problem), hint="Check the path.", retryable=False)
            return 30
        emit("progress", step="words", pct=100 * number / len(paths), msg=path)
    emit("result", status="ok", data={"words": counts})
    return 0


if __name__ == "__main__":
    sys.exit(main())
