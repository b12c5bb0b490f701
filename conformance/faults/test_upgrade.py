"""What earlier gateways left on disk is all there for today's, and still is when today's has written it again."""

import json
import pathlib
import tarfile
import tempfile
import unittest

from faults.upgrade import AWAY, CLIENT, FIRST_ID, KEPT, ROWS, SETTINGS, WEEKS
from gateway import Gateway
from mqtt.raw import SESSION_EXPIRY, Client


class Upgrade(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_every_kept_data_directory_is_read_and_goes_on(self):
        kept = sorted(KEPT.glob("*.tar.xz"))
        self.assertTrue(kept)
        for archive in kept:
            with self.subTest(archive.name):
                self.goes_on(archive)

    def goes_on(self, archive):
        data = self.scratch / archive.name / "data"
        with tarfile.open(archive) as packed:
            packed.extractall(data.parent, filter="data")
        cursor = json.loads((data / "told.json").read_text())["cursor"]
        with Gateway(data=data, settings=SETTINGS) as gateway:
            self.rows(gateway, ROWS)
            self.since(gateway, cursor)
            self.session(gateway)
            things = json.loads(gateway.request("GET", FIRST_ID)[2])["value"]
            self.assertIn("old", [thing["name"] for thing in things])
            self.assertEqual(json.loads(gateway.request("GET", "/live/held/last")[2])["observations"][0]["value"], 7)
            gateway.publish_value("old/number", ROWS)
            self.assertEqual(gateway.terminate(), 0)
        with Gateway(data=data, settings=SETTINGS) as gateway:
            self.rows(gateway, ROWS + 1)

    def rows(self, gateway, numbers):
        self.assertEqual([row["value"] for row in gateway.history("old/number")], list(range(numbers)))
        self.assertEqual({row["lat"] for row in gateway.history("old/number")[:ROWS]}, {44.8})
        self.assertEqual([row["value"] for row in gateway.history("old/text")], [f"value {n}" for n in range(ROWS)])
        self.assertEqual([row["value"] for row in gateway.history("old/truth")], [n % 2 == 0 for n in range(ROWS)])

    def since(self, gateway, cursor):
        """A client that stood there goes on there, without a gap."""
        said = gateway.request("GET", f"/live/old/number?since={cursor}", headers={"Accept": "application/json"})
        self.assertEqual(said[0], 200)
        self.assertNotIn("gap", said[2].decode())
        self.assertEqual(json.loads(said[2])["observations"][0]["value"], ROWS // 2)

    def session(self, gateway):
        kept = [(SESSION_EXPIRY, WEEKS)]
        client = Client.connected(gateway.ready["mqtt"], CLIENT, 5, clean=False, properties=kept)
        self.addCleanup(client.socket.close)
        self.assertEqual(client.connack.session_present, 1)
        came = [client.message() for _ in range(AWAY)]
        self.assertEqual([message.topic for message in came], [f"away/{number}" for number in range(AWAY)])
