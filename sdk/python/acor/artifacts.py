import hashlib
import os

from acor.errors import ToolError

CHUNK_BYTES = 1 << 20


def artifact(path):
    """Describe a file for the ``artifacts`` of a result; the runner hashes it again. Raise E_INPUT_NOT_FOUND for one that cannot be read."""
    try:
        return _describe(path)
    except OSError as error:
        raise ToolError(
            "E_INPUT_NOT_FOUND",
            "cannot read the artifact %s: %s" % (os.fspath(path), error),
            "Write the file before you describe it.",
        ) from error


def _describe(path):
    digest = hashlib.sha256()
    size = 0
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(CHUNK_BYTES), b""):
            digest.update(chunk)
            size += len(chunk)
    return {"path": os.fspath(path), "sha256": digest.hexdigest(), "size": size}
