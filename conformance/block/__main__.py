"""Runs the tests of this folder: `python -m block [-k PATTERN]`; nothing but Python is needed."""

import pathlib

import suite

suite.main(pathlib.Path(__file__).parent)
