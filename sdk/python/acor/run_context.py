import calendar
import os
import re
import time

_RFC3339_UTC = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(?:Z|\+00:00)")


def run_id():
    """The id of this run; outside ACOR a local one, so that a tool can be tried by hand."""
    return os.environ.get("RUN_ID") or "r-local-%d" % os.getpid()


def workspace():
    """The folder that a tool may write to (contract §2); outside ACOR the current one."""
    return os.environ.get("WORKSPACE") or os.getcwd()


def checkpoint_dir():
    """Where checkpoints are kept (contract §6)."""
    return os.environ.get("CHECKPOINT_DIR") or os.path.join(workspace(), ".checkpoints")


def deadline_left_s():
    """Seconds until the runner ends this run, negative once it is past; ``None`` without a deadline."""
    deadline_s = _epoch_s(os.environ.get("DEADLINE_TS", ""))
    return None if deadline_s is None else deadline_s - time.time()


def waiting_stops_deadline():
    """Whether waiting for an answer extends the deadline, so that ``DEADLINE_TS`` may pass meanwhile."""
    return os.environ.get("ACOR_WAITING_STOPS_DEADLINE") == "1"


def put_off_deadline(delivered):
    """Take over a later deadline, where this attempt was given one with an answer.

    It is put into the environment for programs started from now on.
    """
    if str(delivered.get("attempt")) != os.environ.get("ACOR_ATTEMPT"):
        return
    later_s, known_s = _epoch_s(delivered.get("deadline_ts")), _epoch_s(os.environ.get("DEADLINE_TS", ""))
    if later_s is not None and known_s is not None and later_s > known_s:
        os.environ["DEADLINE_TS"] = delivered["deadline_ts"]


def _epoch_s(text):
    match = _RFC3339_UTC.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return None
    return calendar.timegm(time.strptime(match.group(1), "%Y-%m-%dT%H:%M:%S")) + float(match.group(2) or 0)


def trace_fields():
    """The W3C ids of the span that this attempt is, where the runner gave them (contract §1)."""
    fields = {}
    for field, variable, digits in (("trace_id", "TRACE_ID", 32), ("span_id", "SPAN_ID", 16)):
        value = os.environ.get(variable, "")
        if re.fullmatch("[0-9a-f]{%d}" % digits, value):
            fields[field] = value
    return fields


def utc_now():
    """The time as the protocol writes it: RFC 3339 in UTC, to the millisecond."""
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + ".%03dZ" % (now * 1000 % 1000)
