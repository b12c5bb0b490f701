"""No more files to open: who is there is served, who comes waits, and it is over once there are files again."""

import contextlib
import resource
import socket
import unittest

from faults.kill import until
from gateway import Gateway

FILES = 96


class Files(unittest.TestCase):
    def test_connections_beyond_the_limit_wait_and_hurt_nobody(self):
        gateway = Gateway()
        self.addCleanup(gateway.close)
        kept = gateway.connect()
        gateway.publish_value("files/a", 1, connection=kept)
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        with contextlib.ExitStack() as opened:
            for _ in range(FILES * 2):
                opened.enter_context(socket.create_connection((gateway.host, gateway.port)))
            log = lambda: open(gateway.log.name).read()  # noqa: E731: what it says meanwhile
            self.assertIsNone(until(lambda: "cannot accept" in log(), "it says that it cannot accept"))
            for value in range(50):
                gateway.publish_value("files/a", value, connection=kept)
            self.assertIsNone(gateway.process.poll())
        gateway.publish_value("files/a", 51)
        self.assertEqual(len(gateway.history("files/a")), 52)
        self.assertLess(log().count("cannot accept"), 2000, "it says so again and again")
