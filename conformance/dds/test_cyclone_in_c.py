"""Debian's Cyclone DDS (0.10.2, in C), beside PyPI's: the client that the bench has, told what to do by pipes."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import threading
import unittest

from dds.peer import CONFIGURATION, DOMAINS, metric, until
from gateway import ROOT, Gateway
from skips import skip

WAIT_S = 60
PROGRAM = ROOT / "build/cyclone-bench/peer"


def text(of):
    """A text as the client reads it: its length in 32 bits and its bytes."""
    return struct.pack("=I", len(of)) + of


class Client:
    """One process with a writer and a reader of one topic."""

    def __init__(self, test, domain, topic):
        if not PROGRAM.is_file():
            skip(test, "no client in C of Cyclone DDS; `scripts/peers` builds it")
        folder = tempfile.TemporaryDirectory(prefix="cyclone-")
        test.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name) / "cyclone.xml"
        file.write_text(CONFIGURATION.format(discovery=""))
        self.process = subprocess.Popen(
            [PROGRAM, str(domain), "rw", topic], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=os.environ | {"CYCLONEDDS_URI": f"file://{file}"})
        # What does not come ends the test instead of waiting for ever.
        self.patience = threading.Timer(WAIT_S, self.process.kill)
        self.patience.start()
        test.addCleanup(self.close)

    def tell(self, command, *texts):
        self.process.stdin.write(command + b"".join(text(of.encode()) for of in texts))
        self.process.stdin.flush()

    def read(self, layout):
        size = struct.calcsize(f"={layout}")
        came = self.process.stdout.read(size)
        assert len(came) == size, "Cyclone's client ended"
        return struct.unpack(f"={layout}", came)

    def next(self):
        """The JSON of the next message to which it listens."""
        _, _, length = self.read("cQI")
        return self.process.stdout.read(length).decode()

    def close(self):
        self.patience.cancel()
        self.process.kill()
        self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()


class InC(unittest.TestCase):
    def setUp(self):
        number = next(DOMAINS)
        self.gateway = Gateway(settings={"dds.domain": str(number)})
        self.addCleanup(self.gateway.close)
        self.client = Client(self, number, "c/out")
        self.client.tell(b"M")
        self.assertEqual(self.client.read("c"), (b"m",))
        until(lambda: metric(self.gateway, "weir_dds_endpoints", 'kind="reader"') == 1, "weir's match of its reader")

    def test_its_version_is_told(self):
        told = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(told, r"^Cyclone DDS 0\.10\.")

    def test_what_it_writes_is_in_history(self):
        for number in range(100):
            self.client.tell(b"W", "c/in", json.dumps({"n": number}))
        until(lambda: len(self.gateway.history("c/in", 1000)) == 100, "what it wrote")
        self.assertEqual([one["value"]["n"] for one in self.gateway.history("c/in", 1000)], list(range(100)))

    def test_what_http_publishes_it_reads(self):
        self.client.tell(b"L")
        for number in range(100):
            self.gateway.publish("c/out", {"value": {"n": number}})
        self.assertEqual([json.loads(self.client.next()) for _ in range(100)], [{"n": n} for n in range(100)])
