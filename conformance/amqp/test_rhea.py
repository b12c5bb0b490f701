"""rhea in Node.js, by TCP and by WebSocket."""

import json
import pathlib
import subprocess
import unittest

from amqp.peers import gateway
from skips import program

SCRIPT = pathlib.Path(__file__).parent.parent / "javascript" / "rhea.mjs"


class Rhea(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = gateway(cls)

    def run_script(self, url):
        node = program(self, "node")
        done = subprocess.run([node, SCRIPT, url], cwd=SCRIPT.parent, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    # [AMQP-2.8.2-1] [AMQP-2.8.3-1]
    def test_every_settlement_mode_over_tcp_and_websocket(self):
        for url in (f"amqp://{self.gateway.ready['amqp']}", f"{self.gateway.ws_url}/amqp"):
            with self.subTest(url=url):
                said = self.run_script(url)
                expected = {f"js/{number}": {"body": f"{number}.5", "to": f"js/{number}"} for number in range(3)}
                self.assertEqual(said["came"], expected)
                self.assertEqual(set(said["outcomes"].values()), {"accepted"})
