"""MQTT sessions of three gateways and one log: where clients go, what a kill, a pause and a start leave of them."""

import itertools
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import paho.mqtt.client as paho

from cluster.servers import Servers
from gateway import BINARY, Gateway
from mqtt.raw import (
    CONNACK, PUBACK, PUBCOMP, PUBREC, PUBREL, SESSION_EXPIRY, WILL_DELAY, Client, ack, connect, publish,
)

TAKEN_OVER = 0x8E
GONE_S = 3


class Shared(unittest.TestCase):
    servers = 1

    def setUp(self):
        self.nats = self.enterContext(Servers(self, self.servers))
        self.settings = {"bus.url": self.nats.url, "bus.replicas": str(self.servers), "mqtt.sys_seconds": "0"}
        self.gateways = [self.enterContext(self.gateway()) for _ in range(3)]

    def gateway(self, **settings):
        of = {**self.settings, "mqtt.listen": "127.0.0.1:0", "mqtt.gone_seconds": str(GONE_S), **settings}
        made = Gateway(settings=of)
        # Started again, it listens where its clients look for it.
        made.settings["mqtt.listen"] = made.ready["mqtt"]
        return made

    def client(self, gateway, client_id="", **options):
        client = Client.connected(gateway.ready["mqtt"], client_id, **options)
        self.addCleanup(client.socket.close)
        return client

    def kept(self, gateway, client_id, clean=False, expiry=1000, **options):
        return self.client(gateway, client_id, clean=clean, properties=[(SESSION_EXPIRY, expiry)], **options)

    def mark(self, gateway, topic):
        """Whoever has this has what was published before."""
        self.client(gateway).publish(topic, "mark", qos=1)

    def payloads(self, watcher, mark=b"mark"):
        """What comes before the mark."""
        came = []
        while (message := watcher.message()).payload != mark:
            came.append(message.payload)
        return came

    def pause(self, gateway):
        gateway.process.send_signal(signal.SIGSTOP)
        self.addCleanup(gateway.process.send_signal, signal.SIGCONT)

    def resume(self, gateway):
        gateway.process.send_signal(signal.SIGCONT)

    def long_gone(self, gateway):
        """Waits until what is due after the time of a gateway that is gone has been done: a delayed will says so."""
        watcher = self.client(gateway)
        watcher.subscribe(("long/gone", 1))
        delay = 3 * GONE_S
        will = ("long/gone", "x", 1, 0, [(WILL_DELAY, delay)])
        self.kept(gateway, "long-gone", will=will).drop()
        self.assertEqual(watcher.message().payload, b"x")


class Sessions(Shared):
    def test_a_gateway_that_starts_leaves_the_clients_of_others_alone(self):
        one, two, three = self.gateways
        watcher = self.client(three)
        watcher.subscribe(("wills/#", 1))
        client = self.kept(one, "there", expiry=1, will=("wills/there", "gone", 1, 0, []))
        client.subscribe(("for/there", 1))
        two.restart()
        late = self.enterContext(self.gateway())
        # Longer than the session lives without its client, and than a silent gateway counts as there.
        self.long_gone(late)
        self.mark(late, "wills/mark")
        self.assertEqual(self.payloads(watcher), [])
        self.client(two).publish("for/there", "1")
        self.assertEqual(client.message().payload, b"1")
        # Its session is there, on a gateway that knew nothing of it when it started.
        moved = self.kept(late, "there", expiry=1)
        self.assertEqual(moved.connack.session_present, 1)

    def test_a_client_finds_its_session_on_another_gateway_and_the_one_before_lets_go(self):
        one, two, three = self.gateways
        client = self.kept(one, "moves")
        client.subscribe(("moves/#", 1))
        moved = self.kept(two, "moves")
        self.assertEqual(moved.connack.session_present, 1)
        self.assertEqual(client.closed(), TAKEN_OVER)
        self.client(three).publish("moves/a", "1")
        self.assertEqual(moved.message().payload, b"1")
        moved.leave()
        self.client(one).publish("moves/a", "2")
        self.client(three).publish("moves/a", "3")
        back = self.kept(three, "moves")
        self.assertEqual(back.connack.session_present, 1)
        self.assertEqual([back.message().payload for _ in range(2)], [b"2", b"3"])
        # Whoever begins anew ends what was, wherever that is.
        fresh = self.kept(one, "moves", clean=True)
        self.assertEqual(fresh.connack.session_present, 0)
        self.assertEqual(back.closed(), TAKEN_OVER)

    def test_a_session_is_its_users_on_every_gateway(self):
        made = subprocess.run([BINARY, "token", "bob", "--role", "all"], capture_output=True, text=True, check=True)
        word = made.stderr.split()[-1]
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        policy = folder / "policy.toml"
        policy.write_text(f'[role.all]\nread = ["#"]\npublish = ["#"]\n{made.stdout}')
        self.kept(self.gateways[0], "mine").subscribe(("mine", 1))
        with self.gateway(**{"access.policy": str(policy)}) as other:
            stranger = Client(other.ready["mqtt"])
            self.addCleanup(stranger.socket.close)
            login = {"user": "bob", "password": word, "properties": [(SESSION_EXPIRY, 9)]}
            stranger.send(connect("mine", clean=False, **login))
            answer = stranger.receive()
            self.assertEqual((answer.kind, answer.code), (CONNACK, 0x85), answer)

    def test_what_was_not_acknowledged_comes_again_under_its_identifier_on_another_gateway(self):
        one, two, three = self.gateways
        client = self.kept(one, "again")
        client.subscribe(("again", 2))
        publisher = self.client(three)
        for number, qos in enumerate((1, 2, 2)):
            publisher.publish("again", str(number), qos=qos)
        first, second, third = (client.receive() for _ in range(3))
        client.send(ack(PUBREC, third.packet_id))
        self.assertEqual(client.receive().kind, PUBREL)
        client.drop()
        client = self.kept(two, "again")
        released = client.receive()
        self.assertEqual((released.kind, released.packet_id), (PUBREL, third.packet_id))
        for before in (first, second):
            came = client.receive()
            self.assertEqual((came.packet_id, came.payload, came.dup), (before.packet_id, before.payload, True))
        client.send(ack(PUBCOMP, third.packet_id), ack(PUBACK, first.packet_id), ack(PUBREC, second.packet_id))
        self.assertEqual(client.receive().kind, PUBREL)
        client.send(ack(PUBCOMP, second.packet_id))
        self.assertTrue(client.nothing())

    def test_a_pubrel_was_noted_before_it_came_whatever_becomes_of_its_gateway(self):
        one, two, three = self.gateways
        client = self.kept(one, "noted")
        client.subscribe(("noted", 2))
        self.client(three).publish("noted", "1", qos=2)
        came = client.receive()
        client.send(ack(PUBREC, came.packet_id))
        self.assertEqual(client.receive().kind, PUBREL)
        one.kill()
        client = self.kept(two, "noted")
        self.assertEqual(client.connack.session_present, 1)
        released = client.receive()
        self.assertEqual((released.kind, released.packet_id), (PUBREL, came.packet_id))
        client.send(ack(PUBCOMP, came.packet_id))
        self.assertTrue(client.nothing())
        one.start()

    def test_qos_2_is_taken_once_whichever_gateways_it_comes_to(self):
        one, two, three = self.gateways
        reader = self.client(three)
        reader.subscribe(("once/#", 1))
        client = self.kept(one, "once")
        client.send(publish("once/a", "1", 2, 7))
        self.assertEqual(client.receive().kind, PUBREC)
        client.drop()
        client = self.kept(two, "once")
        client.send(publish("once/a", "1", 2, 7, dup=True))
        self.assertEqual(client.receive().kind, PUBREC)
        client.send(ack(PUBREL, 7))
        self.assertEqual(client.receive().kind, PUBCOMP)
        # One gateway is paused with the message before it, and goes on when another has taken that.
        client = self.kept(one, "once")
        self.pause(one)
        client.send(publish("once/a", "2", 2, 8))
        moved = self.kept(two, "once")
        moved.send(publish("once/a", "2", 2, 8, dup=True))
        self.assertEqual(moved.receive().kind, PUBREC)
        self.resume(one)
        self.assertEqual(client.closed(), TAKEN_OVER)
        moved.send(ack(PUBREL, 8))
        self.assertEqual(moved.receive().kind, PUBCOMP)
        self.mark(one, "once/mark")
        self.assertEqual(self.payloads(reader), [b"1", b"2"])

    def test_a_gateway_gone_for_good_leaves_a_will_once_and_sessions_that_end(self):
        one, two, three = self.gateways
        watcher = self.client(three)
        watcher.subscribe(("wills/#", 1))
        short = self.kept(one, "short", expiry=1, will=("wills/short", "short gone", 1, 0, [(WILL_DELAY, 1000)]))
        short.subscribe(("for/short", 1))
        long = self.kept(one, "long", will=("wills/long", "long gone", 1, 0, []))
        long.subscribe(("for/long", 1))
        one.kill()
        came = sorted(watcher.message().payload for _ in range(2))
        self.assertEqual(came, [b"long gone", b"short gone"])
        self.client(three).publish("for/long", "1")
        self.assertEqual(self.kept(two, "short").connack.session_present, 0)
        moved = self.kept(two, "long")
        self.assertEqual(moved.connack.session_present, 1)
        self.assertEqual(moved.message().payload, b"1")
        # It comes back after all: nothing of it is its own any more.
        one.start()
        self.long_gone(one)
        self.mark(one, "wills/mark")
        self.assertEqual(self.payloads(watcher), [])
        self.client(one).publish("for/long", "2")
        self.assertEqual(moved.message().payload, b"2")

    def test_a_gateway_paused_for_long_publishes_no_second_will(self):
        one, two, three = self.gateways
        watcher = self.client(three)
        watcher.subscribe(("wills/#", 1))
        client = self.kept(one, "paused", will=("wills/paused", "gone", 1, 0, []))
        client.subscribe(("for/paused", 1))
        self.pause(one)
        self.assertEqual(watcher.message().payload, b"gone")
        self.resume(one)
        self.assertEqual(client.closed(), TAKEN_OVER)
        self.mark(two, "wills/mark")
        self.assertEqual(self.payloads(watcher), [])

    def test_a_gateway_started_again_has_its_own_sessions_still(self):
        one, two, three = self.gateways
        client = self.kept(one, "back")
        client.subscribe(("back", 1))
        one.restart()
        self.client(two).publish("back", "1")
        client = self.kept(one, "back")
        self.assertEqual(client.connack.session_present, 1)
        self.assertEqual(client.message().payload, b"1")
        for _ in range(3):
            self.gateways = self.gateways[1:] + self.gateways[:1]
            client = self.kept(self.gateways[0], "back")
            self.assertEqual(client.connack.session_present, 1)
            self.client(three).publish("back", "2")
            self.assertEqual(client.message().payload, b"2")


class Wanderer:
    """A client of paho that goes to the next gateway when its connection breaks."""

    def __init__(self, gateways, name, on_message=None):
        self.turns = itertools.cycle(gateways)
        self.client = paho.Client(paho.CallbackAPIVersion.VERSION2, name, clean_session=False)
        self.client.on_connect = self.connected
        self.client.on_message = on_message
        self.client.max_inflight_messages_set(10)
        self.published = set()
        self.client.on_publish = lambda _client, _data, mid, _code, _properties: self.published.add(mid)
        self.filters, self.stopped = [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def connected(self, client, _data, flags, code, _properties):
        if not code.is_failure and not flags.session_present:
            for each in self.filters:
                client.subscribe(each, qos=2)

    def run(self):
        while not self.stopped.is_set():
            host, port = next(self.turns).ready["mqtt"].rsplit(":", 1)
            try:
                self.client.connect(host, int(port), keepalive=2)
                while not self.stopped.is_set() and self.client.loop(0.1) == paho.MQTT_ERR_SUCCESS:
                    pass
            except OSError:
                time.sleep(0.05)

    def stop(self):
        self.stopped.set()
        self.thread.join(timeout=30)


class Wandering(Shared):
    servers = 3
    faults = 6

    def test_no_message_of_qos_2_is_missing_though_gateways_are_killed_and_paused(self):
        got, first = [], threading.Event()

        def take(_client, _data, message):
            got.append(int(message.payload))
            first.set()

        reader = Wanderer(self.gateways, "reader", take)
        reader.filters = ["numbers/#"]
        writer = Wanderer(self.gateways[1:] + self.gateways[:1], "writer")
        for each in (reader, writer):
            each.thread.start()
            self.addCleanup(each.stop)
        # Its session has subscribed: a number below all others comes back.
        end = time.monotonic() + 60
        while not first.is_set():
            assert time.monotonic() < end, "the reader does not subscribe"
            self.client(self.gateways[0]).publish("numbers/first", "-1", qos=2)
            first.wait(0.5)
        infos, done = [], threading.Event()

        def write():
            while not done.is_set():
                infos.append(writer.client.publish("numbers/all", str(len(infos)), qos=2))
                done.wait(0.02)

        writing = threading.Thread(target=write, daemon=True)
        writing.start()
        try:
            for turn in range(self.faults):
                self.fault(turn, lambda: sum(number >= 0 for number in got))
        finally:
            done.set()
            writing.join()
        end = time.monotonic() + 60
        while not {info.mid for info in infos} <= writer.published:
            assert time.monotonic() < end, "not all was acknowledged"
            time.sleep(0.1)
        while set(got) < set(range(-1, len(infos))) and time.monotonic() < end:
            time.sleep(0.1)
        numbers = [number for number in got if number >= 0]
        missing = sorted(set(range(len(infos))) - set(numbers))
        twice = [number for at, number in enumerate(numbers) if number in numbers[:at]]
        print(f"{len(numbers)} numbers, {len(missing)} missing, {len(twice)} twice", flush=True)
        # How many come twice is told above and not held to be none: docs/decisions/0051.
        self.assertEqual(missing, [])

    def fault(self, turn, count):
        """Kills a gateway or pauses it until numbers have come without it."""
        gateway, before = self.gateways[turn % 3], count()
        end = time.monotonic() + 60
        if turn % 2:
            gateway.process.send_signal(signal.SIGSTOP)
        else:
            gateway.kill()
        while count() < before + 20:
            assert time.monotonic() < end, "the numbers stand still"
            time.sleep(0.05)
        if turn % 2:
            gateway.process.send_signal(signal.SIGCONT)
        else:
            gateway.start()
