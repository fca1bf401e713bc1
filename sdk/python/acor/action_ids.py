import threading

from acor.answer_files import read_answer_file

_lock = threading.Lock()
_asked = 0


def next_action_id(action):
    """``a-1``, ``a-2`` … in the order of asking, so that a restarted attempt finds its earlier answers.

    A number whose answer belongs to another action is left out: an attempt that resumes may not ask everything again.
    """
    global _asked
    with _lock:
        while True:
            _asked += 1
            action_id = "a-%d" % _asked
            earlier = read_answer_file(action_id)
            if earlier is None or earlier.get("action", action) == action:
                return action_id
