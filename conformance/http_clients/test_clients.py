"""Each foreign client by itself: does it see what a person who uses it expects?"""

import email
import email.policy
import gzip
import json
import os
import pathlib
import subprocess
import unittest

import httpx
import sseclient
import websockets.sync.client

from gateway import BINARY, Gateway
from skips import program, skip

JAVASCRIPT = pathlib.Path(__file__).resolve().parent.parent / "javascript"


def first_value(text):
    return json.loads(text)["observations"][0]["value"]


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def setUp(self):
        self.topic = "clients/" + self._testMethodName
        self.before = self.gateway.cursor()

    def publish(self, *numbers):
        for number in numbers:
            self.gateway.publish_value(self.topic, number)

    def run_client(self, *command, lines=1):
        """Starts a program, returns its first lines, ends it."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
            taken = [process.stdout.readline() for _ in range(lines)]
            process.kill()
        return taken

    def curl(self, *arguments):
        command = [program(self, "curl"), "-sS", "--max-time", "30", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def test_curl_publishes_and_polls(self):
        url = f"{self.gateway.url}/live/{self.topic}"
        code = self.curl("-o", "/dev/null", "-w", "%{http_code}", "--json", '{"value":21.5}', url)
        self.assertEqual(code, "204")
        self.assertEqual(first_value(self.curl(url)), 21.5)

    def test_curl_publishes_plain_text_and_a_flat_object(self):
        url = f"{self.gateway.url}/live/{self.topic}"
        self.curl("-H", "Content-Type: text/plain", "-d", "21.5", f"{url}/temp")
        self.assertEqual(self.curl("-H", "Accept: text/plain", f"{url}/temp").strip(), "21.5")
        self.curl("--json", '{"temperature":21.5,"humidity":40}', url)
        self.assertEqual(first_value(self.curl(f"{url}/humidity")), 40)

    def test_curl_streams_lines(self):
        self.publish(1, 2)
        url = f"{self.gateway.url}/live/{self.topic}?stream&bare&since={self.before}"
        lines = self.run_client(program(self, "curl"), "-sN", url, lines=2)
        self.assertEqual([first_value(line) for line in lines], [1, 2])

    def test_curl_speaks_http_2(self):
        self.publish(5)
        url = f"{self.gateway.url}/live/{self.topic}"
        said = self.curl("--http2-prior-knowledge", "-w", " %{http_version}", url)
        text, _, version = said.rpartition(" ")
        self.assertEqual((first_value(text), version), (5, "2"))

    def test_httpx_speaks_http_2_and_streams_over_it(self):
        self.publish(1, 2, 3)
        with httpx.Client(http1=False, http2=True, timeout=20) as client:
            response = client.get(f"{self.gateway.url}/live/{self.topic}")
            self.assertEqual((response.http_version, first_value(response.text)), ("HTTP/2", 3))
            url = f"{self.gateway.url}/live/{self.topic}?stream&bare&since={self.before}"
            with client.stream("GET", url) as streamed:
                lines = (line for line in streamed.iter_lines() if line)
                self.assertEqual([first_value(next(lines)) for _ in range(3)], [1, 2, 3])

    def parts(self, since, count):
        """A reader of parts: its boundary, and the parts that Python's own reader of mail finds in so many."""
        headers = {"Accept": "multipart/mixed"}
        url = f"{self.gateway.url}/live/{self.topic}/%23?stream&as=cbor&since={since}"
        with httpx.stream("GET", url, headers=headers, timeout=20) as answer:
            media = answer.headers["Content-Type"]
            body, boundary = b"", media.partition("boundary=")[2]
            for piece in answer.iter_bytes():
                body += piece
                if body.count(b"\r\nWeir-Cursor: ") >= count:
                    break
        whole = f"Content-Type: {media}\r\n\r\n".encode() + body + f"\r\n--{boundary}--\r\n".encode()
        return boundary, email.message_from_bytes(whole, policy=email.policy.HTTP).get_payload()

    def test_no_text_makes_a_part_of_its_own(self):
        forged = "a\r\n--{}\r\nContent-Type: application/json\r\n\r\n{{}}\r\n--{}--\r\n"
        self.publish(1)
        self.gateway.publish_value(self.topic + "/b", 2)
        first, _ = self.parts(self.before, 1)
        for known in ("weir-part", first):
            body = json.dumps({"value": forged.format(known, known)})
            fields = {"Content-Type": "application/json"}
            status, _, said = self.gateway.request("POST", f"/live/{self.topic}/b", body, fields)
            self.assertEqual(status, 204, said)
        self.gateway.publish_value(self.topic + "/b", 3)
        boundary, parts = self.parts(self.before, 5)
        self.assertNotIn(boundary, (first, "weir-part"))
        self.assertEqual([part.get_content_type() for part in parts], ["application/cbor"] * 5)

    def test_sseclient_py_reads_events_with_ids(self):
        self.publish(1, 2, 3)
        headers = {"Accept": "text/event-stream", "Last-Event-ID": self.before}
        with httpx.stream("GET", f"{self.gateway.url}/live/{self.topic}", headers=headers) as answer:
            self.assertTrue(answer.headers["Content-Type"].startswith("text/event-stream"))
            self.assertRegex(answer.headers["Cache-Control"], "no-store|no-cache")
            events = sseclient.SSEClient(answer.iter_bytes()).events()
            events = [next(events) for _ in range(3)]
        self.assertEqual([first_value(event.data) for event in events], [1, 2, 3])
        self.assertEqual(len({event.id for event in events}), 3)

    def node(self, script, *arguments, lines=1):
        node = program(self, "node")
        if not (JAVASCRIPT.parent / "node_modules").is_dir():
            skip(self, "conformance/node_modules is not installed")
        output = self.run_client(node, str(JAVASCRIPT / script), *arguments, lines=lines)
        return [json.loads(line) for line in output]

    def test_npm_eventsource_reads_events(self):
        self.publish(1, 2)
        url = f"{self.gateway.url}/live/{self.topic}"
        events = self.node("eventsource.mjs", url, self.before, lines=2)
        self.assertEqual([first_value(event["data"]) for event in events], [1, 2])

    def test_npm_ws_reads_frames(self):
        self.publish(1)
        url = f"{self.gateway.ws_url}/live/{self.topic}?since={self.before}"
        (frame,) = self.node("ws.mjs", url, "weir.json")
        self.assertEqual((frame["protocol"], frame["binary"]), ("weir.json", False))
        self.assertEqual(first_value(frame["data"]), 1)

    def test_websocat_reads_frames(self):
        self.publish(1)
        url = f"{self.gateway.ws_url}/live/{self.topic}?since={self.before}&bare"
        command = [program(self, "websocat"), "-n", "--protocol", "weir.json", url]
        self.assertEqual(first_value(self.run_client(*command)[0]), 1)

    def test_websockets_falls_back_to_json_without_a_subprotocol(self):
        self.publish(1)
        url = f"{self.gateway.ws_url}/live/{self.topic}?since={self.before}&bare"
        with websockets.sync.client.connect(url) as socket:
            self.assertEqual(first_value(socket.recv(timeout=20)), 1)

    def test_websockets_ping_is_answered(self):
        with websockets.sync.client.connect(f"{self.gateway.ws_url}/live/{self.topic}") as socket:
            self.assertTrue(socket.ping().wait(timeout=20))

    def test_one_filter_reads_many_topics_and_topic_may_be_repeated(self):
        for name in ("a", "b", "c"):
            self.gateway.publish_value(f"{self.topic}/{name}", 1)
        body = json.loads(self.curl(f"{self.gateway.url}/live/{self.topic}/%23"))
        topics = {row["topic"] for row in body["observations"]}
        self.assertEqual(topics, {f"{self.topic}/{name}" for name in "abc"})
        url = f"{self.gateway.url}/live?topic={self.topic}/a&topic={self.topic}/b"
        body = json.loads(self.curl(url))
        self.assertEqual(len(body["observations"]), 2)

    def test_the_catalog_gives_back_what_was_put(self):
        entry = {"name": "north room", "sensor": "urn:x:1", "type": "temperature", "unit": "Cel"}
        entry |= {"lat": 44.8125, "lon": 20.4612, "maximum": 40}
        url = f"{self.gateway.url}/catalog/{self.topic}"
        self.assertEqual(httpx.put(url, json=entry).status_code, 204)
        given = httpx.get(url).json()
        self.assertEqual({name: given.get(name) for name in entry}, entry)
        answer = httpx.put(url, json={"colour": "red"})
        self.assertEqual(answer.status_code, 400)
        self.assertIn("colour", answer.text)

    def test_another_origin_may_read_where_it_is_listed_only(self):
        origin = "http://elsewhere.example"
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        answer = httpx.options(f"{self.gateway.url}/live/{self.topic}", headers=headers)
        self.assertNotIn("Access-Control-Allow-Origin", answer.headers)
        post = {"headers": {"Origin": origin, "Content-Type": "text/plain"}, "content": "1"}
        answer = httpx.post(f"{self.gateway.url}/live/{self.topic}", **post)
        self.assertEqual(answer.status_code, 403)
        self.assertIn("http.cors", answer.text)
        with Gateway(settings={"http.cors": origin}) as listed:
            answer = httpx.options(f"{listed.url}/live/{self.topic}", headers=headers)
            self.assertEqual(answer.headers["Access-Control-Allow-Origin"], origin)
            answer = httpx.post(f"{listed.url}/live/{self.topic}", **post)
            self.assertEqual(answer.status_code, 204)

    def test_a_compressed_answer_is_the_same(self):
        self.gateway.publish(
            self.topic,
            {"observations": [{"topic": f"{self.topic}/{n}", "value": n} for n in range(200)]},
        )
        url = f"{self.gateway.url}/live/{self.topic}/%23"
        packed = httpx.get(url, headers={"Accept-Encoding": "gzip"})
        whole = httpx.get(url, headers={"Accept-Encoding": "identity"})
        self.assertEqual(packed.json(), whole.json())
        self.assertEqual(packed.headers.get("Content-Encoding"), "gzip")

    def test_a_compressed_request_is_what_it_was(self):
        """Telegraf, Vector and OpenTelemetry send gzip where nobody says otherwise; every service takes it."""
        url, topic = self.gateway.url, f"{self.topic}/packed"
        rows = {"observations": [{"topic": f"{topic}/{n}", "value": n} for n in range(200)]}
        fields = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
        packed = gzip.compress(json.dumps(rows).encode())
        # Two members are one body.
        both = gzip.compress(b'{"value":') + gzip.compress(b"7}")
        for body in (packed, both):
            answer = httpx.post(f"{url}/live/{topic}", content=body, headers=fields)
            self.assertEqual(answer.status_code, 204, answer.text)
        last = {row["topic"]: row["value"] for row in httpx.get(f"{url}/live/{topic}/%23").json()["observations"]}
        self.assertEqual((last[f"{topic}/199"], last[topic]), (199, 7))
        question = b'{"request":"GetCapabilities","service":"SOS"}'
        for path, body in (("sos", question), ("sta/v1.1/Things", b'{"name":"packed","description":""}')):
            answer = httpx.post(f"{url}/{path}", content=gzip.compress(body), headers=fields)
            self.assertIn(answer.status_code, (200, 201), answer.text)

    def test_a_compressed_request_that_cannot_be_taken_says_why(self):
        def sent(path, body, coding):
            fields = {"Content-Encoding": coding, "Content-Type": "application/json"}
            return httpx.post(f"{self.gateway.url}/{path}", content=body, headers=fields)

        for path in ("live/a", "sos", "sta/v1.1/Things", "soap/observations", "grafana/query"):
            for coding in ("br", "deflate", "gzip, gzip"):
                answer = sent(path, b"x", coding)
                self.assertEqual((answer.status_code, answer.headers["Accept-Encoding"]), (415, "gzip"), path)
            self.assertEqual(sent(path, b'{"value":1}', "gzip").status_code, 400, path)
            self.assertEqual(sent(path, gzip.compress(b'{"value":1}')[:-9], "gzip").status_code, 400, path)
            # What would be much longer than it is.
            self.assertEqual(sent(path, gzip.compress(b" " * (8 << 20)), "gzip").status_code, 413, path)
        long = gzip.compress(os.urandom(9 << 20).hex().encode(), 1)
        self.assertEqual(sent("live/a", long, "gzip").status_code, 413)

    def test_weir_sub_and_pub_agree_with_the_others(self):
        weir = BINARY
        url = f"http://{self.gateway.address}"
        subprocess.run(
            [weir, "pub", url, self.topic], input='{"value":4}\n', text=True, check=True, timeout=60
        )
        for scheme in ("ws", "sse+http", "stream+http", "longpoll+http"):
            command = [weir, "sub", f"{scheme}://{self.gateway.address}", self.topic]
            command += ["--since", self.before, "--count", "1"]
            said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
            self.assertEqual(first_value(said.stdout.splitlines()[0]), 4, scheme)
