"""Other people's readers of event streams and WebSockets at collections of Observations."""

import json
import pathlib
import subprocess
import unittest

import httpx
import httpx_sse
import websockets.sync.client

from sensorthings.kitchen import Kitchen
from skips import program

JAVASCRIPT = pathlib.Path(__file__).resolve().parent.parent / "javascript"


class Events(unittest.TestCase):
    def setUp(self):
        self.kitchen = Kitchen(self)

    def url(self, options=""):
        return f"{self.kitchen.root}/{self.kitchen.stream}/Observations{options}"

    def read(self, count, options="", headers=None, before=lambda: None):
        """So many events by httpx-sse; `before` is done once the stream is open."""
        found = []
        with (
            httpx.Client(timeout=20) as client,
            httpx_sse.connect_sse(client, "GET", self.url(options), headers=headers or {}) as source,
        ):
            before()
            for event in source.iter_sse():
                if event.data:
                    found.append(event)
                if len(found) == count:
                    return found
        raise AssertionError(f"the stream ended after {found}")

    def test_an_event_is_what_a_get_shows(self):
        options = "?$expand=Datastream($select=name)"
        [event] = self.read(1, options, before=lambda: self.kitchen.observe(21.5))
        shown = self.kitchen.get(f"{self.kitchen.stream}/Observations{options}")["value"]
        self.assertEqual([json.loads(event.data)], shown)
        self.assertEqual(shown[0]["Datastream"]["name"], "Air")

    def test_who_comes_again_with_the_last_identifier_misses_none(self):
        first = self.read(2, "?$select=result", before=lambda: self.kitchen.observe(1, 2))
        self.kitchen.observe(3)
        self.kitchen.gateway.restart()
        self.kitchen.observe(4)
        rest = self.read(2, "?$select=result", headers={"Last-Event-ID": first[-1].id})
        results = [json.loads(event.data)["result"] for event in first + rest]
        self.assertEqual(results, [1, 2, 3, 4])

    def test_a_filter_says_which(self):
        observe = lambda: self.kitchen.observe(10, 30, 11, 31)
        events = self.read(2, "?$filter=result gt 20&$select=result", before=observe)
        self.assertEqual([json.loads(event.data)["result"] for event in events], [30, 31])

    def test_eventsource_of_the_browsers_reads_what_mqtt_published(self):
        node = program(self, "node")
        last = self.kitchen.gateway.cursor()
        self.kitchen.gateway.publish("kitchen/air", {"value": 42})
        process = subprocess.Popen(
            [node, str(JAVASCRIPT / "eventsource.mjs"), self.url("?$select=result"), last],
            stdout=subprocess.PIPE, text=True, cwd=JAVASCRIPT.parent,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        event = json.loads(process.stdout.readline())
        self.assertEqual(json.loads(event["data"]), {"result": 42})
        self.assertTrue(event["id"])


class WebSocket(unittest.TestCase):
    def test_observations_come_and_go_on_one_connection(self):
        kitchen = Kitchen(self)
        url = f"{kitchen.gateway.ws_url}/sta/v1.1/{kitchen.stream}/Observations?$select=result"
        with websockets.sync.client.connect(url) as socket:
            socket.send(json.dumps({"result": 7}))
            told = [json.loads(socket.recv(timeout=20)) for _ in range(3)]
            self.assertIn({"result": 7}, told)
            [created] = [said["weir"]["created"] for said in told if "created" in said.get("weir", {})]
            self.assertEqual(kitchen.get(created.partition("/sta/v1.1/")[2])["result"], 7)
            socket.send("{}")
            self.assertIn("result", json.loads(socket.recv(timeout=20))["message"])
