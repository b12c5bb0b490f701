"""Observations in metres and centimetres, by two sensors, in every format by every view: each as it was made. And what
becomes of descriptions when data are copied, streams are resumed, and a datastream is forgotten."""

import json
import pathlib
import queue
import subprocess
import tempfile
import unittest
import urllib.parse

import paho.mqtt.client as paho

from gateway import BINARY, Gateway

JSON = {"Content-Type": "application/json"}
MADE = [(1.42, "m", "urn:s:old"), (2, "m", "urn:s:old"), (50, "cm", "urn:s:new"), (51, "cm", "urn:s:new")]
IN_M = [(1.42, "m"), (2, "m"), (0.5, "m"), (0.51, "m")]
# Tables and notations that have no place for a sensor, or for anything but values (docs/reference/formats.md).
WITHOUT_SENSOR = {"senml-json", "senml-cbor"}
VALUES_ALONE = {"plain"}
WAIT_S = 30


def weir(*arguments, said=b"", code=0):
    done = subprocess.run([BINARY, *map(str, arguments)], input=said, capture_output=True, timeout=60)
    assert done.returncode == code, (arguments, done.stderr)
    return done.stdout


def publish(gateway):
    for observation in (
        {"value": 1.42, "unit": "m", "sensor": "urn:s:old", "type": "level", "time": "2026-01-01T00:00:00Z"},
        {"value": 50, "unit": "cm", "sensor": "urn:s:new", "time": "2026-01-02T00:00:00Z"},
        {"value": 2, "time": "2026-01-01T01:00:00Z"},
        {"value": 51, "time": "2026-01-02T01:00:00Z"},
    ):
        gateway.publish("river/level", observation)


def rows_of(name, body):
    """What `weir convert` reads of a message; the conformance of each format stands elsewhere."""
    return json.loads(weir("convert", "--from", name, "--to", "json", "--topic", "river/level", said=body))["observations"]


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)
        cls.before = cls.gateway.cursor()
        publish(cls.gateway)
        cls.formats = [form["name"] for form in cls.gateway.formats()]

    def told(self, path, name):
        status, _, body = self.gateway.request("GET", f"{path}{'&' if '?' in path else '?'}as={name}")
        self.assertEqual(status, 200, (path, name, body))
        members = ("value", "unit", "sensor")
        kept = 1 if name in VALUES_ALONE else 2 if name in WITHOUT_SENSOR else 3
        return kept, [tuple(row.get(member) for member in members[:kept]) for row in rows_of(name, body)]

    def each(self, path, expected):
        for name in self.formats:
            with self.subTest(format=name, view=path):
                kept, told = self.told(path, name)
                self.assertEqual(told, [row[:kept] for row in expected])

    def test_every_format_of_history(self):
        self.each("/history/river/level", MADE)

    def test_every_format_of_history_in_one_unit(self):
        self.each("/history/river/level?unit=m", [(value, unit, made[2]) for (value, unit), made in zip(IN_M, MADE)])

    def test_every_format_of_the_latest(self):
        self.each("/live/river/level", MADE[-1:])

    def test_every_format_of_a_mean(self):
        self.each("/history/river/level?agg=max:10d", [(200, "cm", "urn:s:new")])

    def test_every_format_of_what_is_resumed(self):
        for name in self.formats:
            with self.subTest(format=name):
                kept, told = self.told(f"/live/river/level?since={self.before}&wait=5", name)
                self.assertEqual(sorted(told), sorted(row[:kept] for row in MADE))


class Copies(unittest.TestCase):
    def setUp(self):
        self.gateway = self.enterContext(Gateway())
        publish(self.gateway)

    def told(self, gateway, topic="river/level"):
        return [(row["value"], row.get("unit"), row.get("sensor")) for row in gateway.history(topic)]

    def versions(self, gateway, topic="river/level"):
        return json.loads(gateway.request("GET", f"/catalog/{topic}?versions")[2])["versions"]

    def test_a_backup_has_the_descriptions(self):
        with tempfile.TemporaryDirectory() as folder:
            archive = pathlib.Path(folder) / "backup.tar"
            weir("backup", archive, "--data", self.gateway.data)
            weir("restore", archive, "--data", f"{folder}/data")
            with Gateway(data=f"{folder}/data") as restored:
                self.assertEqual(self.told(restored), MADE)
                self.assertEqual(self.versions(restored), self.versions(self.gateway))
                restored.publish("river/level", {"value": 3, "time": "2026-01-01T02:00:00Z"})
                self.assertIn((3, "m", "urn:s:old"), self.told(restored))

    def test_what_follows_tells_each_as_it_was_made(self):
        """`weir sub` from a time on, and a bridge of lines into another gateway."""
        begin = ["--since", "2026-01-01T00:00:00Z", "--count", "4", "--as", "json"]
        for scheme in ("http", "sse+http", "ws", "stream+http", "longpoll+http"):
            said = weir("sub", f"{scheme}://{self.gateway.address}", "river/level", *begin[:2], "--count", "1", "--as", "json")
            rows = [row for line in said.splitlines() for row in json.loads(line)["observations"]]
            self.assertEqual([(row["value"], row["unit"], row["sensor"]) for row in rows][:4], MADE, scheme)
            with Gateway() as other:
                weir("pub", other.url, "river/level", "--as", "json", said=said)
                self.assertEqual(self.told(other), MADE, scheme)

    def test_history_by_the_command_in_one_unit(self):
        said = weir("history", self.gateway.url, "river/level", "--unit", "m", "--as", "json")
        rows = [row for line in said.splitlines() for row in json.loads(line)["observations"]]
        self.assertEqual([(row["value"], row["unit"]) for row in rows], IN_M)

    def test_the_description_of_things_says_the_unit_of_now(self):
        things = json.loads(self.gateway.request("GET", "/td")[2])
        text = json.dumps(next(thing for thing in things if "level" in thing.get("properties", {})))
        self.assertIn('"unit": "cm"', text)
        self.assertIn("urn:s:new", text)
        self.assertNotIn("urn:s:old", text)

    def test_a_datastream_that_was_forgotten_begins_anew(self):
        status, _, said = self.gateway.request("DELETE", "/catalog/river/level")
        self.assertEqual(status, 204, said)
        for again in (lambda: None, self.gateway.restart):
            again()
            self.assertEqual(self.told(self.gateway), [])
        self.gateway.publish("river/level", {"value": 7, "time": "2026-01-01T00:30:00Z"})
        self.assertEqual(self.told(self.gateway), [(7, None, None)])
        self.assertNotIn("versions", json.loads(self.gateway.request("GET", "/catalog/river/level")[2]))
        self.gateway.publish("river/level", {"value": 8, "unit": "mm", "time": "2026-01-03T00:00:00Z"})
        for again in (lambda: None, self.gateway.restart):
            again()
            self.assertEqual([row[:2] for row in self.told(self.gateway)], [(7, None), (8, "mm")])

    def test_what_is_declared_later_does_not_change_the_past(self):
        entry = json.dumps({"unit": "mm", "sensor": "urn:s:newest"})
        status, _, said = self.gateway.request("PUT", "/catalog/river/level", entry, JSON)
        self.assertEqual(status, 204, said)
        for again in (lambda: None, self.gateway.restart):
            again()
            self.assertEqual(self.told(self.gateway)[:2], MADE[:2])


class Live(unittest.TestCase):
    """By MQTT: as published, and by SensorThings in the unit of the Datastream."""

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def follow(self, topic):
        taken, ready = queue.Queue(), queue.Queue()
        client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        client.on_message = lambda *told: taken.put(json.loads(told[2].payload))
        client.on_subscribe = lambda *_: ready.put(True)
        host, port = self.gateway.ready["mqtt"].rsplit(":", 1)
        client.connect(host, int(port))
        client.loop_start()
        self.addCleanup(client.loop_stop)
        self.addCleanup(client.disconnect)
        client.subscribe(topic, 1)
        ready.get(timeout=WAIT_S)
        return taken

    def test_sensorthings_gives_numbers_in_the_unit_that_it_names(self):
        status, _, said = self.gateway.request("PUT", "/catalog/hall/warmth", '{"unit":"Cel"}', JSON)
        self.assertEqual(status, 204, said)
        [stream] = json.loads(self.gateway.request("GET", "/sta/v1.1/Datastreams")[2])["value"]
        self.assertEqual(stream["unitOfMeasurement"]["symbol"], "Cel")
        taken = self.follow(f"v1.1/Datastreams({stream['@iot.id']})/Observations")
        own = self.follow("$as/json/hall/warmth")
        self.gateway.publish("hall/warmth", {"value": 300, "unit": "K"})
        self.assertEqual(taken.get(timeout=WAIT_S)["result"], 26.85)
        [row] = own.get(timeout=WAIT_S)["observations"]
        self.assertEqual((row["value"], row["unit"]), (300, "K"))


if __name__ == "__main__":
    unittest.main()
