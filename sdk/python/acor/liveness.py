import threading
import time

from acor.emitter import emitter


class heartbeat:
    """``with heartbeat(every_s=15):`` emits a ``heartbeat`` whenever nothing was emitted for ``every_s`` seconds.

    It says that the process lives, not that the work advances: that is what ``emit_progress`` says. After
    ``max_silent_s`` without a message of the work itself it falls silent, so that the runner sees a tool that hangs.
    """

    def __init__(self, every_s=15, step=None, max_silent_s=1800):
        self._every_s = every_s
        self._step = step
        self._max_silent_s = max_silent_s
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="acor-heartbeat", daemon=True)

    def start(self):
        self._thread.start()
        return self

    def stop(self):
        self._stopped.set()
        self._thread.join()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_exception):
        self.stop()

    def _beat(self):
        wait_s = self._every_s
        while not self._stopped.wait(wait_s) and not emitter.ended:
            now = time.monotonic()
            hangs = now - emitter.last_sign_of_work_s >= self._max_silent_s
            if now - emitter.last_line_s >= self._every_s and not hangs:
                emitter.beat(self._step)
            due_s = emitter.last_line_s + self._every_s - time.monotonic()
            wait_s = due_s if due_s > 0 else self._every_s
