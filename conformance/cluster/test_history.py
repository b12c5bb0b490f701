"""Three gateways, one nats-server and one PostgreSQL, under load: one history, whichever of them is killed."""

import time
import unittest

from cluster import test_three
from cluster.database import Database
from cluster.servers import Servers
from gateway import Gateway, NotReady


class OneHistory(unittest.TestCase):
    begin, progress, end = test_three.Three.begin, test_three.Three.progress, test_three.Three.end

    def setUp(self):
        self.servers = self.enterContext(Servers(self, 1))
        self.database = self.enterContext(Database(self))
        self.settings = {"bus.url": self.servers.url, "store.url": self.database.url}
        self.gateways = [self.enterContext(Gateway(settings=self.settings)) for _ in range(3)]
        self.any = test_three.Any(self.gateways)

    def test_all_gateways_answer_the_same_whichever_is_killed(self):
        self.begin()
        self.progress()
        for gateway in self.gateways:
            gateway.kill()
            self.progress()
            gateway.start()
            self.progress()
        self.end()
        self.same()

    def test_a_killed_database_is_caught_up_with(self):
        self.begin()
        self.progress()
        self.database.kill()
        # What is published is acknowledged meanwhile: the log has it.
        self.progress()
        status, _, said = self.gateways[0].request("GET", "/history/kept/w0")
        self.assertGreaterEqual(status, 500, said)
        self.assertIn(b"PostgreSQL at weir@127.0.0.1", said)
        self.database.start()
        self.progress()
        self.answers()
        self.end()
        self.same()

    def answers(self):
        """A gateway that has just found no server looks for it again after a second."""
        until = time.monotonic() + 30
        for gateway in self.gateways:
            while gateway.request("GET", "/history/kept/w0")[0] != 200:
                self.assertLess(time.monotonic(), until, "the gateways do not come back to the database")
                time.sleep(0.1)

    def same(self):
        """Every gateway gives the rows that the database has, each once."""
        expected = {
            writer.topic: self.database.sql(
                f"SELECT number::bigint FROM weir.observations WHERE topic = '{writer.topic}' "
                "ORDER BY nanoseconds, cursor"
            )
            for writer in self.writers
        }
        for topic, numbers in expected.items():
            self.assertEqual(len(set(numbers)), len(numbers))
            for gateway in self.gateways:
                kept = [str(int(row["value"])) for row in gateway.history(topic, limit=100)]
                self.assertEqual(kept, numbers, topic)

    def test_a_gateway_with_another_log_is_refused(self):
        with self.assertRaisesRegex(NotReady, "another log"):
            Gateway(settings={"store.url": self.database.url})

