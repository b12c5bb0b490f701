"""`kill -9` at any instant loses nothing acknowledged and stores nothing twice."""

import http.client
import random
import threading
import unittest

from gateway import Gateway

WRITERS = 8
ROUNDS = 4


class Writer(threading.Thread):
    """Publishes numbers under keys until the gateway dies; remembers what was acknowledged."""

    def __init__(self, gateway, name, first, acknowledged):
        super().__init__()
        self.gateway, self.topic, self.next = gateway, f"crash/{name}", first
        self.acknowledged = acknowledged

    def run(self):
        try:
            connection = self.gateway.connect()
            while True:
                key = f"{self.topic}-{self.next}"
                self.gateway.publish_value(self.topic, self.next, key=key, connection=connection)
                self.next += 1
                self.acknowledged()
        except (OSError, http.client.HTTPException):
            # The number that got no answer is tried again, under its key, after the restart.
            pass


class Crash(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def test_nothing_acknowledged_is_lost_or_stored_twice(self):
        chance = random.Random(7)
        firsts = [0] * WRITERS
        for _ in range(ROUNDS):
            enough = threading.Semaphore(0)
            writers = [
                Writer(self.gateway, name, first, enough.release)
                for name, first in enumerate(firsts)
            ]
            for writer in writers:
                writer.start()
            for _ in range(chance.randrange(100, 1500)):
                self.assertTrue(enough.acquire(timeout=30), "writers are not acknowledged")
            self.gateway.kill()
            for writer in writers:
                writer.join()
            self.gateway.start()
            firsts = [writer.next for writer in writers]
            for writer in writers:
                kept = [int(row["value"]) for row in self.gateway.history(writer.topic)]
                self.assertEqual(sorted(set(kept)), sorted(kept), "stored twice")
                self.assertEqual(kept[: writer.next], list(range(writer.next)), "lost")
                self.assertLessEqual(len(kept), writer.next + 1)

    def test_a_batch_is_kept_whole_or_not_at_all(self):
        rows = [{"topic": f"crash/batch/{index}", "value": index} for index in range(50)]
        self.gateway.publish("crash/batch", {"observations": rows})
        self.gateway.restart()
        kept = self.gateway.history("crash/batch/#")
        self.assertEqual(sorted(row["value"] for row in kept), list(range(50)))

    def test_the_catalog_outlives_a_crash(self):
        body = '{"unit":"Cel","type":"temperature","sensor":"urn:dev:mac:0024befffe804ff1"}'
        headers = {"Content-Type": "application/json"}
        status, _, said = self.gateway.request("PUT", "/catalog/crash/described", body, headers)
        self.assertLess(status, 300, said)
        self.gateway.restart()
        status, _, said = self.gateway.request("GET", "/catalog/crash/described")
        self.assertEqual(status, 200)
        self.assertIn(b'"Cel"', said)


class Idempotency(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def count(self, topic):
        return len(self.gateway.history(topic))

    def test_a_repeat_is_acknowledged_and_not_stored_twice(self):
        for _ in range(3):
            self.gateway.publish_value("keys/repeat", 1, key="k1")
        self.gateway.publish_value("keys/repeat", 2, key="k2")
        self.assertEqual(self.count("keys/repeat"), 2)

    def test_a_repeat_after_a_crash_is_still_one(self):
        self.gateway.publish_value("keys/crash", 1, key="k1")
        self.gateway.restart()
        self.gateway.publish_value("keys/crash", 1, key="k1")
        self.assertEqual(self.count("keys/crash"), 1)

    def test_repeats_at_the_same_time_are_one(self):
        def send():
            self.gateway.publish_value("keys/race", 1, key="race")

        threads = [threading.Thread(target=send) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.count("keys/race"), 1)

    def test_messages_without_a_key_are_all_kept(self):
        for _ in range(3):
            self.gateway.publish_value("keys/none", 1)
        self.assertEqual(self.count("keys/none"), 3)
