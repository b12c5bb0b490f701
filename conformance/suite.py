"""Runs a folder of tests for its `__main__`; `-k PATTERN` chooses. Ends with `N passed, N failed`."""

import argparse
import pathlib
import sys
import unittest


def main(folder):
    """Runs the `test_*.py` of a folder and ends the program, with 1 where a test fails or none ran."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("-k", action="append", help="only tests whose name holds this")
    chosen = arguments.parse_args().k
    loader = unittest.TestLoader()
    if chosen:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in chosen]
    here = pathlib.Path(folder)
    suite = loader.discover(str(here), pattern="test_*.py", top_level_dir=str(here.parent))
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    passed = max(0, result.testsRun - failed - len(result.skipped))
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(0 if failed == 0 and result.testsRun else 1)
