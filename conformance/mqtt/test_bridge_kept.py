"""A bridge loses nothing that it acknowledged, and nothing stands behind one message that the other side does not take."""

import pathlib
import socket
import threading
import unittest

from mqtt.raw import (
    CONNACK, CONNECT, PINGREQ, PINGRESP, PUBACK, PUBLISH, SUBACK, SUBSCRIBE, USER, Client, ack, packet, props, until,
)
from mqtt.test_bridge import Mosquitto, bridged, client, gateway, kept, lines, metric
from mqtt.test_kept import DEEP, ODD

ASIDE = "$SYS/broker/connection/site/aside"
REFUSED, RECEIVED = "weir_bridge_refused_messages_total", "weir_bridge_received_messages_total"


def set_aside(test, made, count):
    """Name, way, reason and body of what is retained of what was set aside."""
    reader = client(test, made.ready["mqtt"], (f"{ASIDE}/+", 1))
    came = [reader.message() for _ in range(count)]
    test.assertTrue(reader.nothing())
    said = [dict(value for name, value in message.properties if name == USER) for message in came]
    return [(of["weir-name"], of["weir-way"], of["weir-reason"], message.payload) for of, message in zip(said, came)]


class In(unittest.TestCase):
    def setUp(self):
        self.broker = Mosquitto(self)
        down = {"filter": "down/#", "qos": "2", "local": "site/"}
        self.gateway = gateway(self, lines("in", down), url=f"mqtt://{self.broker.address}")
        bridged(self, self.gateway)
        self.there = client(self, self.broker.address)

    def test_what_can_be_no_observation_here_is_kept_as_bytes(self):
        reader = kept(self, self.gateway.ready["mqtt"], "here", ("site/down/#", 1))
        for qos in (1, 2):
            for payload in ODD:
                self.there.publish("down/t", payload, qos=qos)
                message = reader.message()
                self.assertEqual((message.topic, message.payload), ("site/down/t", payload))
        self.assertEqual(metric(self.gateway, RECEIVED), 2 * len(ODD))
        self.assertEqual(metric(self.gateway, REFUSED), 0)

    def test_what_has_no_place_here_is_set_aside(self):
        reader = kept(self, self.gateway.ready["mqtt"], "here", ("site/down/t", 1))
        sent = []
        for qos in (1, 2):
            for topic in (f"down/{DEEP}", "down/" + "n" * 1500):
                self.there.publish(topic, f"{topic[:9]} {qos}", qos=qos)
                sent.append((topic, "in", f"{topic[:9]} {qos}".encode()))
            self.there.publish("down/t", str(qos))
            self.assertEqual(reader.message().payload, str(qos).encode())
        self.assertEqual(metric(self.gateway, REFUSED), len(sent))
        self.gateway.restart()
        found = set_aside(self, self.gateway, len(sent))
        self.assertEqual([(name, way, body) for name, way, _, body in found], [(n[:1024], w, b) for n, w, b in sent])
        self.assertIn("goes no further", pathlib.Path(self.gateway.log.name).read_text())


class Out(unittest.TestCase):
    """To a Mosquitto that takes packets of 2,000 bytes."""

    version = "5"

    def setUp(self):
        self.broker = Mosquitto(self, "allow_anonymous true", "max_packet_size 2000")
        self.there = kept(self, self.broker.address, "there", ("up/#", 2))
        up = {"filter": "up/#", "qos": "2"}
        version = {"mqtt.bridge.site.version": self.version}
        self.gateway = gateway(self, lines("out", up), version, url=f"mqtt://{self.broker.address}")
        bridged(self, self.gateway)

    def flows_on(self, qos, *large, retain=False):
        here = client(self, self.gateway.ready["mqtt"])
        wanted = []
        for at in range(30):
            body = str(at).rjust(5000, "x") if at in large else str(at)
            here.publish(f"up/{at if retain else 'n'}", body, qos=qos, retain=retain)
            wanted += [] if at in large else [str(at).encode()]
        got = []
        while not got or got[-1] != wanted[-1]:
            got.append(self.there.message().payload)
        self.assertEqual(list(dict.fromkeys(got)), wanted)
        until(lambda: metric(self.gateway, REFUSED) == len(large))
        # After a crash some go twice.
        self.gateway.terminate()
        self.gateway.start()
        found = set_aside(self, self.gateway, len(large))
        self.assertEqual([(way, body.lstrip(b"x")) for _, way, _, body in found], [("out", str(at).encode()) for at in large])
        bridged(self, self.gateway)
        here = client(self, self.gateway.ready["mqtt"])
        here.publish("up/n", "last")
        while self.there.message().payload != b"last":
            pass
        self.assertEqual(metric(self.gateway, REFUSED), 0)

    def test_a_message_over_the_other_sides_limit_is_set_aside(self):
        self.flows_on(1, 7)

    def test_so_with_qos_2_and_several(self):
        self.flows_on(2, 3, 4, 20)

    def test_so_when_it_is_the_first_and_when_it_is_the_last_but_one(self):
        self.flows_on(1, 0, 28)

    def test_so_of_what_was_retained_before_the_bridge_was_there(self):
        self.gateway.settings.pop("mqtt.bridge.site.url")
        settings = {key: value for key, value in self.gateway.settings.items() if not key.startswith("mqtt.bridge.")}
        before, self.gateway.settings = self.gateway.settings, settings
        self.gateway.restart()
        here = client(self, self.gateway.ready["mqtt"])
        for qos in (0, 1):
            here.publish(f"up/large/{qos}", "x" * 5000, qos=qos, retain=True)
            here.publish(f"up/small/{qos}", str(qos), qos=qos, retain=True)
        before["mqtt.bridge.other.url"] = f"mqtt://{self.broker.address}"
        renamed = {key.replace(".site.", ".other."): value for key, value in before.items()}
        self.gateway.settings = renamed
        self.gateway.restart()
        got = set()
        while got < {b"0", b"1"}:
            got.add(self.there.message().payload)
        here = client(self, self.gateway.ready["mqtt"])
        here.publish("up/n", "last")
        while self.there.message().payload != b"last":
            pass


class OutByOlder(Out):
    """3.1.1, in which nobody says how much he takes: the connection ends, and that is all."""

    version = "3.1.1"


class Picky(threading.Thread):
    """A broker that ends the connection over some payloads, or answers them with a code, and keeps the others."""

    def __init__(self, test, level, poison, code=None):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        test.addCleanup(self.listener.close)
        self.level, self.poison, self.code, self.got, self.ends = level, poison, code, [], 0
        self.start()

    @property
    def address(self):
        return "{}:{}".format(*self.listener.getsockname())

    def run(self):
        try:
            while True:
                link, _ = self.listener.accept()
                peer = Client.__new__(Client)
                peer.socket, peer.held, peer.version = link, b"", self.level
                self.serve(peer)
                link.close()
        except OSError:
            pass

    def serve(self, peer):
        while (came := peer.receive(timeout=600)) is not None:
            if came.kind == CONNECT:
                peer.send(packet(CONNACK, 0, b"\0\0" + (props() if self.level == 5 else b"")))
            elif came.kind == SUBSCRIBE:
                peer.send(packet(SUBACK, 0, came.body[:2] + (props() if self.level == 5 else b"") + b"\1"))
            elif came.kind == PINGREQ:
                peer.send(packet(PINGRESP, 0, b""))
            elif came.kind == PUBLISH and came.payload in self.poison and self.code is None:
                self.ends += 1
                return
            elif came.kind == PUBLISH:
                bad = came.payload in self.poison
                self.got += [] if bad else [came.payload]
                if came.qos:
                    peer.send(ack(PUBACK, came.packet_id, self.code if bad else None))


class ByPicky(unittest.TestCase):
    def goes(self, level, poison, code=None, qos=1):
        broker = Picky(self, level, poison, code)
        version = {"mqtt.bridge.site.version": {4: "3.1.1", 5: "5"}[level]}
        made = gateway(self, lines("out", "up/#"), version, url=f"mqtt://{broker.address}")
        bridged(self, made)
        here = client(self, made.ready["mqtt"])
        for at in range(12):
            here.publish("up/n", str(at), qos=qos)
        wanted = [str(at).encode() for at in range(12) if str(at).encode() not in poison]
        until(lambda: broker.got and broker.got[-1] == wanted[-1], 60)
        self.assertEqual(list(dict.fromkeys(broker.got)), wanted)
        until(lambda: metric(made, REFUSED) == len(poison))
        found = set_aside(self, made, len(poison))
        self.assertEqual([(name, body) for name, _, _, body in found], [("up/n", body) for body in poison])
        return found

    def test_a_broker_that_hangs_up_over_a_message(self):
        for level in (4, 5):
            with self.subTest(level=level):
                self.assertIn("lost", self.goes(level, [b"5"])[0][2])

    def test_a_broker_that_hangs_up_over_several(self):
        self.goes(4, [b"0", b"1", b"9"])

    def test_a_broker_that_answers_with_a_reason(self):
        for code in (0x83, 0x87, 0x97, 0x99):
            with self.subTest(code=code):
                self.assertIn(f"{code:#x}"[2:], self.goes(5, [b"3", b"4"], code)[0][2].lower())

    def test_a_broker_that_was_lost_once_or_twice_gets_all_again(self):
        broker = Picky(self, 4, [b"5"])
        made = gateway(self, lines("out", "up/#"), {"mqtt.bridge.site.version": "3.1.1"}, url=f"mqtt://{broker.address}")
        bridged(self, made)
        here = client(self, made.ready["mqtt"])
        for at in range(12):
            here.publish("up/n", str(at))
        until(lambda: broker.ends == 1)
        broker.poison = []
        until(lambda: broker.got and broker.got[-1] == b"11", 60)
        self.assertEqual(list(dict.fromkeys(broker.got)), [str(at).encode() for at in range(12)])
        self.assertEqual(metric(made, REFUSED), 0)
