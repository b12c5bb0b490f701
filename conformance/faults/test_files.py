"""No more files to open: who is there is served, who comes waits, and it is over once there are files again."""

import contextlib
import resource
import socket
import unittest

from faults.kill import until
from gateway import Gateway

FILES = 96
# A segment is full after sixteen of them.
LONG = b'{"value":"%s"}' % (b"x" * 4096)


class Files(unittest.TestCase):
    def test_connections_beyond_the_limit_wait_and_hurt_nobody(self):
        gateway = Gateway()
        self.addCleanup(gateway.close)
        kept = gateway.connect()
        gateway.publish_value("files/a", 1, connection=kept)
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        with contextlib.ExitStack() as opened:
            # More than there are files for, and no more than the kernel lets wait.
            for _ in range(FILES):
                opened.enter_context(socket.create_connection((gateway.host, gateway.port)))
            log = lambda: open(gateway.log.name).read()  # noqa: E731: what it says meanwhile
            self.assertIsNone(until(lambda: "cannot accept" in log(), "it says that it cannot accept"))
            for value in range(50):
                gateway.publish_value("files/a", value, connection=kept)
            self.assertIsNone(gateway.process.poll())
        gateway.publish_value("files/a", 51)
        self.assertEqual(len(gateway.history("files/a")), 52)
        self.assertLess(log().count("cannot accept"), 2000, "it says so again and again")

    def test_a_segment_that_cannot_be_opened_is_told_meanwhile(self):
        gateway = Gateway(settings={"log.segment_bytes": "65536"})
        self.addCleanup(gateway.close)
        kept = gateway.connect()
        said = [self.publish(gateway, kept)]
        limits = resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (1, limits[1]))
        while said[-1] == 204 and len(said) < 64:
            said.append(self.publish(gateway, kept))
        self.assertEqual(said[-1], 507)
        self.assertEqual(self.publish(gateway, kept), 507)
        resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, limits)
        self.assertIsNone(until(lambda: self.publish(gateway, kept) == 204, "it takes more"))
        self.assertGreaterEqual(len(gateway.history("files/long")), said.count(204) + 1)

    def publish(self, gateway, connection):
        fields = {"Content-Type": "application/json"}
        return gateway.request("POST", "/live/files/long", LONG, fields, connection)[0]
