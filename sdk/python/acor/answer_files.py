import json
import os


def read_answer_file(action_id):
    """The answer delivered as a file (contract §4), or ``None`` while there is none."""
    folder = os.environ.get("ANSWERS_DIR")
    if not folder:
        return None
    try:
        with open(os.path.join(folder, action_id + ".json"), encoding="utf-8") as file:
            delivered = parse_answer(file.read())
    except (OSError, UnicodeDecodeError):
        return None
    return delivered if delivered and delivered["action_id"] == action_id else None


def parse_answer(text):
    """Read one delivered answer; anything else is not an answer."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    is_answer = (
        isinstance(value, dict)
        and value.get("type") == "action_answer"
        and isinstance(value.get("action_id"), str)
        and "answer" in value
    )
    return value if is_answer else None
