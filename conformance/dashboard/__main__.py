"""Runs the tests of this folder: `python -m operations [-k PATTERN]`."""

import pathlib

import suite

suite.main(pathlib.Path(__file__).parent)
