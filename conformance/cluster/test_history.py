"""Three gateways, one nats-server and one PostgreSQL, under load: one history, whichever of them is killed."""

import time
import unittest

from cluster.database import Database
from cluster.load import Load
from cluster.servers import Servers
from gateway import Gateway, NotReady


class OneHistory(unittest.TestCase):
    def setUp(self):
        self.servers = self.enterContext(Servers(self, 1))
        self.database = self.enterContext(Database(self))
        self.settings = {"bus.url": self.servers.url, "store.url": self.database.url}
        self.gateways = [self.enterContext(Gateway(settings=self.settings)) for _ in range(3)]
        self.load = Load(self.gateways)
        self.addCleanup(self.load.stop)

    def test_all_gateways_answer_the_same_whichever_is_killed(self):
        self.load.progress()
        for gateway in self.gateways:
            gateway.kill()
            self.load.progress()
            gateway.start()
            self.load.progress()
        self.assertEqual(self.load.end(), [])
        self.same()

    def test_a_killed_database_is_caught_up_with(self):
        self.load.progress()
        self.database.kill()
        # What is published is acknowledged meanwhile: the log has it.
        self.load.progress()
        status, _, said = self.gateways[0].request("GET", "/history/kept/w0")
        self.assertGreaterEqual(status, 500, said)
        self.assertIn(b"PostgreSQL at weir@127.0.0.1", said)
        self.database.start()
        self.load.progress()
        self.answers()
        self.assertEqual(self.load.end(), [])
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
            for writer in self.load.writers
        }
        for topic, numbers in expected.items():
            self.assertEqual(len(set(numbers)), len(numbers))
            for gateway in self.gateways:
                kept = [str(int(row["value"])) for row in gateway.history(topic, limit=100)]
                self.assertEqual(kept, numbers, topic)

    def test_a_gateway_with_another_log_is_refused(self):
        with self.assertRaisesRegex(NotReady, "another log"):
            Gateway(settings={"store.url": self.database.url})

