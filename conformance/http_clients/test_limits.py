"""Things that go wrong: slow readers, a full disk, bad input, the end. What does a person see?"""

import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import unittest

import httpx

from gateway import BINARY, Gateway
from readers import SCHEMES
from skips import KERNEL, skip

JSON = {"name": "json", "media": "application/json", "text": True}
BIG = "x" * 20_000


class SlowReader(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def stuck(self, request):
        """A client that asks and never reads."""
        client = socket.create_connection((self.gateway.host, self.gateway.port))
        self.addCleanup(client.close)
        client.sendall(request.encode())
        # The head of the answer says that the subscription stands.
        self.assertIn(b"200", client.recv(64, socket.MSG_PEEK))
        return client

    def test_a_reader_that_stops_hurts_nobody_and_is_told(self):
        topic, total = "slow/reader", 3000
        request = f"GET /live/{topic} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n"
        stuck = [self.stuck(request) for _ in range(5)]
        got, cursor = [], self.gateway.cursor()

        def read():
            for messages, _ in SCHEMES["sse"](self.gateway, topic, JSON, since=cursor):
                for data in messages:
                    got.extend(row["value"][0] for row in json.loads(data)["observations"])
                if len(got) >= total:
                    return

        healthy = threading.Thread(target=read)
        healthy.start()
        connection = self.gateway.connect()
        for number in range(total):
            row = {"value": [number, BIG]}
            self.gateway.publish(topic, {"observations": [row]}, connection=connection)
        healthy.join(timeout=60)
        self.assertEqual(got, list(range(total)))
        self.assertTrue(self.told(stuck[0], total), "neither a gap nor the end of the connection")

    def told(self, client, total):
        """Whether a reader that wakes up sees a gap, or is cut off before it has all."""
        client.settimeout(20)
        said, events = b"", 0
        while True:
            try:
                chunk = client.recv(1 << 20)
            except TimeoutError:
                return False
            if not chunk:
                return events < total
            said = said[-64:] + chunk
            if b"event: gap" in said or b"event:gap" in said:
                return True
            events += chunk.count(b"\nid")


class FullDisk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-disk-")
        self.addCleanup(folder.cleanup)
        self.disk = pathlib.Path(folder.name) / "disk"
        self.disk.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=512m", "tmpfs", str(self.disk)], capture_output=True
        )
        if mounted.returncode != 0:
            skip(self, KERNEL + "mounting a small disk needs root")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.disk)], check=False)

    def test_a_full_disk_refuses_and_loses_nothing_acknowledged(self):
        gateway = Gateway(data=self.disk / "data")
        self.addCleanup(gateway.close)
        gateway.publish_value("disk/first", 1)
        ballast = self.disk / "ballast"
        self.fill(ballast)
        acknowledged, refusal = self.write_until_refused(gateway)
        self.assertIn(refusal.status_code, (503, 507), refusal.text)
        self.assertRegex(refusal.text.lower(), "space|disk|full")
        # What reads is still served.
        self.assertEqual(gateway.request("GET", "/live/disk/first")[0], 200)
        gateway.kill()
        ballast.unlink()
        gateway.start()
        kept = [int(row["value"]) for row in gateway.history("disk/rows")]
        self.assertEqual(kept[:acknowledged], list(range(acknowledged)))
        gateway.publish_value("disk/after", 1)

    def fill(self, ballast):
        with open(ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
            except OSError:
                pass

    def write_until_refused(self, gateway):
        """Publishes messages of 200 kB; returns how many were acknowledged, and the refusal."""
        url, padding = f"{gateway.url}/live/disk/rows", BIG * 10
        with httpx.Client(timeout=30) as client:
            for number in range(5000):
                body = {"observations": [{"value": number, "note": padding + str(number)}]}
                answer = client.post(url, json=body)
                if answer.status_code >= 300:
                    return number, answer
        self.fail("a disk without space took everything")


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def refused(self, method, path, body=None, headers=None):
        status, headers, said = self.gateway.request(method, path, body, headers)
        return status, headers, said.decode()

    def post(self, body, content_type="application/json"):
        return self.refused("POST", "/live/errors/a", body, {"Content-Type": content_type})

    def test_broken_json_is_refused_with_the_byte(self):
        status, _, said = self.post('{"value": 1,, }')
        self.assertEqual(status, 400)
        self.assertRegex(said, r"\b12\b")

    def test_a_bad_time_is_refused_with_its_place(self):
        status, _, said = self.post('{"value": 1, "time": "2026-13-01T00:00:00Z"}')
        self.assertEqual(status, 400)
        self.assertRegex(said.lower(), "month|time")

    def test_deep_nesting_is_refused(self):
        status, _, said = self.post('{"value":' + "[" * 100_000 + "]" * 100_000 + "}")
        self.assertIn(status, (400, 413), said)

    def test_an_unknown_encoding_is_refused_with_the_known_ones(self):
        status, _, said = self.post("x", "application/x-unknown")
        self.assertEqual(status, 415)
        self.assertIn("json", said)

    def test_an_unacceptable_encoding_is_refused(self):
        self.gateway.publish_value("errors/b", 1)
        headers = {"Accept": "application/x-unknown"}
        status, _, said = self.refused("GET", "/live/errors/b", headers=headers)
        self.assertEqual(status, 406)
        self.assertIn("application/json", said)

    def test_a_topic_with_a_wildcard_cannot_be_published_to(self):
        status, _, said = self.refused(
            "POST", "/live/errors/%23", '{"value":1}', {"Content-Type": "application/json"}
        )
        self.assertEqual(status, 400)
        self.assertIn("#", said)

    def test_a_bad_cursor_is_refused(self):
        status, _, said = self.refused("GET", "/live/errors/a?wait=1&since=not-a-cursor")
        self.assertEqual(status, 400)
        self.assertIn("cursor", said.lower())

    def test_a_method_that_is_not_allowed_says_which_are(self):
        status, headers, _ = self.refused("PATCH", "/live/errors/a")
        self.assertEqual(status, 405)
        self.assertIn("GET", headers["Allow"])

    def test_a_path_that_is_not_there_is_404(self):
        self.assertEqual(self.refused("GET", "/nowhere")[0], 404)

    def test_a_message_that_is_too_long_is_413(self):
        connection = self.gateway.connect()
        connection.putrequest("POST", "/live/errors/a")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(10 << 30))
        connection.endheaders()
        self.assertEqual(connection.getresponse().status, 413)
        connection.close()

    def test_garbage_costs_the_sender_only(self):
        for garbage in (b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", os.urandom(4096)):
            with socket.create_connection((self.gateway.host, self.gateway.port)) as client:
                client.settimeout(20)
                client.sendall(garbage + b"\r\n\r\n")
                try:
                    answer = client.recv(4096)
                except ConnectionResetError:
                    answer = b""
                self.assertFalse(answer.startswith(b"HTTP/1.1 2"), answer)
        self.assertEqual(self.gateway.request("GET", "/health/live")[0], 200)

    def test_a_refused_message_leaves_nothing_behind(self):
        before = self.gateway.cursor()
        self.post('{"observations":[{"topic":"errors/a/x","value":1},{"topic":"errors/a/y"}]}')
        self.assertEqual(self.gateway.cursor(), before)


class Life(unittest.TestCase):
    def test_sigterm_tells_its_readers_and_ends_with_0(self):
        with Gateway() as gateway:
            with httpx.Client(timeout=20) as client:
                headers = {"Accept": "text/event-stream"}
                with client.stream("GET", f"{gateway.url}/live/%23", headers=headers) as answer:
                    gateway.process.terminate()
                    said = "".join(answer.iter_text())
            self.assertIn("retry:", said)
            self.assertEqual(gateway.process.wait(timeout=30), 0)

    def test_an_open_address_is_refused_until_open_is_said(self):
        with tempfile.TemporaryDirectory(prefix="weir-") as data:
            command = [BINARY, "serve", "--data", data, "--set", "http.listen=0.0.0.0:0"]
            refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("--open", refused.stderr)

    def test_an_unknown_key_is_refused_with_its_line(self):
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            config = pathlib.Path(folder) / "weir.toml"
            config.write_text('[http]\nlisten = "127.0.0.1:0"\nlisen = "x"\n')
            command = [BINARY, "check", "--config", str(config)]
            said = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertEqual(said.returncode, 1)
            self.assertRegex(said.stdout + said.stderr, r"weir\.toml:3|line 3")

    def test_health_and_metrics_answer(self):
        with Gateway() as gateway:
            for path in ("/health/live", "/health/ready"):
                self.assertEqual(gateway.request("GET", path)[0], 200, path)
            status, headers, body = gateway.request("GET", "/metrics")
            self.assertEqual(status, 200)
            self.assertIn("text/plain", headers["Content-Type"])
            self.assertIn(b"# TYPE", body)
            gateway.publish_value("counted", 1)
            counted = b'weir_binding_messages_total{binding="http",scheme="http",direction="in"} 1'
            self.assertIn(counted, gateway.request("GET", "/metrics")[2])
