"""Two gateways and one nats-server: one log."""

import json
import pathlib
import random
import shutil
import signal
import threading
import time
import unittest
import urllib.parse

from cluster.reader import Reader
from cluster.servers import Servers, request
from gateway import Gateway, NotReady


def history(gateway, topic):
    status, _, body = gateway.request("GET", f"/history/{urllib.parse.quote(topic)}?limit=10000")
    assert status == 200, body
    return [each["value"] for each in json.loads(body)["observations"]]


def published(gateway, value):
    fields = {"Content-Type": "application/json"}
    return gateway.request("POST", "/live/hall/wall", json.dumps({"value": value}), fields)[0] == 204


LOST = 20


def until(holds, within=30):
    ends = time.monotonic() + within
    while not holds() and time.monotonic() < ends:
        time.sleep(0.01)
    return holds()


class Two(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = cls.a = cls.b = None

    def setUp(self):
        self.servers = self.enterContext(Servers(self, 1))
        self.settings = {"bus.url": self.servers.url}
        self.a = self.enterContext(Gateway(settings=self.settings))
        self.b = self.enterContext(Gateway(settings=self.settings))

    def test_what_one_takes_the_other_delivers(self):
        live = Reader(self.b, "hall/temperature")
        for value in range(5):
            self.a.publish_value("hall/temperature", value)
        self.assertTrue(live.wait(5), live.got)
        self.assertEqual(live.values(), [0, 1, 2, 3, 4])
        third = live.got[2][0]
        # In memory on the gateway that published them, and in the order of the log.
        self.b.publish_value("hall/temperature", 5)
        resumed = Reader(self.a, "hall/temperature", since=third)
        self.assertTrue(resumed.wait(3), resumed.got)
        self.assertEqual(resumed.values(), [3, 4, 5])
        self.assertEqual(resumed.events(), [])
        for gateway in (self.a, self.b):
            self.assertEqual(history(gateway, "hall/temperature"), [0, 1, 2, 3, 4, 5])
        # A third knows what was there before it: values, history, catalog, the log.
        with Gateway(settings=self.settings) as late:
            self.assertEqual(history(late, "hall/temperature"), [0, 1, 2, 3, 4, 5])
            replayed = Reader(late, "hall/temperature", since=third)
            self.assertTrue(replayed.wait(3), replayed.got)
            self.assertEqual(replayed.values(), [3, 4, 5])
            late.publish_value("hall/temperature", 6)
            self.assertTrue(live.wait(7), live.got)
            replayed.leave()
        live.leave()
        resumed.leave()

    def test_two_that_learn_a_description_at_once_know_the_same(self):
        units = ["m", "cm", "mm", "km"]

        def publish(gateway, offset):
            for value in range(40):
                at = f"2026-01-01T00:{value:02}:{offset:02}Z"
                said = {"value": value * 10 + offset, "unit": units[(value + offset) % 4], "time": at}
                gateway.publish("hall/level", said)

        both = [threading.Thread(target=publish, args=it) for it in ((self.a, 0), (self.b, 1))]
        for one in both:
            one.start()
        for one in both:
            one.join()
        made = {(value * 10 + offset, units[(value + offset) % 4]) for value in range(40) for offset in (0, 1)}

        def told(gateway):
            _, _, body = gateway.request("GET", "/history/hall/level")
            return {(row["value"], row["unit"]) for row in json.loads(body)["observations"]}

        def versions(gateway):
            return json.loads(gateway.request("GET", "/catalog/hall/level?versions")[2]).get("versions")

        with Gateway(settings=self.settings) as late:
            for gateway in (self.a, self.b, late):
                self.assertTrue(until(lambda it=gateway: told(it) == made), told(gateway) ^ made)
                self.assertEqual(versions(gateway), versions(self.a))
        self.assertEqual({version["unit"] for version in versions(self.a)}, set(units))
        self.a.restart()
        self.assertEqual(told(self.a), made)
        self.assertEqual(versions(self.a), versions(self.b))

    def test_a_repeat_on_the_other_gateway_is_not_stored_twice(self):
        self.a.publish_value("hall/door", 1, key="k1")
        self.b.publish_value("hall/door", 1, key="k1")
        self.b.publish_value("hall/door", 2, key="k2")
        # The other takes the log a moment later; who was acknowledged there has what stands before it.
        self.a.publish_value("hall/door", 3, key="k3")
        self.assertEqual(history(self.a, "hall/door"), [1, 2, 3])

    def test_the_catalog_is_one(self):
        entry = json.dumps({"unit": "Cel", "type": "temperature"})
        status, _, said = self.a.request(
            "PUT", "/catalog/hall/wall", entry, {"Content-Type": "application/json"}
        )
        self.assertLess(status, 300, said)
        # It was acknowledged, so whoever reads behind it in the log has it.
        self.b.publish_value("hall/wall", 20.5)
        for gateway in (self.a, self.b):
            seen = json.loads(gateway.request("GET", "/catalog/hall/wall")[2])
            self.assertEqual(seen["unit"], "Cel", gateway.address)
        with Gateway(settings=self.settings) as late:
            seen = json.loads(late.request("GET", "/catalog/hall/wall")[2])
            self.assertEqual(seen["unit"], "Cel")

    def test_a_cursor_of_another_log_is_told_so(self):
        self.a.publish_value("hall/temperature", 1)
        strange = Reader(self.a, "hall/temperature", since="0-7")
        self.a.publish_value("hall/temperature", 2)
        self.assertTrue(strange.wait(1), strange.got)
        self.assertEqual(strange.events(), ["gap"])
        self.assertEqual(strange.values(), [2])
        strange.leave()

    def test_what_the_stream_dropped_is_told_as_a_gap_of_as_many(self):
        with Servers(self, 1) as servers:
            settings = {"bus.url": servers.url, "log.retention_bytes": "65536"}
            with Gateway(settings=settings) as first:
                first.publish_value("hall/long", -1)
                left = Reader(first, "hall/long", since="0-0")
                self.assertTrue(left.wait(1), left.got)
                cursor = left.cursor
                left.leave()
                for number in range(60):
                    first.publish("hall/long", {"value": f"{number:03}" + random.randbytes(1000).hex()})
                # Those that took them have them in memory; one that comes has what the stream has.
                with Gateway(settings=settings) as late:
                    resumed = Reader(late, "hall/long", since=cursor)
                    late.publish_value("hall/long", 7)
                    self.assertTrue(until(lambda: resumed.values()[-1:] == [7]), resumed.got)
                    gaps = [said for _, event, said in resumed.got if event == "gap"]
                    numbers = [int(value[:3]) for value in resumed.values() if isinstance(value, str)]
                    self.assertEqual({gap["reason"] for gap in gaps}, {"retention"})
                    self.assertGreater(numbers[0], 0)
                    self.assertEqual(numbers, list(range(numbers[0], 60)))
                    self.assertGreaterEqual(sum(gap["count"] for gap in gaps), numbers[0])
                    resumed.leave()

    def test_who_was_away_for_too_long_refuses_until_a_new_start(self):
        with Servers(self, 1) as servers:
            settings = {"bus.url": servers.url, "log.retention_bytes": "65536"}
            with Gateway(settings=settings) as a, Gateway(settings=settings) as b:
                self.assertTrue(until(lambda: published(a, 0) and b'"value":0' in b.request("GET", "/live/hall/wall")[2]))
                b.process.send_signal(signal.SIGSTOP)
                # More than one request for records brings.
                for _ in range(150):
                    a.publish("hall/long", {"value": random.randbytes(10_000).hex()})
                b.process.send_signal(signal.SIGCONT)
                log = pathlib.Path(b.log.name)
                self.assertTrue(until(lambda: "before they were taken" in log.read_text()), log.read_text())
                self.assertFalse(published(b, 1))
                b.restart()
                self.assertTrue(until(lambda: published(b, 2)))

    def publish_before_and_behind_a_copy(self):
        """1, then a copy of what the server has, then 2 many times; gives what puts the copy in its place."""
        server = self.servers.all[0]
        store, before = server.folder / "jetstream", server.folder / "before"
        self.a.publish_value("hall/wall", 1)
        server.kill()
        shutil.copytree(store, before)
        server.start()
        self.servers.wait()
        self.assertTrue(until(lambda: published(self.a, 2)))
        # What gateways write for themselves when they start is not as long as what is lost.
        for _ in range(LOST):
            self.a.publish_value("hall/wall", 2)

        def go_back():
            server.kill()
            shutil.rmtree(store)
            before.rename(store)
            server.start()

        return go_back

    def test_a_stream_that_lost_what_was_read_is_refused(self):
        go_back = self.publish_before_and_behind_a_copy()
        self.assertTrue(until(lambda: b'"value":2,' in self.b.request("GET", "/live/hall/wall")[2]))
        go_back()
        for gateway in (self.a, self.b):
            log = pathlib.Path(gateway.log.name)
            self.assertTrue(until(lambda log=log: "servers lost what they had acknowledged" in log.read_text()), log)
            self.assertFalse(published(gateway, 3))

    def test_who_comes_from_beyond_a_lost_end_is_told(self):
        live = Reader(self.a, "hall/wall")
        go_back = self.publish_before_and_behind_a_copy()
        self.assertTrue(until(lambda: live.values().count(2) > LOST), live.got)
        cursor = live.cursor
        self.a.kill()
        self.b.kill()
        go_back()
        self.servers.wait()
        # It has read nothing of what is lost, so there is nothing wrong for it.
        with Gateway(settings=self.settings) as fresh:
            resumed = Reader(fresh, "hall/wall", since=cursor)
            self.assertTrue(until(lambda: resumed.events() == ["gap"]), resumed.got)
            self.assertEqual([said["reason"] for _, event, said in resumed.got if event == "gap"], ["rollback"])
            fresh.publish_value("hall/wall", 3)
            self.assertTrue(until(lambda: resumed.values() == [3]), resumed.got)
            resumed.leave()

    def test_a_log_that_is_away_is_said_when_it_goes_and_comes(self):
        def available():
            page = self.a.request("GET", "/metrics")[2].decode()
            return [line for line in page.splitlines() if line.startswith("weir_log_available ")][0].endswith(" 1")

        log, server = pathlib.Path(self.a.log.name), self.servers.all[0]
        self.assertTrue(until(available))
        server.kill()
        self.assertTrue(until(lambda: "the log keeps nothing now" in log.read_text()), log.read_text())
        self.assertFalse(available())
        server.start()
        self.assertTrue(until(lambda: "the log keeps what is published again" in log.read_text()), log.read_text())
        self.assertTrue(available())

    def test_a_start_says_at_once_whom_it_waits_for(self):
        self.servers.all[0].kill()
        with self.assertRaisesRegex(NotReady, "not ready yet: .*bus.url.*Connection refused"):
            Gateway(settings=self.settings)

    def test_a_stream_with_fewer_replicas_than_asked_for_is_refused(self):
        with self.assertRaisesRegex(NotReady, "has 1 replicas, and bus.replicas asks for 3"):
            Gateway(settings={**self.settings, "bus.replicas": "3"})

    def test_a_stream_that_a_later_version_marked_is_refused(self):
        self.a.publish_value("hall/wall", 1)
        self.servers.set_mark("3")
        said = "the stream weir has records of version 3, made by a later weir; this one knows 2: upgrade this gateway"
        with self.assertRaisesRegex(NotReady, said):
            Gateway(settings=self.settings)
        # Those that run already say so, and take nothing more.
        for gateway in (self.a, self.b):
            log = pathlib.Path(gateway.log.name)
            self.assertTrue(until(lambda log=log: said in log.read_text()), log.read_text())
            self.assertFalse(published(gateway, 2))
            status, _, body = gateway.request("GET", "/health/ready")
            self.assertEqual(status, 503, body)
            self.assertIn(said.encode(), body)
            self.assertIn(b'"value":1', gateway.request("GET", "/live/hall/wall")[2])
        self.assertEqual(self.servers.mark(), "3")

    def test_a_stream_without_a_mark_is_marked_and_read(self):
        self.assertEqual(self.servers.mark(), "2")
        for value in range(3):
            self.a.publish_value("hall/wall", value)
        self.a.kill()
        self.b.kill()
        self.servers.set_mark(None)
        self.assertIsNone(self.servers.mark())
        with Gateway(settings=self.settings) as fresh:
            self.assertEqual(self.servers.mark(), "2")
            self.assertEqual(history(fresh, "hall/wall"), [0, 1, 2])
            # An earlier weir that starts now and knows of marks puts its own there.
            self.servers.set_mark("1")
            self.assertTrue(until(lambda: self.servers.mark() == "2"))
            self.assertTrue(published(fresh, 3))
            self.assertEqual(history(fresh, "hall/wall"), [0, 1, 2, 3])

    def test_a_record_of_a_later_version_is_not_passed_over(self):
        # What is no record of a weir is, as ever.
        for body in (b"hello", b"\x03 and no mark says so"):
            self.assertIn("seq", request(self.servers.all[0], "weir.m", body))
        self.assertTrue(until(lambda: published(self.a, 1)))
        # The mark comes first, and the record before anybody looks for a mark.
        self.servers.set_mark("3")
        request(self.servers.all[0], "weir.m", b"\x03 of a later weir")
        log = pathlib.Path(self.a.log.name)
        self.assertTrue(until(lambda: "has records of version 3" in log.read_text()), log.read_text())
        self.assertFalse(published(self.a, 2))
