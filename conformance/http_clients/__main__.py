"""Runs the tests of this folder: `python -m http_clients [-k PATTERN]`."""

import pathlib

import suite

suite.main(pathlib.Path(__file__).parent)
