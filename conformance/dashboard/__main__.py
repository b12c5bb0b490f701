"""Runs the tests of this folder: `python -m dashboard [-k PATTERN]`."""

import pathlib

import suite

suite.main(pathlib.Path(__file__).parent)
