"""Datagrams byte by byte: malformed ones of every kind, duplicates, blocks in the wrong order, floods."""

import os
import time
import unittest

from . import server
from .server import CON, DELETE, GET, NON, POST, PUT, Client, Peer, message, options, path

MALFORMED = {
    "token length 9": b"\x49\x01\x00\x01123456789",
    "token length 15": b"\x4f\x01\x00\x01",
    "token cut off": b"\x44\x01\x00\x01ab",
    "option delta 15": b"\x40\x01\x00\x01\xf1a",
    "option length 15": b"\x40\x01\x00\x01\x1f",
    "option cut off": b"\x40\x01\x00\x01\xb5ab",
    "extended delta cut off": b"\x40\x01\x00\x01\xe1\x00",
    "number above 65535": b"\x40\x01\x00\x01\xe0\xff\xff\xe0\xff\xff",
    "marker without payload": b"\x40\x01\x00\x01\xff",
    "empty with a token": b"\x41\x00\x00\x01a",
    "empty with bytes": b"\x40\x00\x00\x01\xb1a",
    "class 1": b"\x40\x20\x00\x01",
    "class 6": b"\x40\xc0\x00\x01",
    "class 7": b"\x40\xe1\x00\x01",
    "a response": b"\x40\x45\x00\x01",
}


class Bytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server.start(cls)

    def setUp(self):
        self.peer = Peer(self.gateway)
        self.addCleanup(self.peer.close)

    def answers_still(self):
        other = Peer(self.gateway, wait_s=5)
        self.addCleanup(other.close)
        answer = other.ask(message(CON, GET, 7, path("test")))
        self.assertEqual(server.code(answer), "2.05")

    def test_malformed_messages_are_reset_if_confirmable(self):
        for name, datagram in MALFORMED.items():
            with self.subTest(name):
                answer = self.peer.ask(datagram, wait_s=5)
                self.assertEqual(answer, b"\x70\x00\x00\x01")
                for first in (0x10, 0x20, 0x30):
                    self.peer.send(bytes([datagram[0] ^ first]) + datagram[1:])
        self.assertIsNone(self.peer.receive(wait_s=0.5))
        self.answers_still()

    def test_other_versions_and_runts_are_not_answered(self):
        for datagram in (b"", b"\x40", b"\x40\x01\x00", b"\x00\x01\x00\x01", b"\x80\x00\x00\x01", b"\xc0\x01\x00\x01"):
            self.peer.send(datagram)
        self.assertIsNone(self.peer.receive(wait_s=0.5))
        self.answers_still()

    def test_a_ping_is_reset(self):
        self.assertEqual(self.peer.ask(b"\x40\x00\x12\x34", wait_s=5), b"\x70\x00\x12\x34")

    def test_a_duplicate_is_published_once_and_answered_alike(self):
        post = message(CON, POST, 77, [*path("live/bytes/once"), (12, b"")], b"tok", b"21.5")
        first = self.peer.ask(post, wait_s=5)
        self.assertEqual(server.code(first), "2.04")
        self.assertEqual([self.peer.ask(post, wait_s=5) for _ in range(3)], [first] * 3)
        self.assertEqual(len(self.gateway.history("bytes/once")), 1)

    def test_unknown_critical_options_and_proxying(self):
        bad = message(CON, GET, 1, [*path("test"), (9, b"x")])
        self.assertEqual(server.code(self.peer.ask(bad, wait_s=5)), "4.02")
        self.assertIsNone(self.peer.ask(message(NON, GET, 2, [*path("test"), (9, b"x")]), wait_s=0.5))
        proxied = message(CON, GET, 3, [(35, b"coap://elsewhere/")])
        self.assertEqual(server.code(self.peer.ask(proxied, wait_s=5)), "5.05")
        unknown = message(CON, 30, 4, path("test"))
        self.assertEqual(server.code(self.peer.ask(unknown, wait_s=5)), "4.05")

    def test_what_no_service_takes(self):
        for mid, format, code in ((100, b"\x27\x10", "4.15"), (101, b"\x32", "4.00")):
            pairs = [*path("live/bytes/x"), (12, format)]
            answer = self.peer.ask(message(CON, POST, mid, pairs, payload=b"{no"), wait_s=5)
            self.assertEqual(server.code(answer), code)
        answer = self.peer.ask(message(CON, GET, 900, [*path("live/bytes/x"), (17, b"\x27\x10")]), wait_s=5)
        self.assertEqual(server.code(answer), "4.06")

    # [RFC7959-2.5-4]
    def test_blocks_in_the_wrong_order(self):
        def block(number, more, payload, mid):
            value = bytes([number << 4 | more << 3])
            return message(CON, PUT, mid, [*path("large-update"), (27, value)], payload=payload)

        def code(*arguments):
            return server.code(self.peer.ask(block(*arguments), wait_s=5))

        self.assertEqual(code(1, 1, b"b" * 16, 1), "4.08")
        self.assertEqual(code(0, 1, b"a" * 16, 2), "2.31")
        self.assertEqual(code(2, 0, b"c" * 16, 3), "4.08")
        self.assertEqual(code(0, 1, b"a" * 15, 4), "4.00")
        self.assertEqual(code(0, 1, b"a" * 16, 5), "2.31")
        self.assertEqual(code(1, 0, b"b" * 5, 6), "2.04")
        got = self.peer.ask(message(CON, GET, 7, path("large-update")), wait_s=5)
        self.assertEqual(server.payload(got), b"a" * 16 + b"b" * 5)

    def test_a_body_announced_too_large_is_refused_at_once(self):
        pairs = [*path("live/bytes/big"), (27, b"\x0e"), (60, b"\x7f\xff\xff\xff")]
        answer = self.peer.ask(message(CON, POST, 9, pairs, payload=b"x" * 1024), wait_s=5)
        self.assertEqual(server.code(answer), "4.13")

    def test_who_rejects_or_ends_an_observation_is_told_no_more(self):
        self.gateway.publish_value("bytes/seen", 1)
        observe = [(6, b""), *path("live/bytes/seen")]
        self.peer.ask(message(CON, GET, 20, observe, b"ob"), wait_s=5)
        self.gateway.publish_value("bytes/seen", 2)
        told = self.peer.receive(wait_s=5)
        self.assertEqual((server.kind(told), told[4:6]), (CON, b"ob"))
        self.peer.send(bytes([0x70, 0]) + told[2:4])
        self.gateway.publish_value("bytes/seen", 3)
        self.assertIsNone(self.peer.receive(wait_s=1))
        self.peer.ask(message(CON, GET, 21, observe, b"ob"), wait_s=5)
        bye = self.peer.ask(message(CON, GET, 22, [(6, b"\x01"), *path("live/bytes/seen")], b"ob"), wait_s=5)
        self.assertEqual(server.code(bye), "2.05")
        self.gateway.publish_value("bytes/seen", 4)
        self.assertIsNone(self.peer.receive(wait_s=1))

    def test_one_that_never_acknowledges_disturbs_nobody(self):
        self.gateway.publish_value("bytes/silent", 0)
        self.peer.ask(message(CON, GET, 30, [(6, b""), *path("live/bytes/silent"), (17, b"")], b"ob"), wait_s=5)
        for value in range(1, 50):
            self.gateway.publish_value("bytes/silent", value)
        # The first, sent again as the newest: more than once where the publications took longer than a second.
        told = (server.payload(self.peer.receive(wait_s=20)).strip() for _ in range(4))
        self.assertIn(b"49", told)
        self.answers_still()

    # [RFC7252-4.2-16] [RFC7641-7-1]
    def test_a_flood_of_registrations_leaves_the_gateway_small(self):
        self.gateway.publish_value("bytes/flood", 1)
        before = self.memory_kb()
        for number in range(200):
            peer = Peer(self.gateway)
            for token in range(50):
                pairs = [(6, b""), *path("live/bytes/flood")]
                peer.send(message(NON, GET, token, pairs, bytes([token, number])))
                peer.send(os.urandom(64))
            peer.close()
        time.sleep(1)
        self.gateway.publish_value("bytes/flood", 2)
        self.answers_still()
        self.assertLess(self.memory_kb() - before, 64 << 10)

    def memory_kb(self):
        with open(f"/proc/{self.gateway.process.pid}/status", encoding="ascii") as status:
            lines = [line for line in status if line.startswith("VmRSS")]
        return int(lines[0].split()[1])

    def test_a_hop_limit_of_zero_and_no_response(self):
        zero = message(CON, GET, 40, [*path("test"), (16, b"\x00")])
        self.assertEqual(server.code(self.peer.ask(zero, wait_s=5)), "4.00")
        quiet = message(NON, GET, 41, [*path("test"), (258, b"\x02")])
        self.assertIsNone(self.peer.ask(quiet, wait_s=0.5))
        wanted = message(NON, GET, 42, [*path("nothing"), (258, b"\x02")])
        self.assertEqual(server.code(self.peer.ask(wanted, wait_s=5)), "4.04")

    def test_options_are_checked_before_anything_is_done(self):
        pairs = options([*path("live/bytes/twice"), (12, b""), (17, b"")]) + b"\x00"
        datagram = message(CON, POST, 50) + pairs + b"\xff1"
        self.assertEqual(server.code(self.peer.ask(datagram, wait_s=5)), "4.02")
        status = self.gateway.request("GET", "/live/bytes/twice")[0]
        self.assertEqual(status, 404)

    def client(self):
        client = Client(self.gateway)
        self.addCleanup(client.close)
        return client

    # [RFC7252-5.1-1] [RFC7252-5.5-1]
    def test_a_get_with_a_payload_publishes_nothing(self):
        client = self.client()
        self.assertEqual(client.exchange(GET, "live/bytes/read", payload=b"7").code, "4.04")
        self.gateway.publish_value("bytes/read", 1)
        for _ in range(2):
            got = client.exchange(GET, "live/bytes/read", [(17, b"")], payload=b"7")
            self.assertEqual((got.code, got.payload.strip()), ("2.05", b"1"))
        self.assertEqual(len(self.gateway.history("bytes/read")), 1)

    def test_what_was_published_since_is_read(self):
        client = self.client()
        for value in (1, 2, 3):
            self.gateway.publish_value("bytes/since", value)
            for _ in range(3):
                got = client.exchange(GET, "live/bytes/since", [(17, b"")])
                self.assertEqual(got.payload.strip(), str(value).encode())

    # [RFC7252-5.1-2] [RFC7252-5.8.4-1]
    def test_what_is_put_or_deleted_twice_is_as_once(self):
        client = self.client()
        for _ in range(2):
            self.assertEqual(client.exchange(PUT, "test", [(12, b"")], payload=b"x").code, "2.04")
            self.assertEqual(client.exchange(GET, "test").payload, b"x")
        self.assertEqual(client.exchange(PUT, "create7", [(12, b"")], payload=b"x").code, "2.01")
        for _ in range(2):
            self.assertEqual(client.exchange(DELETE, "create7").code, "2.02")

    # [RFC7252-5.10.8-1]
    def test_conditions_of_what_is_published(self):
        client, place = self.client(), "live/bytes/condition"

        def put(pairs, payload):
            return client.exchange(PUT, place, [*pairs, (12, b"")], payload=payload).code

        def read():
            return client.exchange(GET, place, [(17, b"")])

        self.assertEqual(put([(1, b"")], b"0"), "4.12")
        self.assertEqual(put([(5, b"")], b"1"), "2.04")
        self.assertEqual(put([(5, b"")], b"2"), "4.12")
        (tag,) = server.values(read(), 4)
        self.assertEqual(put([(1, tag)], b"3"), "2.04")
        self.assertEqual(put([(1, tag)], b"4"), "4.12")
        self.assertEqual(put([(1, b"")], b"5"), "2.04")
        self.assertEqual(read().payload.strip(), b"5")
