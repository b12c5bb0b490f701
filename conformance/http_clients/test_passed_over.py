"""What a format has no place for is passed over, and seen by whoever looks: the catalog, the metrics, `weir convert`."""

import json
import subprocess
import unittest

import pyarrow

from gateway import BINARY, Gateway


def table(**columns):
    sink = pyarrow.BufferOutputStream()
    made = pyarrow.table(columns)
    with pyarrow.ipc.new_stream(sink, made.schema) as stream:
        stream.write_table(made)
    return sink.getvalue().to_pybytes()


def doubled():
    """A table with two columns of one name."""
    sink = pyarrow.BufferOutputStream()
    made = pyarrow.Table.from_arrays([pyarrow.array([1.0]), pyarrow.array([2.0])], names=["value", "value"])
    with pyarrow.ipc.new_stream(sink, made.schema) as stream:
        stream.write_table(made)
    return sink.getvalue().to_pybytes()


# Format, a message, what of it no observation has.
MESSAGES = [
    ("json", b'{"observations":[{"value":1,"colour":"red"}]}', "colour"),
    ("json", b'{"observations":[{"value":1}],"site":"north"}', "site"),
    ("csv", b"timestamp,value\n2026-01-01T00:00:00Z,1\n", "timestamp"),
    ("influx", b"observation,host=a value=1", "host"),
    ("influx", b"observation value=1,battery=80i", "battery"),
    ("senml-json", b'[{"n":"","v":1,"rssi":-70}]', "rssi"),
    ("xml", b"<observations><observation><value>1</value><colour>red</colour></observation></observations>", "colour"),
    ("xml", b'<observations><observation><value unit="m">1</value></observation></observations>', "unit"),
    ("xml", b'<observations><observation quality="bad"><value>1</value></observation></observations>', "quality"),
    ("xml", b"<observations><site/><observation><value>1</value></observation></observations>", "site"),
    ("arrow", table(value=[1.0], colour=["red"]), "colour"),
]


class PassedOver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)
        cls.media = {form["name"]: form["media"] for form in cls.gateway.formats()}

    def test_the_catalog_says_what(self):
        for number, (name, body, what) in enumerate(MESSAGES):
            with self.subTest(format=name, body=body):
                topic = f"over/{number}"
                self.gateway.publish(topic, body, self.media[name])
                [entry] = json.loads(self.gateway.request("GET", f"/catalog/{topic}/%23")[2])["datastreams"]
                self.assertEqual(entry.get("problemKind"), "unknown-member", entry)
                self.assertIn(f"`{what}` is passed over", entry["problem"])

    def test_what_all_is_known_of_is_no_problem(self):
        body = table(value=[1.0], unit=["m"], __index_level_0__=[7])
        self.gateway.publish("over/not", body, self.media["arrow"])
        self.assertNotIn("problem", json.loads(self.gateway.request("GET", "/catalog/over/not")[2]))

    def test_what_stands_there_twice_is_refused_with_its_place(self):
        for name, body, place in (
            ("json", b'{"value":1,"value":2}', "`value` stands there twice at byte 19"),
            ("senml-json", b'[{"n":"a","v":1,"n":"b"}]', "`n` stands there twice at byte 20"),
            ("arrow", doubled(), "`value` stands there twice"),
        ):
            answer = self.gateway.request("POST", "/live/over/twice", body, {"Content-Type": self.media[name]})
            self.assertEqual(answer[0], 400, (name, answer))
            self.assertIn(place, answer[2].decode())
        self.gateway.publish("over/twice", b'{"value":1,"value":2}', "")
        entry = json.loads(self.gateway.request("GET", "/catalog/over/twice")[2])
        self.assertEqual((entry["value"], entry["problemKind"]), (2, "member"), entry)
        body = b'{"name":"a","description":"b","name":"c"}'
        answer = self.gateway.request("POST", "/sta/v1.1/Things", body, {"Content-Type": "application/json"})
        self.assertEqual(answer[0], 400, answer)
        self.assertIn("`name` stands there twice", answer[2].decode())
        body = b'{"service":"SOS","version":"2.0.0","request":"GetCapabilities","request":"GetObservation"}'
        answer = self.gateway.request("POST", "/sos", body, {"Content-Type": "application/json"})
        self.assertEqual(answer[0], 400, answer)
        self.assertIn("`request` stands there twice", answer[2].decode())

    def test_a_converter_says_what(self):
        for name, body, what in MESSAGES:
            command = [BINARY, "convert", "--from", name, "--to", "json"]
            done = subprocess.run(command, input=body, capture_output=True, timeout=30)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"`{what}` is passed over", done.stderr.decode())
            json.loads(done.stdout)


    def test_who_publishes_by_the_command_is_told_once(self):
        lines = b'{"observations":[{"value":1,"colour":"red"}]}\n' * 3
        command = [BINARY, "pub", self.gateway.url, "over/pub", "--as", "json"]
        done = subprocess.run(command, input=lines, capture_output=True, timeout=30)
        self.assertEqual((done.returncode, done.stderr.count(b"`colour` is passed over")), (0, 1), done.stderr)
        self.assertEqual(len(self.gateway.history("over/pub")), 3)


if __name__ == "__main__":
    unittest.main()
