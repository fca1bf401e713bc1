"""A straightforward runner, to compare with: read a line, show it, parse it, append it to the log. It has no guards."""
import json
import subprocess
import sys


def append(path, event):
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(event) + "\n")


def main(events, command):
    append(events, {"v": 1, "type": "runner_start", "args": command})
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=1, text=True)
    for line in process.stdout:
        line = line.rstrip("\n")
        print(line)
        try:
            append(events, json.loads(line))
        except json.JSONDecodeError:
            append(events, {"v": 1, "type": "runner_log", "msg": "non-json stdout", "line": line})
    code = process.wait()
    append(events, {"v": 1, "type": "runner_end", "rc": code})
    return code


sys.exit(main(sys.argv[1], sys.argv[2:]))
