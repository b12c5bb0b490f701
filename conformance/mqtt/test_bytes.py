"""Bytes that no client should send: the reason code, the close, and nobody else disturbed."""

import base64
import os
import socket
import struct
import time
import unittest

from gateway import Gateway
from mqtt.raw import (
    CONNACK, EXPIRY, NEVER_READ_BYTES, PUBACK, PUBCOMP, PUBLISH, PUBREC, PUBREL, RECEIVE_MAX, SESSION_EXPIRY,
    SUBACK, Client, ack, connect, packet, prop, props, publish, subscribe, text, until,
)


class Bytes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        settings = {"mqtt.listen": "127.0.0.1:0", "mqtt.sys_seconds": "0", "mqtt.max_subscriptions": "1000"}
        cls.gateway = Gateway(settings=settings)
        cls.addClassCleanup(cls.gateway.close)
        cls.address = cls.gateway.ready["mqtt"]
        cls.witness = Client.connected(cls.address, "witness")
        cls.witness.subscribe(("witness", 1))

    def tearDown(self):
        """Whatever happened, another client was not disturbed."""
        Client.connected(self.address).publish("witness", "1")
        self.assertEqual(self.witness.message().payload, b"1")

    def client(self, client_id="", version=5, **options):
        client = Client.connected(self.address, client_id, version, **options)
        self.addCleanup(client.socket.close)
        return client

    def refused(self, data, code, version=5):
        """After these bytes on a good connection: this code, or in 3.1.1 none, and the end."""
        client = self.client(version=version)
        client.send(data)
        self.assertEqual(client.closed(), code if version == 5 else None, data[:40])

    def test_malformed_packets_of_every_type(self):
        good = struct.pack(">H", 1)
        malformed = [
            b"\x00\x00", b"\x32\x03\x00\x01a", b"\x36\x06\x00\x01a\x00\x01\x00", b"\x38\x04\x00\x01a\x00",
            b"\x41\x02" + good, b"\x40\x01\x00", b"\x51\x02" + good, b"\x60\x02" + good, b"\x72\x02" + good,
            packet(8, 0, good + b"\x00" + text("a") + b"\x00"), packet(8, 2, good + b"\x00" + text("a")),
            packet(8, 2, good + b"\x00" + text("a") + b"\xc0"), packet(8, 2, good + b"\x00" + text(b"\xff") + b"\x00"),
            packet(10, 0, good + b"\x00" + text("a")), packet(10, 2, good + b"\x00" + b"\x00\x05a"),
            b"\xc1\x00", b"\xc0\x01\x00", b"\xe1\x00", b"\xe0\x03\x00\x01\xff", b"\xf1\x00",
            b"\x30\x80\x00", b"\x30\xff\xff\xff\xff\x01", publish(b"\xed\xa0\x80"), publish(b"a\x00b"),
            packet(3, 0, text("a") + b"\x02\x7f\x00"), packet(3, 0, text("a") + b"\x05\x11\x00\x00\x00\x01"),
        ]
        for data in malformed:
            self.refused(data, 0x81)
            if not data.startswith((b"\x82", b"\xa2")):
                self.refused(data, 0x81, version=4) if data[0] >> 4 not in (3, 14, 5, 4) else None

    def test_what_may_not_be_sent_is_a_protocol_error(self):
        good = struct.pack(">H", 1)
        for data in (
            connect("x"), packet(2, 0, b"\x00\x00\x00"), packet(9, 0, good + b"\x00\x00"), b"\xd0\x00", b"\xf0\x00",
            packet(8, 2, good + b"\x00"), packet(10, 2, good + b"\x00"), publish("a", "1", 1, 0), publish("", "1"),
            packet(8, 2, good + b"\x00" + text("a") + b"\x03"), packet(8, 2, good + b"\x00" + text("a") + b"\x30"),
            subscribe(1, ("$share/g/a", 4)), publish("a", "1", properties=[(0x0B, 1)]),
            publish("a", "1", properties=[(EXPIRY, 1), (EXPIRY, 1)]), publish("a", "1", properties=[(0x08, "a/#")]),
            packet(14, 0, b"\x00" + props((SESSION_EXPIRY, 5))), packet(4, 0, good + b"\x7f"),
        ):
            self.refused(data, 0x82)

    # [MQTT-4.7.3-1]
    def test_a_filter_without_a_character_ends_the_connection(self):
        self.refused(subscribe(1, ("", 0)), 0x8F)
        self.refused(subscribe(1, ("a", 0), ("", 0)), 0x8F)
        self.refused(subscribe(1, ("", 0), version=4), None, version=4)

    def test_names_aliases_and_sizes_have_codes_of_their_own(self):
        self.refused(publish("a/#", "1"), 0x90)
        self.refused(publish("x" * 2000, "1"), 0x90)
        self.refused(publish("", "1", properties=[(0x23, 1)]), 0x94)
        self.refused(publish("a", "1", properties=[(0x23, 0)]), 0x94)
        self.refused(publish("a", "1", properties=[(0x23, 65)]), 0x94)
        self.refused(b"\x30\xff\xff\xff\x7f", 0x95)
        client = self.client()
        self.assertEqual(client.publish("x" * 2000, "1"), 0x90)
        self.assertEqual(client.publish("/".join("x" * 500), "1"), 0x90)

    def test_a_connect_that_does_not_conform(self):
        for data, code in (
            (b"\x10\x0d\x00\x04MQTT\x05\x03\x00\x00\x00\x00\x00", 0x81),
            (b"\x10\x0d\x00\x04MQTT\x05\x1a\x00\x00\x00\x00\x00", 0x81),
            (connect("x" * 600), 0x85), (connect("x", properties=[(0x15, "SCRAM")]), 0x8C),
            (connect("x", properties=[(RECEIVE_MAX, 0)]), 0x82), (connect("x", will=("a/+", "", 0, 0, [])), 0x90),
        ):
            client = Client(self.address)
            client.send(data)
            self.assertEqual(client.closed(), code)
        for data, code in ((b"\x10\x0c\x00\x04MQTT\x04\x03\x00\x00\x00\x00", None), (connect("", False, version=4), 2),
                           (b"\x10\x0e\x00\x06MQIsdp\x03\x02\x00\x00\x00\x00", 2),
                           (b"\x10\x0e\x00\x06MQIsdp\x04\x02\x00\x00\x00\x00", 1),
                           (b"\x10\x0d\x00\x04MQTT\x09\x02\x00\x00\x00\x00\x00", 1)):
            client = Client(self.address, 4)
            client.send(data)
            self.assertEqual(client.closed(), code)
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"\xc0\x00", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\x00" * 100):
            client = Client(self.address)
            client.send(data)
            self.assertIsNone(client.closed())

    def test_packets_cut_at_every_byte_and_sent_one_by_one(self):
        whole = connect("cut", will=("w", "x", 1, 0, [])) + subscribe(1, ("cut/#", 1)) + publish("cut/a", "7", 1, 2)
        for size in (1, 2, 3, 7):
            client = Client(self.address)
            for at in range(0, len(whole), size):
                client.send(whole[at : at + size])
            kinds = sorted(client.receive().kind for _ in range(4))
            self.assertEqual(kinds, [CONNACK, PUBLISH, PUBACK, SUBACK])
            client.leave()

    def test_qos_2_replays(self):
        reader = self.client()
        reader.subscribe(("replay", 1))
        client = self.client()
        for _ in range(50):
            client.send(publish("replay", "1", 2, 9, dup=True))
        client.send(ack(PUBREL, 9), ack(PUBREL, 9), publish("replay", "2", 2, 9), ack(PUBREL, 10))
        codes = {}
        while len(codes.get(PUBCOMP, [])) < 3 or len(codes.get(PUBREC, [])) < 2:
            came = client.receive()
            codes.setdefault(came.kind, []).append(came.code)
        self.assertEqual(sorted(codes[PUBCOMP]), [0, 0x92, 0x92])
        self.assertEqual([reader.message().payload, reader.message().payload], [b"1", b"2"])
        self.assertTrue(reader.nothing())

    def test_more_under_way_than_the_receive_maximum(self):
        client = self.client()
        client.send(*(publish("rm", "1", 2, i) for i in range(1, 1026)))
        self.assertEqual(client.closed(), 0x93)

    def test_a_bomb_of_subscriptions(self):
        client = self.client()
        codes = []
        for start in range(0, 2000, 100):
            codes += client.subscribe(*((f"bomb/{i}/#", 0) for i in range(start, start + 100)))
        self.assertEqual((codes.count(0), codes.count(0x97)), (1000, 1000))
        self.assertEqual(client.subscribe(("a/#/b", 0), ("a+", 0), ("/".join("x" * 500), 0)), [0x8F] * 3)
        client.drop()

    def test_a_client_that_never_reads(self):
        deaf = self.client(properties=[(RECEIVE_MAX, 10)])
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.subscribe(("flood/0", 0), ("flood/1", 1))
        publisher = self.client()
        payload = os.urandom(60_000)
        for index in range(NEVER_READ_BYTES // len(payload)):
            publisher.send(publish(f"flood/{index % 2}", payload, index % 2, index % 2 and index % 60000 + 1))
            if index % 2:
                self.assertEqual(publisher.receive().code, 0)
        deaf.drop()

    def test_a_client_that_pings_and_never_reads_is_not_read_either(self):
        deaf = self.client()
        deaf.socket.setblocking(False)
        sent = 0
        with self.assertRaises(BlockingIOError):
            while sent < 200 << 20:
                sent += deaf.socket.send(b"\xc0\x00" * 32768)
        deaf.drop()

    def test_a_silent_connection_is_closed(self):
        silent = Client(self.address)
        started = time.monotonic()
        self.assertIsNone(silent.closed())
        self.assertGreater(time.monotonic() - started, 5)
        client = self.client(keep_alive=1)
        self.assertEqual(client.closed(), 0x8D)

    # [MQTT311-3.3.5-2]
    def test_a_message_that_may_not_be_published_costs_nothing_else(self):
        for version, code in ((5, 0x87), (4, 0)):
            client = self.client(version=version)
            self.assertEqual(client.publish("$mine/a", "1"), code)
            client.ping()

    # [MQTT-4.7.3-4]
    def test_names_that_look_alike_are_different(self):
        client = self.client()
        client.subscribe(("caf\u00e9", 1))
        publisher = self.client()
        for name in ("cafe\u0301", "Caf\u00e9", "/caf\u00e9", "caf\u00e9/", "caf\u00e9"):
            publisher.publish(name, name)
        self.assertEqual(client.message().payload, "caf\u00e9".encode())
        self.assertTrue(client.nothing())

    # [MQTT-3.8.4-3] [MQTT-3.8.4-4]
    def test_a_subscription_replaced_while_messages_come_loses_none(self):
        client, publisher = self.client(), self.client()
        client.subscribe(("swap", 1))
        for start in range(0, 200, 20):
            publisher.send(*(publish("swap", str(i), 1, i + 1) for i in range(start, start + 20)))
            client.send(subscribe(2, ("swap", 1)))
            for _ in range(20):
                publisher.receive()
        came = []
        while len(came) < 200:
            message = client.receive()
            if message.kind == PUBLISH:
                came.append(int(message.payload))
                client.send(ack(PUBACK, message.packet_id))
        self.assertEqual(sorted(set(came)), list(range(200)))

    # [MQTT-3.10.4-3]
    def test_what_was_begun_is_completed_after_an_unsubscribe(self):
        client, publisher = self.client(), self.client()
        client.subscribe(("begun", 2))
        publisher.publish("begun", "1", qos=2)
        came = client.receive()
        client.send(packet(10, 2, struct.pack(">H", 3) + b"\x00" + text("begun")))
        client.receive()
        client.send(ack(PUBREC, came.packet_id))
        self.assertEqual(client.receive().kind, PUBREL)
        client.send(ack(PUBCOMP, came.packet_id))
        client.ping()

    # [MQTT-4.3.3-7] [MQTT-4.3.3-13]
    def test_what_was_sent_does_not_expire(self):
        client = self.client("expiring", clean=False, properties=[(SESSION_EXPIRY, 100)])
        client.subscribe(("expiring", 2))
        self.client().publish("expiring", "1", qos=2, properties=[(EXPIRY, 1)])
        first = client.receive()
        client.drop()
        time.sleep(1.1)
        client = self.client("expiring", clean=False, properties=[(SESSION_EXPIRY, 100)])
        again = client.message()
        self.assertEqual((again.packet_id, again.payload, again.dup), (first.packet_id, b"1", True))

    # [MQTT-4.8.2-5]
    def test_a_qos_2_message_of_a_share_goes_to_one_member_only(self):
        first = self.client()
        first.subscribe(("$share/two/once", 2))
        self.client().publish("once", "1", qos=2)
        first.receive()
        second = self.client()
        second.subscribe(("$share/two/once", 2))
        first.drop()
        self.assertTrue(second.nothing())


class OverWebSocket(unittest.TestCase):
    """The opening handshake and frames by hand."""

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(settings={"mqtt.listen": "127.0.0.1:0"})
        cls.addClassCleanup(cls.gateway.close)

    def open(self, protocols):
        link = socket.create_connection((self.gateway.host, self.gateway.port), timeout=20)
        self.addCleanup(link.close)
        key = base64.b64encode(os.urandom(16)).decode()
        link.sendall((f"GET /mqtt HTTP/1.1\r\nHost: {self.gateway.address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
                      f"Sec-WebSocket-Protocol: {protocols}\r\n\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += link.recv(4096)
        return link, head.decode().lower()

    @staticmethod
    def frame(opcode, data):
        assert len(data) < 126
        return bytes([0x80 | opcode, 0x80 | len(data)]) + b"\x00" * 4 + data

    @staticmethod
    def receive(link):
        head = link.recv(2)
        body = b""
        while len(body) < head[1]:
            body += link.recv(head[1] - len(body))
        return head[0] & 15, body

    # [MQTT-6.0.0-2] [MQTT-6.0.0-4]
    def test_packets_and_frames_begin_and_end_where_they_like(self):
        link, head = self.open("other, mqtt")
        self.assertIn("sec-websocket-protocol: mqtt\r\n", head)
        data = connect("ws") + packet(12, 0, b"")
        for at in range(0, len(data), 5):
            link.sendall(self.frame(2, data[at : at + 5]))
        came = b""
        while not came.endswith(b"\xd0\x00"):
            opcode, body = self.receive(link)
            self.assertEqual(opcode, 2)
            came += body
        self.assertEqual(came[0], 0x20)

    # [MQTT-6.0.0-1]
    def test_a_text_frame_ends_the_connection(self):
        link, _ = self.open("mqtt")
        link.sendall(self.frame(1, connect("ws")))
        opcode, body = self.receive(link)
        self.assertEqual((opcode, struct.unpack(">H", body[:2])[0]), (8, 1003))

    def test_another_subprotocol_is_refused(self):
        _, head = self.open("other")
        self.assertTrue(head.startswith("http/1.1 4"), head)
