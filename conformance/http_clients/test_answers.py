"""What RFC 9110 and RFC 6455 want of every answer, and the control lines of streams."""

import datetime
import email.utils
import http.client
import json
import re
import unittest

from gateway import Gateway


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)
        cls.gateway.publish_value("answers/a", 1)

    def headers(self, method, path, headers=None, body=None):
        return self.gateway.request(method, path, body, headers)[:2]

    def test_every_answer_is_dated(self):
        kind = {"Content-Type": "application/json"}
        for method, path, body, status in (
            ("GET", "/live/answers/a", None, 200),
            ("HEAD", "/catalog", None, 200),
            ("POST", "/live/answers/a", '{"value":1}', 204),
            ("GET", "/nowhere", None, 404),
            ("POST", "/live/answers/a", "{", 400),
            ("PATCH", "/live/answers/a", "{}", 405),
            ("GET", "/history/answers/%23", None, 200),
            ("OPTIONS", "/live/answers/a", None, 204),
        ):
            got, headers = self.headers(method, path, kind, body)
            self.assertEqual(got, status, (method, path))
            self.assertEqual(len(headers.get_all("Date")), 1)
            self.assertRegex(headers["Date"], r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
            age = datetime.datetime.now(datetime.UTC) - email.utils.parsedate_to_datetime(headers["Date"])
            self.assertLess(abs(age), datetime.timedelta(minutes=1))

    def test_a_stream_is_dated(self):
        for path in ("/live/answers/a?stream", "/live/answers/a?stream&as=cbor"):
            connection = self.gateway.connect()
            connection.request("GET", path)
            self.assertTrue(connection.getresponse().headers["Date"])
            connection.close()

    def test_what_is_allowed_is_said_alike_by_405_and_options(self):
        for path in (
            "/live/answers/a", "/catalog/answers/a", "/history/answers/a", "/formats", "/schema/weir.proto",
            "/sos", "/sta/v1.1/Things", "/soap/observations", "/td", "/grafana/query", "/advise",
        ):
            status, refused = self.headers("BREW", path)
            self.assertEqual(status, 405, path)
            status, asked = self.headers("OPTIONS", path)
            self.assertEqual(status, 204, path)
            self.assertEqual(refused["Allow"], asked["Allow"], path)
            methods = asked["Allow"].split(", ")
            self.assertEqual(len(set(methods)), len(methods))
            self.assertIn("OPTIONS", methods)
            self.assertEqual("GET" in methods, "HEAD" in methods)

    def test_a_page_is_told_what_it_may_ask(self):
        preflight = {"Origin": "http://page.example", "Access-Control-Request-Method": "PUT"}
        self.assertEqual(self.headers("OPTIONS", "/catalog/answers/a", preflight)[0], 204)

    def test_426_says_to_what(self):
        hello = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        status, headers = self.headers("GET", "/live/answers/a", {**hello, "Sec-WebSocket-Version": "12"})
        self.assertEqual((status, headers["Upgrade"], headers["Sec-WebSocket-Version"]), (426, "websocket", "13"))
        self.assertIn("upgrade", headers["Connection"].lower())

    def test_whatever_there_is_has_not_changed(self):
        for known in ("*", " * "):
            status, headers = self.headers("GET", "/live/answers/a", {"If-None-Match": known})
            self.assertEqual(status, 304)
            self.assertTrue(headers["ETag"])
        self.assertEqual(self.headers("GET", "/live/answers/none", {"If-None-Match": "*"})[0], 404)
        self.assertEqual(self.headers("GET", "/live/answers/a", {"If-None-Match": '"other"'})[0], 200)

    def test_a_list_in_several_lines_is_one_list(self):
        tag = self.headers("GET", "/live/answers/a", {})[1]["ETag"]
        for lines, status in (
            ([("If-None-Match", '"other"'), ("If-None-Match", tag)], 304),
            ([("If-None-Match", tag), ("If-None-Match", '"other"')], 304),
            ([("If-None-Match", '"other"'), ("If-None-Match", '"another"')], 200),
            ([("If-Match", "*")], 200),
            ([("If-Match", '"other"'), ("If-Match", tag)], 412),
            ([("Accept", "image/png"), ("Accept", "text/csv")], 200),
            ([("Accept", "image/png"), ("Accept", "image/gif")], 406),
            ([("Prefer", "respond-async"), ("Prefer", "wait=0")], 200),
        ):
            connection = http.client.HTTPConnection(self.gateway.host, self.gateway.port, timeout=30)
            connection.putrequest("GET", "/live/answers/a")
            for name, value in lines:
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            self.assertEqual((answer.status, lines), (status, lines))
            connection.close()

    def test_each_place_is_told_once(self):
        for form in ("csv", "plain", "json", "turtle"):
            for coding in ("identity", "gzip"):
                connection = http.client.HTTPConnection(self.gateway.host, self.gateway.port, timeout=30)
                connection.request("GET", f"/live/told/a?stream&compress=0&as={form}", headers={"Accept-Encoding": coding})
                answer = connection.getresponse()
                for value in range(3):
                    self.gateway.publish_value("told/a", value)
                places = []
                while len(places) < 3:
                    found = re.match(r'\{"weir":\{"cursor":"([^"]+)"\}\}', answer.readline().decode())
                    places += found.groups() if found else []
                self.assertEqual(len(set(places)), 3, (form, places))
                connection.close()

    def test_the_last_value_is_told_as_history_tells_it(self):
        flagged = {
            "value": -999, "time": "2026-11-20T09:41:00Z", "unit": "m", "end": "2026-11-20T09:42:00Z",
            "resultTime": "2026-11-20T09:43:00Z", "validTime": ["2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"],
            "quality": "bad", "feature": "urn:f", "parameters": {"k": [1, "2"]},
        }
        for topic, members in (
            ("flagged/all", flagged),
            ("flagged/quality", {"value": 1, "time": "2026-11-20T09:41:00Z", "quality": "suspect"}),
            ("flagged/none", {"value": 1, "time": "2026-11-20T09:41:00Z"}),
        ):
            self.gateway.publish(topic, members)
            told = {"topic": topic, **members}
            for _ in range(2):
                self.assertEqual(self.gateway.history(topic), [told])
                [row] = json.loads(self.gateway.request("GET", f"/live/{topic}")[2])["observations"]
                self.assertEqual(row, told)
                entry = json.loads(self.gateway.request("GET", f"/catalog/{topic}")[2])
                self.assertEqual({name: entry.get(name) for name in told}, told)
                connection = self.gateway.connect()
                connection.request("GET", f"/live/{topic}?stream&snapshot")
                self.assertEqual(json.loads(connection.getresponse().readline())["observations"], [told])
                connection.close()
                self.gateway.kill()
                self.gateway.start()

    def test_a_boolean_is_one_as_spreadsheets_write_it(self):
        for word, value in (("True", True), ("FALSE", False), ("true", True), ("Truth", "Truth")):
            for media, text in (("text/plain", word), ("text/csv", f"value\n{word}\n")):
                self.gateway.publish("words/a", text, media)
                [row] = json.loads(self.gateway.request("GET", "/live/words/a")[2])["observations"]
                self.assertEqual(row["value"], value, (media, word))
        self.gateway.publish("words/a", {"value": "True"})
        [row] = json.loads(self.gateway.request("GET", "/live/words/a")[2])["observations"]
        self.assertEqual(row["value"], "True")


if __name__ == "__main__":
    unittest.main()
