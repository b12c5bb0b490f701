"""Runs the tests of this folder: `python -m coap [-k PATTERN]`."""

import pathlib

import suite

suite.main(pathlib.Path(__file__).parent)
