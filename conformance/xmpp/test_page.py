"""The dashboard in Chromium by XMPP: it finds the server that the gateway is behind, and logs in there."""

import json
import pathlib
import subprocess
import unittest

from skips import program
from xmpp.prosody import USERS, Prosody

SCRIPT = pathlib.Path(__file__).parent.parent / "javascript/xmpp-page.mjs"
PUBSUB, WEBSOCKET = "http://jabber.org/protocol/pubsub", "urn:xmpp:alt-connections:websocket"


class Page(unittest.TestCase):
    def setUp(self):
        self.prosody = Prosody.of_class(self)
        self.websocket = f"ws://127.0.0.1:{self.prosody.web}/xmpp-websocket"

    def links(self, gateway):
        status, headers, body = gateway.request("GET", "/.well-known/host-meta.json")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/jrd+json"))
        return {link["rel"]: link["href"] for link in json.loads(body)["links"]}

    # RFC 6415 sections 2 and 3, XEP-0156 section 3
    def test_host_metadata_say_where_service_and_websocket_are(self):
        gateway = self.prosody.gateway(self, websocket=self.websocket)
        self.assertEqual(self.links(gateway), {PUBSUB: "xmpp:weir.localhost", WEBSOCKET: self.websocket})
        status, headers, body = gateway.request("GET", "/.well-known/host-meta")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/xrd+xml"))
        self.assertIn(f'<Link rel="{WEBSOCKET}" href="{self.websocket}"/>'.encode(), body)

    def test_without_a_websocket_there_is_none_to_find(self):
        self.assertEqual(self.links(self.prosody.gateway(self)), {PUBSUB: "xmpp:weir.localhost"})

    def test_the_dashboard_logs_in_and_goes_on_after_a_restart(self):
        gateway = self.prosody.gateway(self, websocket=self.websocket)
        command = [program(self, "node"), SCRIPT, gateway.url, "ann@localhost", USERS["ann"]]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, text=True, bufsize=1, **pipes)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)

        def said():
            line = process.stdout.readline()
            self.assertTrue(line, "the page said no more" if line else process.stderr.read())
            return json.loads(line)

        self.assertIn("An account of that server", said()["asked"])
        self.assertIn("does not take this account", said()["again"])
        read = [said()["read"] for _ in range(5)]
        self.assertEqual(read, ["json", "xml", "cbor", "senml-json", "csv"])
        self.assertEqual(said(), {"gaps": "no gaps", "restart": True})
        gateway.restart()
        process.stdin.write("\n")
        self.assertEqual(said(), {"gaps": "no gaps", "faults": []})


if __name__ == "__main__":
    unittest.main()
