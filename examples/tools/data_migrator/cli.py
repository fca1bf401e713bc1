#!/usr/bin/env python3
"""Shows the Python SDK: batches, checkpoints, questions that wait and that do not, and errors that can be retried."""

import argparse
import errno
import hashlib
import json
import os
import sys
import time

from acor.protocol import (
    ToolError,
    answer_to,
    ask,
    check_cancel,
    emit_action,
    emit_error,
    emit_progress,
    emit_result,
    emit_start,
    heartbeat,
    load_checkpoint,
    save_checkpoint,
)
from customer_record import BadRecord, to_v2

EXIT_RETRYABLE = 20
EXIT_FATAL = 30
STAGE = "migrate"
ACTION = "choose_migration_strategy"
CHOICES = {"strict": "stop at a bad record", "skip_bad": "leave bad records out and list them"}
TRANSIENT = (errno.EIO, errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.ENETDOWN, errno.ETIMEDOUT)


class Stop(Exception):
    """Ends the migration with an error event."""

    def __init__(self, code, msg, hint, retryable=False):
        super().__init__(msg)
        self.code, self.msg, self.hint, self.retryable = code, msg, hint, retryable


def main():
    args = parse_args()
    try:
        with heartbeat(every_s=15):
            if args.selftest:
                return selftest()
            return migrate(args.source, args.target, args.batch_size, args.on_bad_record)
    except ToolError as problem:
        emit_error(problem.code, problem.msg, problem.hint)
        return EXIT_FATAL
    except Stop as stop:
        emit_error(stop.code, stop.msg, stop.hint, retryable=stop.retryable)
        return EXIT_RETRYABLE if stop.retryable else EXIT_FATAL


def parse_args():
    parser = argparse.ArgumentParser(description="Migrate customer records from version 1 to version 2.")
    parser.add_argument("--source")
    parser.add_argument("--target")
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--on-bad-record", choices=["ask", *CHOICES])
    parser.add_argument("--selftest", action="store_true")
    args = parser.parse_args()
    if not args.selftest and not (args.source and args.target and args.batch_size > 0):
        parser.error("--source, --target and a positive --batch-size are needed")
    return args


def migrate(source, target, batch_size, on_bad_record):
    started = time.monotonic()
    emit_start(STAGE, args={"source": source, "target": target, "batch_size": batch_size})
    names = record_names(source)
    decide = strategy(on_bad_record, len(names), batch_size)
    os.makedirs(target, exist_ok=True)
    job = {"source": source, "target": target}
    state = load_checkpoint(STAGE)
    if state is None or state["job"] != job:
        # The name of the last record done, not its number: a file that goes away must not shift the others.
        state = {"job": job, "last": "", "migrated": 0, "already_done": 0, "skipped": []}
    todo = [name for name in names if name > state["last"]]
    resumed_at = len(names) - len(todo)
    for begin in range(0, len(todo), batch_size):
        check_cancel()
        batch = todo[begin : begin + batch_size]
        for name in batch:
            migrate_record(name, source, target, decide, state)
        state["last"] = batch[-1]
        save_checkpoint(STAGE, state)
        done = resumed_at + begin + len(batch)
        emit_progress(STAGE, 100 * done / len(names), "%d of %d records" % (done, len(names)))
    counts = {key: state[key] for key in ("migrated", "already_done", "skipped")}
    emit_result(
        artifacts=[{"path": target}],
        metrics={"files": len(names), "resumed_at": resumed_at, "duration_s": round(time.monotonic() - started, 3)},
        data=counts,
    )
    return 0


def strategy(on_bad_record, files, batch_size):
    """How to say, once a bad record is met, whether to go on: it is known already, asked then, or asked now without waiting."""
    if on_bad_record in CHOICES:
        return lambda name, problem: on_bad_record
    if on_bad_record == "ask":
        return ask_about
    question = emit_action(ACTION, files=files, batch_size=batch_size, choices=CHOICES)
    return lambda name, problem: answer_to(question, default="strict")


def ask_about(name, problem):
    # The id is the same for every bad record: the first answer holds for all of them, also in an attempt that resumes.
    return ask(
        ACTION,
        context={"file": name, "problem": str(problem)},
        options=[{"id": choice, "label": meaning} for choice, meaning in CHOICES.items()],
        msg="A record is not what version 1 promises. How shall the migration go on?",
        action_id="bad-record",
    )


def record_names(source):
    try:
        names = sorted(name for name in os.listdir(source) if name.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        raise Stop("E_INPUT_NOT_FOUND", "no such folder: %s" % source, "Check --source.") from None
    if not names:
        raise Stop("E_INPUT_NOT_FOUND", "no JSON files in %s" % source, "Put the records there.")
    return names


def migrate_record(name, source, target, decide, state):
    path = os.path.join(source, name)
    try:
        with open(path, "rb") as file:
            raw = file.read()
        provenance = {"file": name, "sha256": hashlib.sha256(raw).hexdigest()}
        if is_done(os.path.join(target, name), provenance):
            state["already_done"] += 1
            return
        record = to_v2(json.loads(raw))
        write_whole(target, name, {**record, "migrated_from": provenance})
        state["migrated"] += 1
    except (BadRecord, ValueError) as problem:
        if decide(name, problem) != "skip_bad":
            hint = "Fix the record, or answer choose_migration_strategy with skip_bad."
            raise Stop("E_SCHEMA_MISMATCH", "%s: %s" % (path, problem), hint) from problem
        state["skipped"].append(name)
    except OSError as problem:
        raise stop_for(problem, path) from problem


def is_done(path, provenance):
    """Whether this very record was migrated before the tool was stopped."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["migrated_from"] == provenance
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return False


def write_whole(target, name, record):
    draft = os.path.join(target, ".%s.draft" % name)
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=2, ensure_ascii=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, os.path.join(target, name))


def stop_for(problem, path):
    text = "%s: %s" % (path, problem.strerror)
    if problem.errno in TRANSIENT:
        return Stop("E_TRANSIENT_NET", text, "Run it again; it continues where it stopped.", retryable=True)
    if problem.errno == errno.ENOSPC:
        return Stop("E_DISK_FULL", text, "Free space, then run it again.")
    if problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Stop("E_PERMISSION", text, "Grant the path in the manifest.")
    return Stop("E_UNKNOWN", text, "Read the logs of the run.")


def selftest():
    record = {"id": "c-1", "version": "1.0", "name": "Ada Berg", "email": "ada@example.com", "newsletter": "yes"}
    record.update(address="Ringstrasse 1, 8010 Graz, AT", created="30.08.2025")
    if to_v2(record)["created_on"] != "2025-08-30":
        raise Stop("E_TOOL_FAILED", "the conversion is wrong", "Install the tool again.")
    emit_result(data={"selftest": "ok"})
    return 0


if __name__ == "__main__":
    sys.exit(main())
