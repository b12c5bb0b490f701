"""What stands in packaging/ is taken by the programs that it is for, and what is released can be checked."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import skips
from cluster import network
from cluster.database import programs
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

    def test_the_composed_services_are_a_cluster(self):
        program(self)
        programs(self)
        enter = [*network.ENTER, "-m"] if os.getuid() == 0 else None
        refused = network.unable() if enter else "mounting /etc/hosts takes root"
        if refused:
            skips.skip(self, f"{skips.KERNEL}no network namespaces: {refused}")
        command = [*enter, sys.executable, "-m", "cluster.composed"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-4000:])


class Released(unittest.TestCase):
    """Checksums of scripts/sums, checked with the commands that docs/guides/operations.md gives."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.files = self.folder / "release"
        self.files.mkdir()
        (self.files / "weir.tar.gz").write_bytes(b"the program")
        (self.files / "a b.whl").write_bytes(b"a client")
        key = self.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        (self.folder / "allowed_signers").write_text(f"releases@weir {key.with_suffix('.pub').read_text()}")
        subprocess.run([ROOT / "scripts/sums", self.files, key], check=True)

    def checked(self):
        guide = (ROOT / "docs/guides/operations.md").read_text()
        commands = re.findall(r"^    (ssh-keygen -Y verify .*|sha256sum --check .*)$", guide, re.M)
        self.assertEqual(len(commands), 2)
        text = " && ".join(commands).replace("allowed_signers", str(self.folder / "allowed_signers"))
        return subprocess.run(["bash", "-c", text], cwd=self.files, capture_output=True, text=True)

    def test_what_is_signed_is_taken(self):
        done = self.checked()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a b.whl: OK", done.stdout)

    def test_a_file_that_was_changed_is_refused(self):
        (self.files / "weir.tar.gz").write_bytes(b"another program")
        done = self.checked()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("weir.tar.gz: FAILED", done.stdout)

    def test_checksums_that_were_changed_are_refused(self):
        sums = self.files / "SHA256SUMS"
        sums.write_text(sums.read_text().replace("a b.whl", "c.whl"))
        self.assertNotEqual(self.checked().returncode, 0)
