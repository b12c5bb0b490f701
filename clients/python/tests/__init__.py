"""The Python client against a real gateway (`python -m tests` in `clients/python`)."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE / "src"), str(HERE.parent.parent / "conformance")]
