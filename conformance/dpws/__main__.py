"""Runs the tests of this folder: `python -m dpws [-k PATTERN]`, all of it in a network namespace of its own."""

import pathlib

import namespaces
import suite

if namespaces.enter("dpws"):
    suite.main(pathlib.Path(__file__).parent)
