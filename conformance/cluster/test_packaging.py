"""What stands in packaging/ for several gateways is taken by the programs that it is for."""

import pathlib
import re
import subprocess
import tempfile
import textwrap
import unittest

from cluster.servers import program
from gateway import BINARY, ROOT

PACKAGING = ROOT / "packaging"
COMPOSE = (PACKAGING / "compose.yaml").read_text()


class Packaging(unittest.TestCase):
    def taken(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "nats.conf"
            path.write_text(text)
            done = subprocess.run([program(self), "-t", "-c", path, "--name", "n1"], capture_output=True, text=True)
        self.assertIn("is valid", done.stderr, done.stderr)
        self.assertIn("sync_interval: always", text)

    def test_the_servers_configuration_is_one(self):
        self.taken((PACKAGING / "nats.conf").read_text())

    def test_the_composed_servers_configuration_is_one(self):
        self.taken(textwrap.dedent(re.search(r"content: \|\n((?:      .*\n)+)", COMPOSE)[1]))

    def test_the_composed_gateways_know_their_settings(self):
        settings = re.findall(r"- (--set=\S+)", COMPOSE)
        self.assertIn("--set=bus.replicas=3", settings)
        done = subprocess.run([BINARY, "check", *settings], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
