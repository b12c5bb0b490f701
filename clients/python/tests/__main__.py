import pathlib

import suite

suite.main(pathlib.Path(__file__).parent)
