"""Runs the steps of a workflow file, one after the other: tools, several at once, and decisions."""

import argparse
import concurrent.futures
import json
import sys

import acor
from child_run import ChildRun

FATAL = 30


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workflow")
    parser.add_argument("--folder")
    parser.add_argument("--acor", default="acor")
    parser.add_argument("--selftest", action="store_true")
    given = parser.parse_args()
    if given.selftest:
        acor.emit_result(data={"steps": 0, "decisions": {}})
        return 0
    try:
        with open(given.workflow, encoding="utf-8") as file:
            steps = json.load(file)["steps"]
    except (ValueError, KeyError) as error:
        acor.emit_error("E_SCHEMA_MISMATCH", "%s is no workflow: %r" % (given.workflow, error), "See docs/workflows.md")
        return FATAL
    acor.emit_start("workflow", args={"workflow": given.workflow, "steps": len(steps)})
    decisions = {}
    with acor.heartbeat():
        for number, step in enumerate(steps, 1):
            message = "step %d/%d: %s" % (number, len(steps), step["name"])
            acor.emit_progress("workflow", (number - 1) / len(steps) * 100, message)
            failed = run_step(step, number, given.acor, given.folder, decisions)
            if failed:
                acor.emit_error("E_TOOL_FAILED", "'%s' failed: %s" % (step["name"], "; ".join(failed)))
                return FATAL
    acor.emit_result(data={"steps": len(steps), "decisions": decisions})
    return 0


def run_step(step, number, program, cwd, decisions):
    """Returns why tasks failed, a text each."""
    if step["type"] == "ai_decision":
        context = {"decision_type": step["decision_type"], "instruction": step.get("instruction", "")}
        options = step.get("options")
        decisions[step["name"]] = acor.ask("ai_decision", context=context, options=options)
        return []
    commands = step["tasks"] if step["type"] == "parallel" else [step["command"]]
    tasks = [("t-%d-%d" % (number, index), command) for index, command in enumerate(commands, 1)]
    with concurrent.futures.ThreadPoolExecutor(step.get("max_concurrency", 4)) as pool:
        return [why for why in pool.map(lambda task: ChildRun(program, cwd).run(*task), tasks) if why]


if __name__ == "__main__":
    sys.exit(main())
