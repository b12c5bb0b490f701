"""Connections byte by byte: what a peer reads of one that ends while it still sends."""

import socket
import time
import unittest

from . import server

GET = b"\x00\x01"
CSM = b"\x00\xe1"
ABORT, RELEASE = 0xE5, 0xE4


class Stream(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server.start(cls)

    def setUp(self):
        host, port = self.gateway.ready["coap+tcp"].rsplit(":", 1)
        self.peer = socket.create_connection((host, int(port)), timeout=20)
        self.addCleanup(self.peer.close)

    def codes(self):
        """The codes of all messages until the end."""
        stream = self.peer.makefile("rb")
        codes = []
        while first := stream.read(1):
            length, token = first[0] >> 4, first[0] & 15
            if length == 13:
                length = 13 + stream.read(1)[0]
            self.assertLess(length, 300)
            codes.append(stream.read(1)[0])
            stream.read(token + length)
        return codes

    def test_who_breaks_a_rule_reads_why_though_it_still_sends(self):
        self.peer.sendall(GET)
        for _ in range(5):
            # What comes to a closed socket is answered with a reset, which takes what was not read yet.
            time.sleep(0.02)
            self.peer.sendall(GET * 100)
        self.assertEqual(self.codes()[-1], ABORT)

    def test_who_releases_a_connection_is_answered_first(self):
        self.peer.sendall(CSM + b"\x51\x01\x07\xb4test" + b"\x00" + bytes([RELEASE]))
        self.assertEqual(self.codes()[1:], [0x45])
