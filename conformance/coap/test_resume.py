"""What was missed since a cursor, what is not published yet, and what a refusal says."""

import json
import subprocess
import unittest

from gateway import BINARY

from . import server
from .server import CON, GET, Client

FETCH = 5
DELETE, PUT = 4, 3
OBSERVE, ETAG, FORMAT, QUERY, ACCEPT, GAP = 6, 4, 12, 15, 17, 65000
PLAIN = (ACCEPT, b"")


def query(text):
    return (QUERY, text.encode())


class Resume(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server.start(cls, **{"coap.plugtest": "false"})

    def setUp(self):
        self.client = Client(self.gateway)
        self.addCleanup(self.client.close)
        self.topic = "resume/" + self._testMethodName

    def publish(self, *values):
        for value in values:
            self.gateway.publish_value(self.topic, value)

    def get(self, *pairs):
        return self.client.exchange(GET, f"live/{self.topic}", [PLAIN, *pairs])

    def missed(self):
        """A cursor, and 401 to 403 behind it."""
        self.publish(400)
        cursor = self.gateway.cursor()
        self.publish(401, 402, 403)
        return query(f"since={cursor}")

    def told(self):
        """The next notification, acknowledged."""
        while True:
            note = self.client.next()
            self.assertIsNotNone(note)
            if note.kind == CON:
                self.client.acknowledge(note)
            if note.code == "2.05":
                return note

    def test_a_get_since_a_cursor_gets_what_came_after_it(self):
        since = self.missed()
        for pairs in ([since], [since, query("wait=0")], [since, query("wait=1")]):
            answer = self.get(*pairs)
            self.assertEqual((answer.code, answer.payload.split()), ("2.05", [b"401", b"402", b"403"]))
        here = int.from_bytes(server.values(answer, ETAG)[0], "big")
        self.assertGreater(here, 0)
        nothing = self.get(query(f"since={self.gateway.cursor()}"))
        self.assertEqual((nothing.code, nothing.payload), ("2.05", b""))

    def test_who_observes_since_a_cursor_is_told_what_was_missed(self):
        since = self.missed()
        for more in ([], [query("stream")]):
            self.client = Client(self.gateway)
            self.addCleanup(self.client.close)
            first = self.get((OBSERVE, b""), since, *more)
            self.assertEqual(first.payload.split()[:3], [b"401", b"402", b"403"])
            self.assertTrue(server.values(first, OBSERVE))
            self.publish(404)
            self.assertEqual(self.told().payload.split(), [b"404"])

    def test_what_one_answer_does_not_hold_weirs_client_asks_for(self):
        """An answer is whole from 1 MiB on, so that four of 400 kB take two."""
        since = self.gateway.cursor()
        for letter in "abcd":
            self.gateway.publish(self.topic, json.dumps({"value": letter * 400_000}))
        for url in (self.url, self.tcp_url):
            command = [BINARY, "sub", f"{url}/live", self.topic, "--since", since, "--count", "2", "--as", "json"]
            ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            for letter in "abcd":
                self.assertEqual(ended.stdout.count(letter * 400_000), 1, (url, letter, ended.stderr))

    def test_a_resume_that_cannot_be_says_why(self):
        self.publish(1)
        for pairs in ([], [(OBSERVE, b"")]):
            answer = self.get(query("since=1-7fffffff"), *pairs)
            (gap,) = server.values(answer, GAP)
            self.assertIn("reason", json.loads(gap))

    def test_what_is_not_published_yet_can_be_observed_and_not_read(self):
        self.assertEqual(self.get().code, "4.04")
        first = self.get((OBSERVE, b""))
        self.assertEqual((first.code, first.payload), ("2.05", b""))
        self.assertTrue(server.values(first, OBSERVE))
        self.publish(7)
        self.assertEqual(self.told().payload.split(), [b"7"])

    def test_a_key_is_spelt_as_the_field_or_in_small_letters(self):
        for spelt in ("Idempotency-Key=k1", "idempotency-key=k1"):
            pairs = [(FORMAT, b""), query(spelt)]
            answer = self.client.exchange(server.POST, f"live/{self.topic}", pairs, payload=b"5")
            self.assertEqual(answer.code, "2.04")
        self.assertEqual(len(self.gateway.history(self.topic)), 1)

    def test_a_list_of_filters_is_json_and_a_refusal_names_them(self):
        def fetch(number):
            pairs = [(FORMAT, bytes([number]))]
            return self.client.exchange(FETCH, "live", pairs, payload=b'["resume/nope"]')

        self.assertEqual(fetch(60).code, "4.15")
        refused = fetch(50)
        self.assertEqual(refused.code, "4.04")
        self.assertIn(b"`resume/nope`", refused.payload)

    def test_a_refusal_says_where_a_topic_is_and_what_is_possible(self):
        for method in (PUT, GET):
            away = self.client.exchange(method, "pump/flow", [], payload=b"1")
            self.assertEqual(away.code, "4.04")
            self.assertIn(b"/live/pump/flow", away.payload)
        refused = self.client.exchange(DELETE, f"live/{self.topic}")
        self.assertEqual(refused.code, "4.05")
        self.assertIn(b"PUT", refused.payload)
