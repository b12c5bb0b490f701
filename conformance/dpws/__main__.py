"""Runs the tests of this folder: `python -m dpws [-k PATTERN]`, all of it in a network namespace of its own."""

import os
import pathlib
import subprocess
import sys

import skips
import suite

ENTER = ["unshare", "-rn"]
INSIDE = "INSIDE_OWN_NETWORK"


def unable():
    """Why no namespaces can be had; nothing where they can."""
    try:
        tried = subprocess.run([*ENTER, "unshare", "-n", "true"], capture_output=True, text=True)
    except OSError as reason:
        return str(reason)
    return tried.stderr.strip() if tried.returncode != 0 else None


def main():
    """Runs the tests where a namespace can be had, and says so where it cannot."""
    if os.environ.get(INSIDE):
        return suite.main(pathlib.Path(__file__).parent)
    refused = unable()
    if refused:
        reason = f"{skips.KERNEL}no network namespaces: {refused}"
        if path := os.environ.get("WEIR_SKIPS"):
            with open(path, "a") as file:
                file.write(f"conformance: dpws: {reason}\n")
        print(f"0 passed, 0 failed\n{reason}")
        return None
    command = [*ENTER, sys.executable, "-m", "dpws", *sys.argv[1:]]
    return os.execvpe(command[0], command, {**os.environ, INSIDE: "1"})


if __name__ == "__main__":
    main()
