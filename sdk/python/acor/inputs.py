import json
import os

from acor.errors import ToolError


def args():
    """The inputs that the manifest declares, checked and of their types, by name; an input without a value is left out."""
    given = os.environ.get("ACOR_INPUTS") or _in_parts()
    if given == "":
        raise ToolError(
            "E_USAGE",
            "this run has no declared inputs",
            "Declare inputs in tool.yaml, and run the tool with: acor run <tool>",
        )
    return json.loads(given)


def _in_parts():
    """Long inputs come in several variables."""
    parts = []
    while (part := os.environ.get(f"ACOR_INPUTS_{len(parts) + 1}")) is not None:
        parts.append(part)
    return "".join(parts)
