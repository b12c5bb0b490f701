"""Skips that are heard: written to $WEIR_SKIPS, which `scripts/test` adds up and prints."""

import os
import shutil
import unittest

KERNEL = "kernel right: "


def skip(test, reason):
    """Skips a running test. A reason that begins with KERNEL is excused where CI=true."""
    path = os.environ.get("WEIR_SKIPS")
    if path:
        with open(path, "a") as file:
            file.write(f"conformance: {test.id()}: {reason}\n")
    raise unittest.SkipTest(reason)


def program(test, name, *others):
    """The path of a foreign program, or a skip."""
    search = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    tools = os.path.join(os.path.dirname(__file__), "..", "build", "tools", "bin")
    for candidate in (name, *others):
        found = shutil.which(candidate, path=f"{search}:{tools}")
        if found:
            return found
    return skip(test, f"{name} is not installed")
