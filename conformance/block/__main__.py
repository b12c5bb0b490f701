"""Runs the tests of this folder: `python -m block [-k PATTERN]`; nothing but Python is needed.

Ends with the line `N passed, N failed`.
"""

import argparse
import sys
import unittest

from . import test_decoder


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("-k", action="append", help="only tests whose name holds this")
    loader = unittest.TestLoader()
    chosen = arguments.parse_args().k
    if chosen:
        loader.testNamePatterns = [f"*{pattern}*" for pattern in chosen]
    suite = loader.loadTestsFromModule(test_decoder)
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{result.testsRun - failed} passed, {failed} failed", flush=True)
    sys.exit(0 if failed == 0 and result.testsRun else 1)


main()
