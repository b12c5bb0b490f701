"""The webhook of docs/concepts/alerts.md, as that page has it: every alert gets there, whoever ends meanwhile."""

import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from gateway import ROOT, Gateway
from skips import program

WAIT_S = 60


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes alerts, but for as many refusals as are wanted first."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        refuse = self.server.refusals > 0
        if refuse:
            self.server.refusals -= 1
        else:
            observations = json.loads(body)["observations"]
            self.server.alerts += [(self.headers["Idempotency-Key"], one["value"]) for one in observations]
        self.send_response(503 if refuse else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Webhook(unittest.TestCase):
    def setUp(self):
        program(self, "curl")
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.receiver.alerts, self.receiver.refusals = [], 0
        threading.Thread(target=self.receiver.serve_forever, daemon=True).start()
        self.addCleanup(self.receiver.shutdown)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        page = (ROOT / "docs/concepts/alerts.md").read_text()
        (self.folder / "webhook").write_text(re.search(r"```sh\n(#!/bin/sh.*?)```", page, re.S).group(1))

    def start(self):
        url = f"http://127.0.0.1:{self.receiver.server_port}/alerts"
        command = ["sh", "webhook", "boiler/#", "value>80", url]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "WEIR_URL": self.gateway.url}
        process = subprocess.Popen(command, cwd=self.folder, env=environment, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            # The whole session: a curl that waits is another process.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def values(self):
        """Each alert once, in order: a message is posted again whole, so key and value tell a repetition."""
        return [value for _, value in dict.fromkeys(self.receiver.alerts)]

    def wait_for(self, expected, what):
        deadline = time.monotonic() + WAIT_S
        while what() != expected and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(what(), expected)

    def publish(self, *values):
        for value in values:
            self.gateway.publish_value("boiler/temperature", value)

    def test_alerts_get_there_whoever_ends_meanwhile(self):
        process = self.start()
        # It is there once an alert gets through: what came before it listened is none of its own.
        deadline = time.monotonic() + WAIT_S
        while not self.receiver.alerts and time.monotonic() < deadline:
            self.publish(81)
            time.sleep(0.2)
        self.assertTrue(self.receiver.alerts)
        # The rest of those got through or is dropped by the cursor of the next.
        self.publish(100)
        self.wait_for(True, lambda: 100 in self.values())
        self.receiver.alerts.clear()

        self.receiver.refusals = 2
        self.publish(70, 85, 80, 90)
        self.wait_for([85, 90], self.values)

        self.end(process)
        self.publish(10, 95)
        self.start()
        self.wait_for([85, 90, 95], self.values)

        self.gateway.restart()
        self.publish(96, 20, 97)
        self.wait_for([85, 90, 95, 96, 97], self.values)


if __name__ == "__main__":
    unittest.main()
