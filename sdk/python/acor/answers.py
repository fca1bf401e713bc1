import os
import threading
import time

from acor.action_ids import next_action_id
from acor.answer_files import parse_answer, read_answer_file
from acor.cancellation import check_cancel
from acor.emitter import emitter
from acor.errors import ToolError, check_file_name
from acor.run_context import deadline_left_s, put_off_deadline, waiting_stops_deadline

POLL_S = 0.1
# The runner has the same deadline and time limit, and its decision counts, so wait a little longer than it does.
RUNNER_GRACE_S = 1
NO_DEFAULT = object()


def ask(
    action,
    context=None,
    options=None,
    schema=None,
    default=NO_DEFAULT,
    timeout_s=None,
    audience=None,
    msg=None,
    action_id=None,
):
    """Put a question and wait for its answer; one that an earlier attempt got is returned without asking again.

    ``options`` holds ids or ``{"id", "label", "description"}``. Give an ``action_id`` where a resumed attempt may ask in
    another order.
    """
    action_id = action_id or next_action_id(action)
    check_file_name("action_id", action_id)
    earlier = read_answer_file(action_id)
    if earlier:
        return earlier["answer"]
    _stdin_answers.listen()
    details = {
        "options": [_option(each) for each in _listed(options)] or None,
        "schema": schema,
        "timeout_s": timeout_s,
        "audience": audience,
        "msg": msg,
    }
    fields = {name: value for name, value in details.items() if value is not None}
    if default is not NO_DEFAULT:
        fields["default"] = default
    # Before what may be long: of a message above the limit, the runner sees the beginning.
    emitter.emit(
        "action_required", action=action, action_id=action_id, blocking=True, context=context or {}, **fields
    )
    return _wait(action, action_id, default, timeout_s)


def answer_to(action_id, default=None):
    """The answer to a question put with ``emit_action``, once it is there; ``default`` until then."""
    check_file_name("action_id", action_id)
    delivered = read_answer_file(action_id)
    if not delivered:
        return default
    put_off_deadline(delivered)
    return delivered["answer"]


def _listed(options):
    if options is None or isinstance(options, (list, tuple)):
        return options or []
    raise ToolError("E_USAGE", "not a list of options: %r" % (options,), 'Give a list, such as ["yes", "no"].')


def _option(option):
    if isinstance(option, str):
        return {"id": option}
    if isinstance(option, dict) and isinstance(option.get("id"), str):
        return option
    raise ToolError(
        "E_USAGE",
        "not an option: %r" % (option,),
        "Give each option as a text, or as a dict with an id, a label and a description.",
    )


def _wait(action, action_id, default, timeout_s):
    can_come_as_file = bool(os.environ.get("ANSWERS_DIR"))
    grace_s = RUNNER_GRACE_S if can_come_as_file else 0
    give_up_s = None if timeout_s is None else time.monotonic() + timeout_s + grace_s
    while True:
        delivered = _stdin_answers.get(action_id) or read_answer_file(action_id)
        if delivered:
            put_off_deadline(delivered)
            return delivered["answer"]
        check_cancel()
        left_s = None if waiting_stops_deadline() else deadline_left_s()
        if left_s is not None and left_s <= -grace_s:
            raise ToolError("E_DEADLINE", "the deadline passed while '%s' waited for an answer" % action)
        if give_up_s is not None and time.monotonic() >= give_up_s:
            return _default_or_raise(
                default, "E_ACTION_TIMEOUT", "'%s' got no answer within %s s" % (action, timeout_s)
            )
        if _stdin_answers.ended and not can_come_as_file:
            return _default_or_raise(default, "E_ACTION_REQUIRED", "no one can answer '%s' here" % action)
        _stdin_answers.wait(POLL_S)


def _default_or_raise(default, code, msg):
    if default is not NO_DEFAULT:
        return default
    raise ToolError(code, msg, "Answer it beforehand with --answer, or give the question a default.")


class _StdinAnswers:
    """Reads answers from stdin in the background, for the questions of all threads."""

    def __init__(self):
        self.ended = False
        self._arrived = threading.Condition()
        self._answers = {}
        self._thread = None

    def listen(self):
        # In a pipe stdin belongs to the tool itself, and answers come as files alone.
        if os.environ.get("ACOR_STDIN") == "records":
            return
        with self._arrived:
            if self._thread is None:
                self._thread = threading.Thread(target=self._read, name="acor-answers", daemon=True)
                self._thread.start()

    def get(self, action_id):
        with self._arrived:
            return self._answers.get(action_id)

    def wait(self, seconds):
        with self._arrived:
            self._arrived.wait(seconds)

    def _read(self):
        # Not sys.stdin: its lock, held by a thread that still reads, would abort the interpreter's exit.
        partial = b""
        while True:
            try:
                chunk = os.read(0, 65536)
            except OSError:
                chunk = b""
            *lines, partial = (partial + chunk).split(b"\n")
            found = [parse_answer(line.decode("utf-8", "replace")) for line in lines]
            with self._arrived:
                self._answers.update({answer["action_id"]: answer for answer in found if answer})
                self.ended = not chunk
                self._arrived.notify_all()
            if not chunk:
                return


_stdin_answers = _StdinAnswers()
