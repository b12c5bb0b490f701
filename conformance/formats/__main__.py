"""Runs the tests of this folder: `python -m formats [-k PATTERN]`.

Ends with the line `N passed, N failed`.
"""

import argparse
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).parent


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("-k", action="append", help="only tests whose name holds this")
    chosen = arguments.parse_args().k
    loader = unittest.TestLoader()
    if chosen:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in chosen]
    suite = loader.discover(str(HERE), pattern="test_*.py", top_level_dir=str(HERE.parent))
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    passed = max(0, result.testsRun - failed - len(result.skipped))
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(0 if failed == 0 else 1)


main()
