import os
import time

from acor.errors import ToolError

STALE_AFTER_S = 60
# The owner writes right after it creates the file: one that stays empty was killed in between.
STALE_EMPTY_AFTER_S = 1
GIVE_UP_AFTER_S = 90
RETRY_S = 0.002
# Longer than it takes a rival that judged the same lock stale to put its own in place.
SETTLE_S = 0.02


class CheckpointLock:
    """A lock file holding ``<pid> <attempt> <token>``, the same for the SDKs of all languages.

    One whose owner is dead, of an earlier attempt or a minute old is broken.
    """

    def __init__(self, path):
        self._path = path
        self._ours = "%d %s %s\n" % (os.getpid(), _attempt(), os.urandom(6).hex())
        # Whether a stale lock was broken, whose owner may have left files behind.
        self.broke_stale = False

    def __enter__(self):
        give_up_s = time.monotonic() + GIVE_UP_AFTER_S
        while not self._create():
            if self._is_stale():
                self._replace()
                time.sleep(SETTLE_S)
                if self.is_still_ours():
                    self.broke_stale = True
                    break
            if time.monotonic() > give_up_s:
                raise ToolError(
                    "E_STORAGE",
                    "the checkpoint lock %s is held by another process" % self._path,
                    "rm '%s'" % self._path,
                )
            time.sleep(RETRY_S)
        return self

    def __exit__(self, *_exception):
        if self.is_still_ours():
            os.unlink(self._path)

    def is_still_ours(self):
        return self._read() == self._ours

    def _create(self):
        try:
            fd = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            return False
        try:
            os.write(fd, self._ours.encode())
        except OSError:
            # Left there empty, it would hold up the next one.
            os.unlink(self._path)
            raise
        finally:
            os.close(fd)
        return True

    def _replace(self):
        draft = self._path + "." + self._ours.strip().replace(" ", ".")
        try:
            with open(draft, "x") as file:
                file.write(self._ours)
            os.replace(draft, self._path)
        except OSError:
            if os.path.exists(draft):
                os.unlink(draft)
            raise

    def _is_stale(self):
        try:
            age_s = time.time() - os.stat(self._path).st_mtime
        except FileNotFoundError:
            return False
        owner = self._read().split(" ")
        if len(owner) < 3:
            return age_s > STALE_EMPTY_AFTER_S
        return owner[1] != _attempt() or not _is_alive(owner[0]) or age_s > STALE_AFTER_S

    def _read(self):
        try:
            with open(self._path) as file:
                return file.read()
        except FileNotFoundError:
            return ""


def _attempt():
    return os.environ.get("ACOR_ATTEMPT") or "-"


def _is_alive(pid):
    if os.name == "nt":
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError, OverflowError):
        return True
    return True
