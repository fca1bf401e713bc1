"""Answers each line, `sdk` or `bare`, with the milliseconds that one save took."""
import json
import os
import sys
import time

from acor.protocol import save_checkpoint


def save_bare(state):
    draft = os.path.join(os.environ["CHECKPOINT_DIR"], "bare.tmp")
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, os.path.join(os.environ["CHECKPOINT_DIR"], "bare.json"))


state = json.loads(sys.argv[1])
for line in sys.stdin:
    begun = time.perf_counter()
    if line.strip() == "sdk":
        save_checkpoint("bench-py", state)
    else:
        save_bare(state)
    print((time.perf_counter() - begun) * 1000, flush=True)
