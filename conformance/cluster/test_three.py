"""Three gateways, three nats-servers that replicate and sync each write, under load, while one after another is killed.

The writers and readers, and what is held against them, are those of the single machine (`faults.checker`). Each
connection goes to another gateway than the one before, so every break is a resume on another gateway.
"""

import itertools
import time
import unittest

from cluster.servers import Servers
from faults import checker
from gateway import Gateway

WRITERS, READERS = 3, 2


class Any:
    """All gateways as the one that a client is sent to next."""

    def __init__(self, gateways):
        self.gateways, self.turns = gateways, itertools.count()

    def connect(self):
        return self.gateways[next(self.turns) % len(self.gateways)].connect()

    def request(self, *arguments):
        return self.gateways[0].request(*arguments)

    def cursor(self):
        return self.gateways[0].cursor()


class Three(unittest.TestCase):
    def setUp(self):
        self.servers = self.enterContext(Servers(self, 3))
        settings = {"bus.url": self.servers.url, "bus.replicas": "3"}
        self.gateways = [self.enterContext(Gateway(settings=settings)) for _ in range(3)]
        self.any = Any(self.gateways)

    def begin(self):
        self.gateways[0].publish_value("kept/0", -1)
        self.readers = [checker.Reader(self.any) for _ in range(READERS)]
        self.writers = [checker.Writer(self.any, f"w{at}") for at in range(WRITERS)]
        for each in self.readers + self.writers:
            each.start()

    def progress(self, least=20, within=60):
        """Waits until every writer was acknowledged some more."""
        before, until = [writer.next for writer in self.writers], time.monotonic() + within
        while any(writer.next < first + least for writer, first in zip(self.writers, before)):
            refused = [writer.refused for writer in self.writers]
            self.assertLess(time.monotonic(), until, f"the writers stand still; refused: {refused}")
            time.sleep(0.05)

    def end(self):
        for writer in self.writers:
            writer.stopped.set()
        for writer in self.writers:
            writer.join(timeout=60)
        # Whoever is acknowledged behind all of them has seen all of them.
        for gateway in self.gateways:
            gateway.publish_value("kept/0", -2)
        kept = {writer.topic: len(self.gateways[0].history(writer.topic, limit=10_000)) for writer in self.writers}
        until = time.monotonic() + 30
        while not all(checker.has_all(reader, kept) for reader in self.readers) and time.monotonic() < until:
            time.sleep(0.1)
        for reader in self.readers:
            reader.stop()
        found = []
        for gateway in self.gateways:
            found += checker.faults_of_history(self.writers, gateway)
        for reader in self.readers:
            reader.events = [it for it in reader.events if it is None or it[0] != "kept/0"]
            found += checker.faults_of_reader(reader, kept)
            found += ["a gap was told where nothing was lost"] * (None in reader.events)
        promised = sum(writer.next for writer in self.writers)
        delivered = sum(len(reader.events) for reader in self.readers)
        print(f"{promised} acknowledged, {delivered} delivered", flush=True)
        self.assertEqual(found, [])
        self.assertGreaterEqual(delivered, promised, "the readers read nothing")

    def test_whichever_is_killed_nothing_acknowledged_is_lost_or_comes_twice(self):
        self.begin()
        self.progress()
        for server in self.servers.all:
            server.kill()
            self.progress()
            server.start()
            self.servers.wait()
        for gateway in self.gateways:
            gateway.kill()
            time.sleep(0.5)
            gateway.start()
            self.progress()
        self.end()

    def test_all_servers_killed_at_once_keep_what_was_acknowledged(self):
        self.begin()
        self.progress()
        self.servers.kill_all()
        self.servers.start_all()
        self.progress()
        self.end()
