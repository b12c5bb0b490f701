"""Commands beside a gateway: what `weir sub` waits for, where it begins, and what converters make of times."""

import datetime
import http.server
import json
import subprocess
import threading
import unittest
import urllib.parse

from gateway import BINARY, Gateway


def weir(*arguments, said=""):
    return subprocess.run([BINARY, *arguments], input=said, capture_output=True, text=True, timeout=60)


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def test_who_polls_of_nothing_waits_for_something(self):
        for topic, filter in (("later/a", "later/a"), ("soon/a", "soon/+")):
            command = [BINARY, "sub", f"poll+{self.gateway.url}", filter, "--count", "1"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as subscriber:
                seen = self.gateway.request("GET", "/metrics")[0]
                self.assertEqual(seen, 200)
                self.gateway.publish_value(topic, filter)
                [row] = json.loads(subscriber.stdout.readline())["observations"]
                self.assertEqual(row["value"], filter)
            self.assertEqual(subscriber.returncode, 0)

    def test_a_subscription_begins_at_a_time(self):
        for minute in range(3):
            self.gateway.publish("since/a", {"value": minute, "time": f"2026-01-01T00:0{minute}:00Z"})
        for scheme in ("sse+http", "stream+http", "longpoll+http", "http", "ws"):
            url = f"{scheme}://{self.gateway.address}"
            command = [BINARY, "sub", url, "since/a", "--since", "2026-01-01T00:01:00Z", "--count", "2"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as subscriber:
                past = json.loads(subscriber.stdout.readline())["observations"]
                self.assertEqual([row["value"] for row in past][:2], [1, 2], scheme)
                self.gateway.publish("since/a", {"value": scheme})
                [row] = json.loads(subscriber.stdout.readline())["observations"]
                self.assertEqual(row["value"], scheme)
        refused = weir("sub", self.gateway.url, "since/a", "--since", "yesterday")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("a time", refused.stderr)
        mqtt = f"mqtt://{self.gateway.ready['mqtt']}"
        refused = weir("sub", mqtt, "since/a", "--since", "2026-01-01T00:01:00Z")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("a cursor, not a time", refused.stderr)

    def test_relative_times_of_senml_count_from_now(self):
        for pack, age in (
            ('[{"n":"a","v":1,"t":-5}]', 5),
            ('[{"n":"a","v":1,"bt":-60,"t":-5}]', 65),
            ('[{"n":"a","v":1,"t":2.5}]', -2.5),
        ):
            for to in ("json", "csv", "xml"):
                answer = weir("convert", "--from", "senml-json", "--to", to, said=pack)
                self.assertEqual(answer.returncode, 0, answer.stderr)
            said = weir("convert", "--from", "senml-json", "--to", "json", said=pack)
            [row] = json.loads(said.stdout)["observations"]
            then = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=age)
            told = datetime.datetime.fromisoformat(row["time"])
            self.assertLess(abs(told - then), datetime.timedelta(seconds=30), (pack, row))
        said = weir("convert", "--from", "senml-json", "--to", "json", said='[{"n":"a","v":1}]')
        self.assertNotIn("time", said.stdout)
        said = weir("convert", "--from", "senml-json", "--to", "json", said='[{"n":"a","v":1,"t":1795167660.25}]')
        self.assertIn("2026-11-20T09:41:00.250Z", said.stdout)

    def test_names_of_senml_are_topics_and_topics_names(self):
        topic = "living room/a+b\u00e4/_x20_"
        said = json.dumps({"observations": [{"topic": topic, "value": 1}]})
        senml = weir("convert", "--from", "json", "--to", "senml-json", said=said).stdout
        [record] = json.loads(senml)
        self.assertRegex(record["n"], r"^[A-Za-z0-9][A-Za-z0-9\-:./_]*$")
        back = weir("convert", "--from", "senml-json", "--to", "json", said=senml).stdout
        self.assertEqual(json.loads(back)["observations"][0]["topic"], topic)


class Things(http.server.BaseHTTPRequestHandler):
    """A SensorThings server of another: two Things whose Datastreams have one name."""

    DATASTREAMS = [
        {"@iot.id": number, "name": "Air", "phenomenonTime": "2026-01-01T00:00:00Z/2026-01-01T00:01:00Z",
         "unitOfMeasurement": {"symbol": "Cel"}, "ObservedProperty": {"name": "temperature"}}
        for number in (7, 8)
    ]

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path.endswith("/Datastreams"):
            value = self.DATASTREAMS
        elif "Datastreams(" in path:
            number = int(path.split("(")[1].split(")")[0])
            value = [{"@iot.id": 1, "result": number, "phenomenonTime": "2026-01-01T00:01:00Z"}]
        elif path == "/v1.1":
            root = f"http://{self.headers['Host']}/v1.1"
            value = [{"name": name, "url": f"{root}/{name}"} for name in ("Datastreams", "Observations")]
        else:
            value = []
        body = json.dumps({"value": value}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class SensorThings(unittest.TestCase):
    def test_datastreams_of_one_name_are_kept_apart(self):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Things) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"sta+http://127.0.0.1:{server.server_port}/v1.1"
            for filter in ("Air", "#", "Air/+"):
                said = weir("sub", url, filter, "--since", "2026-01-01T00:00:30Z", "--count", "2").stdout
                rows = [row for line in said.splitlines() for row in json.loads(line)["observations"]]
                self.assertEqual({(row["topic"], row["value"]) for row in rows}, {("Air/7", 7), ("Air/8", 8)})
            server.shutdown()


if __name__ == "__main__":
    unittest.main()
