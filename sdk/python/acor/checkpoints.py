import errno
import json
import os
import re
import stat

from acor.checkpoint_lock import CheckpointLock
from acor.errors import ToolError, check_file_name
from acor.run_context import checkpoint_dir, utc_now


def save_checkpoint(stage, data):
    """Save a stage's state, on disk when it returns (contract §6); returns its version, which counts up.

    Raises ToolError with E_DISK_FULL or E_STORAGE; what was saved before is still there then.
    """
    check_file_name("checkpoint stage", stage)
    folder = checkpoint_dir()
    try:
        return _save(folder, stage, data)
    except OSError as cause:
        raise _cannot_save(stage, folder, cause) from cause


def _save(folder, stage, data):
    os.makedirs(folder, exist_ok=True)
    while True:
        with CheckpointLock(os.path.join(folder, ".%s.lock" % stage)) as lock:
            if lock.broke_stale:
                _remove_drafts(folder, stage)
            earlier = _read_stored(folder, stage)
            version = (earlier["version"] if earlier else 0) + 1
            stored = {"stage": stage, "version": version, "saved_at": utc_now(), "data": data}
            text = json.dumps(stored, allow_nan=False, separators=(",", ":")) + "\n"
            draft = os.path.join(folder, ".%s.%d.%s.tmp" % (stage, os.getpid(), os.urandom(4).hex()))
            try:
                _write_durably(draft, text)
                if not lock.is_still_ours():
                    os.unlink(draft)
                    continue
                os.replace(draft, os.path.join(folder, stage + ".json"))
            except OSError:
                _unlink_if_there(draft)
                raise
            _sync_folder(folder)
            return version


def load_checkpoint(stage, default=None):
    """The state saved last, or ``default`` when this stage has none yet; a torn or foreign file is an error."""
    check_file_name("checkpoint stage", stage)
    stored = _read_stored(checkpoint_dir(), stage)
    return stored["data"] if stored else default


def _read_stored(folder, stage):
    path = os.path.join(folder, stage + ".json")
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise _not_a_checkpoint(path, "it is not a regular file")
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError as cause:
        raise _not_a_checkpoint(path, "it is not whole JSON") from cause
    if not isinstance(stored, dict) or "data" not in stored:
        raise _not_a_checkpoint(path, "it has no data")
    if stored.get("stage") != stage:
        raise _not_a_checkpoint(path, "it names the stage %s" % json.dumps(stored.get("stage")))
    if type(stored.get("version")) is not int or stored["version"] < 1:
        raise _not_a_checkpoint(path, "it has no version number")
    return stored


def _cannot_save(stage, folder, cause):
    full = cause.errno in (errno.ENOSPC, errno.EDQUOT)
    return ToolError(
        "E_DISK_FULL" if full else "E_STORAGE",
        "cannot save the checkpoint '%s' in %s: %s" % (stage, folder, cause.strerror or cause),
        "Free space on its disk." if full else "See whether it may be written: the disk may be read-only.",
    )


def _not_a_checkpoint(path, why):
    return ToolError(
        "E_STORAGE", "%s is not a checkpoint: %s" % (path, why), "To restart this stage: rm '%s'" % path
    )


def _write_durably(path, text):
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder):
    # Windows cannot open a folder; its renames are journalled.
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _remove_drafts(folder, stage):
    draft = re.compile(re.escape("." + stage) + r"\.\d+\.[0-9a-f]+\.tmp")
    for name in os.listdir(folder):
        if draft.fullmatch(name):
            _unlink_if_there(os.path.join(folder, name))


def _unlink_if_there(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
