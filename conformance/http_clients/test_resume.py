"""A client that is cut off and comes back misses nothing and sees nothing twice."""

import itertools
import json
import subprocess
import threading
import unittest

from gateway import Gateway
from readers import RESUMABLE, Gap, polling
from skips import program

JSON = {"name": "json", "media": "application/json", "text": True}


def values(batches):
    """The values of everything that was read, in order."""
    return [
        int(row["value"])
        for messages, _ in batches
        for data in messages
        for row in json.loads(data)["observations"]
    ]


class Resume(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def publish(self, topic, numbers):
        connection = self.gateway.connect()
        for number in numbers:
            self.gateway.publish_value(topic, number, connection=connection)
        connection.close()

    def take(self, batches, last):
        """Reads until a value or a later one has come, then cuts the connection off."""
        taken = []
        for batch in batches:
            taken.append(batch)
            if values([batch])[-1] >= last:
                break
        batches.close()
        return taken

    def scheme(self, name):
        """Cut off again and again while a writer writes."""
        read, topic = RESUMABLE[name], f"resume/{name}"
        cursor = self.gateway.cursor()
        writer = threading.Thread(target=self.publish, args=(topic, range(300)))
        writer.start()
        got = []
        for last in (7, 60, 61, 150, 299):
            if got and got[-1] >= last:
                continue
            batches = self.take(read(self.gateway, topic, JSON, since=cursor), last)
            got += values(batches)
            cursor = batches[-1][1]
        writer.join()
        self.assertEqual(got, list(range(300)))

    def test_long_polling_misses_nothing(self):
        self.scheme("long_polling")

    def test_streaming_misses_nothing(self):
        self.scheme("streaming")

    def test_sse_misses_nothing(self):
        self.scheme("sse")

    def test_websocket_misses_nothing(self):
        self.scheme("websocket")

    def test_a_cursor_of_one_scheme_is_valid_on_every_other(self):
        topic, cursor = "resume/across", self.gateway.cursor()
        got = []
        for index, read in enumerate(itertools.islice(itertools.cycle(RESUMABLE.values()), 8)):
            self.publish(topic, range(5 * index, 5 * index + 5))
            batches = self.take(read(self.gateway, topic, JSON, since=cursor), 5 * index + 4)
            got += values(batches)
            cursor = batches[-1][1]
        self.assertEqual(got, list(range(40)))

    def test_a_cursor_outlives_a_clean_restart_and_a_crash(self):
        topic, cursor = "resume/restart", self.gateway.cursor()
        self.publish(topic, range(5))
        first = self.take(RESUMABLE["sse"](self.gateway, topic, JSON, since=cursor), 4)
        self.publish(topic, range(5, 8))
        self.assertEqual(self.gateway.terminate(), 0)
        self.gateway.start()
        second = self.take(RESUMABLE["streaming"](self.gateway, topic, JSON, since=first[-1][1]), 7)
        self.publish(topic, range(8, 10))
        self.gateway.restart()
        third = self.take(RESUMABLE["websocket"](self.gateway, topic, JSON, since=second[-1][1]), 9)
        self.assertEqual(values(first + second + third), list(range(10)))

    def test_a_killed_curl_misses_nothing(self):
        curl, topic = program(self, "curl"), "resume/curl"
        cursor, got = self.gateway.cursor(), []
        self.publish(topic, range(30))
        for last in (9, 19, 29):
            command = [curl, "-sN", "-H", "Accept: text/event-stream", "-H"]
            command += [f"Last-Event-ID: {cursor}", f"{self.gateway.url}/live/{topic}"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                for line in process.stdout:
                    if line.startswith("id:"):
                        cursor = line[3:].strip()
                    if line.startswith("data:"):
                        rows = json.loads(line[5:])["observations"]
                        got += [int(row["value"]) for row in rows]
                    if line == "\n" and got and got[-1] >= last:
                        break
                process.kill()
        self.assertEqual(got, list(range(30)))

    def test_a_snapshot_then_live_has_no_hole_and_no_duplicate(self):
        topic = "resume/snapshot"
        self.publish(topic, range(5))
        writer = threading.Thread(target=self.publish, args=(topic, range(5, 200)))
        writer.start()
        path = topic + "?snapshot&as=json"
        got = values(self.take(self.snapshot(path), 199))
        writer.join()
        self.assertGreaterEqual(got[0], 4)
        self.assertEqual(got, list(range(got[0], 200)))

    def snapshot(self, path):
        import httpx
        import httpx_sse

        with httpx.Client(timeout=20) as client:
            url = f"{self.gateway.url}/live/{path}"
            with httpx_sse.connect_sse(client, "GET", url) as source:
                for event in source.iter_sse():
                    self.assertNotEqual(event.event, "gap")
                    if event.event == "message" and event.data:
                        yield [event.data.encode()], event.id

    def test_a_foreign_cursor_is_answered_with_a_gap(self):
        with Gateway() as other:
            for number in range(50):
                other.publish_value("resume/foreign", number)
            cursor = other.cursor()
        self.publish("resume/foreign", range(3))
        with self.assertRaises(Gap):
            next(RESUMABLE["sse"](self.gateway, "resume/foreign", JSON, since=cursor))

    def test_polling_says_not_modified(self):
        self.publish("resume/poll", [1])
        _, cursor = next(polling(self.gateway, "resume/poll", JSON))
        status, headers, _ = self.gateway.request(
            "GET", "/live/resume/poll", headers={"If-None-Match": f'"{cursor}"'}
        )
        self.assertIn(status, (200, 304))
        self.assertEqual(headers["Weir-Cursor"], cursor)
