"""One tool of the project, run by ACOR as a separate run; the events of the child are reported in this run, too."""

import json
import shlex
import subprocess

import acor

# These events of the child are useful to a reader of the workflow.
WRAPPED = ("progress", "action_required", "error")


class ChildRun:
    """`rc` is ACOR's exit code, `end` the child's runner_end, `result` its last message."""

    def __init__(self, program, cwd):
        self._program = program
        self._cwd = cwd
        self.run_id = None
        self.end = None
        self.result = None
        self.events = 0

    def run(self, task_id, command):
        """Run `command`, a tool and its arguments, to its end; returns why it failed, or None when it completed."""
        acor.emit("task_submitted", task_id=task_id, payload={"command": command})
        self._follow(task_id, ["run", *shlex.split(command)])
        if self.end is None and self.run_id is not None:
            # It waits for an answer, which goes to the child directly; from here on it is only followed.
            self._follow(task_id, ["logs", self.run_id, "--follow", "--since", str(self.events)])
        state = self.end["state"] if self.end else "failed"
        acor.emit(
            "task_done",
            task_id=task_id,
            status="ok" if state == "completed" else state,
            child_run_id=self.run_id or "none",
            child_result=self.result,
            child_rc=self.end["rc"] if self.end else None,
            events_count=self.events,
        )
        if state == "completed":
            return None
        said = self.result or {}
        return "%s (%s): %s" % (task_id, self.run_id or command, said.get("msg") or said.get("message") or state)

    def _follow(self, task_id, args):
        with subprocess.Popen(
            [self._program, *args],
            cwd=self._cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        ) as child:
            for line in child.stdout:
                acor.check_cancel()
                self._take(task_id, json.loads(line))

    def _take(self, task_id, event):
        if "type" not in event:
            # It never began: an envelope says why.
            self.result = event.get("error")
            return
        self.events = event["seq"]
        kind = event["type"]
        if kind == "runner_start":
            self.run_id = event["run_id"]
            acor.emit("task_started", task_id=task_id, child_run_id=self.run_id)
        elif kind in WRAPPED:
            acor.emit("task_" + kind, task_id=task_id, child_run_id=self.run_id, child_event=event)
        elif kind == "runner_end":
            self.end = event
        if kind in ("result", "error"):
            self.result = event
