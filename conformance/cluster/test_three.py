"""Three gateways, three nats-servers that replicate and sync each write, under load, while one after another is killed."""

import time
import unittest

from cluster.load import Load
from cluster.servers import Servers
from gateway import Gateway


class Three(unittest.TestCase):
    def setUp(self):
        self.servers = self.enterContext(Servers(self, 3))
        settings = {"bus.url": self.servers.url, "bus.replicas": "3"}
        self.gateways = [self.enterContext(Gateway(settings=settings)) for _ in range(3)]
        self.load = Load(self.gateways)
        self.addCleanup(self.load.stop)

    def end(self):
        found = self.load.end()
        print(f"{self.load.promised} acknowledged, {self.load.delivered} delivered", flush=True)
        self.assertEqual(found, [])

    def test_whichever_is_killed_nothing_is_lost_or_comes_twice(self):
        self.load.progress()
        for server in self.servers.all:
            server.kill()
            self.load.progress()
            server.start()
            self.servers.wait()
        for gateway in self.gateways:
            gateway.kill()
            time.sleep(0.5)
            gateway.start()
            self.load.progress()
        self.end()

    def test_all_servers_killed_at_once_keep_what_was_acknowledged(self):
        self.load.progress()
        self.servers.kill_all()
        self.servers.start_all()
        self.load.progress()
        self.end()
