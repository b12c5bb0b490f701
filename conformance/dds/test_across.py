"""Two network namespaces and a link between them, where the kernel allows that."""

import pathlib
import subprocess
import sys
import unittest

from namespaces import ENTER, unable
from skips import KERNEL, skip

HERE = pathlib.Path(__file__).resolve().parent.parent


class Across(unittest.TestCase):
    def test_participants_find_each_other_across_namespaces(self):
        if refused := unable():
            skip(self, f"{KERNEL}no network namespaces: {refused}")
        command = [*ENTER, sys.executable, "-m", "dds.across"]
        said = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=120)
        self.assertIn("both ways", said.stdout, said.stderr)
