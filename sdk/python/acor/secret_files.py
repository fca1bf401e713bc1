import os

from acor.errors import ToolError, check_file_name


def secret(name):
    """Read a secret that the manifest lists under ``secrets:``; one newline at the end is not part of it."""
    check_file_name("secret name", name)
    try:
        with open(os.path.join(os.environ["SECRETS_DIR"], name), encoding="utf-8", newline="") as file:
            value = file.read()
    except (KeyError, OSError) as cause:
        raise ToolError(
            "E_ENV_MISSING",
            "the secret '%s' was not given to this run" % name,
            "List '%s' under secrets: in tool.yaml and store it with: acor secret set %s" % (name, name),
        ) from cause
    return value[:-1] if value.endswith("\n") else value
