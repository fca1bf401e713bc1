import os

from acor.emitter import emitter

EXIT_CANCELLED = 130


def cancelled():
    """Whether the runner asked this tool to stop (contract §3); cheap enough to ask in a loop."""
    cancel_file = os.environ.get("CANCEL_FILE")
    return bool(cancel_file) and os.path.exists(cancel_file)


def check_cancel():
    """Call it between batches: when a stop was requested, it reports that and exits with 130."""
    if cancelled():
        emitter.emit_cancelled(_reason())
        raise SystemExit(EXIT_CANCELLED)


def _reason():
    try:
        with open(os.environ["CANCEL_FILE"], encoding="utf-8", errors="replace") as file:
            return file.read().strip() or "cancel-file"
    except OSError:
        return "cancel-file"
