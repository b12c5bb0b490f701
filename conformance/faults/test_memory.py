"""Little memory, and more of everything than fits into it: the gateway pushes back and is not killed for it."""

import contextlib
import http.client
import socket
import threading
import unittest

from faults.checker import Writer, faults_of_history
from faults.kill import until
from faults.memory import Group, Small

MEMORY = 160 << 20
# What is published while it lasts takes several times as much, once it is read.
FLOOD = 2 * MEMORY
MANY = b'[%s]' % b",".join(b'{"value":%d}' % value for value in range(1000))
# A value of a few letters takes several times as much once it is read.
READ = 10
# Packed it is next to nothing, read and merged it is whole again.
LONG = b'{"value":"%s"}' % (b"x" * (1 << 20))


class Flood(threading.Thread):
    """Publishes to its own topic as fast as it is let until enough was sent; counts what was said to it."""

    def __init__(self, gateway, topic, body, count):
        super().__init__(daemon=True)
        self.gateway, self.topic, self.body, self.count, self.said = gateway, topic, body, count, {}

    def run(self):
        connection = self.gateway.connect()
        for _ in range(self.count):
            with contextlib.suppress(OSError, http.client.HTTPException):
                fields = {"Content-Type": "application/json"}
                status = self.gateway.request("POST", f"/live/{self.topic}", self.body, fields, connection)[0]
                self.said[status] = self.said.get(status, 0) + 1
                continue
            self.said["cut"] = self.said.get("cut", 0) + 1
            connection = self.gateway.connect()


class Memory(unittest.TestCase):
    def setUp(self):
        self.group = Group(self, MEMORY)
        self.gateway = Small(self.group)
        self.addCleanup(self.gateway.close)
        self.writers = [Writer(self.gateway, str(n)) for n in range(2)]
        for writer in self.writers:
            writer.start()

    def stuck_reader(self, topic):
        """Subscribes, and never reads."""
        reader = socket.create_connection((self.gateway.host, self.gateway.port))
        self.addCleanup(reader.close)
        reader.sendall(f"GET /live/{topic} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n".encode())
        reader.recv(15)

    def flooded(self, body, floods, times=1):
        """What was said to all of them together."""
        count = int(FLOOD / len(body) / times / floods)
        running = [Flood(self.gateway, f"flood/{n}", body, count) for n in range(floods)]
        for flood in running:
            self.stuck_reader(flood.topic)
            flood.start()
        for flood in running:
            flood.join()
        said = {}
        for flood in running:
            for status, times in flood.said.items():
                said[status] = said.get(status, 0) + times
        print(f"said {said}; at most {self.group.most() >> 20} MiB of {MEMORY >> 20}", flush=True)
        return said

    def goes_on(self, said):
        """It lives, pushed back with words, kept what it promised, and takes more."""
        self.assertIsNone(self.gateway.process.poll(), "it was killed")
        self.assertLessEqual(set(said), {204, 413, 429, 503, "cut"})
        before = [writer.next for writer in self.writers]
        self.assertIsNone(until(lambda: all(w.next > b for w, b in zip(self.writers, before, strict=True)),
                                "writers go on"))
        for writer in self.writers:
            writer.stopped.set()
        for writer in self.writers:
            writer.join()
        self.assertEqual(faults_of_history(self.writers, self.gateway), [])

    def test_messages_of_many_values_and_readers_that_do_not_read(self):
        self.goes_on(self.flooded(MANY, 40, READ))

    def test_long_texts_to_few_topics_and_readers_that_do_not_read(self):
        self.goes_on(self.flooded(LONG, 8, 1 / 2))

    def test_long_messages_that_are_never_finished(self):
        head = f"POST /live/flood/a HTTP/1.1\r\nHost: a\r\nContent-Length: {15 << 20}\r\n\r\n".encode()
        part, open_ones = b"[" + b" " * ((10 << 20) - 1), []
        for _ in range(64):
            sender = socket.create_connection((self.gateway.host, self.gateway.port))
            self.addCleanup(sender.close)
            sender.settimeout(5)
            with contextlib.suppress(OSError):
                sender.sendall(head + part)
            open_ones.append(sender)
        said = {}
        for sender in open_ones:
            sender.settimeout(0.1)
            with contextlib.suppress(OSError):
                status = sender.recv(64)[9:12].decode()
                if status:
                    said[int(status)] = said.get(int(status), 0) + 1
        for sender in open_ones:
            sender.close()
        self.assertIn(503, said)
        self.goes_on(said)
