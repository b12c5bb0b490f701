"""MQTT sessions of three gateways and one log: where clients go, what a kill, a pause and a start leave of them."""

import collections
import http.client
import json
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from cluster.servers import Servers
from cluster.wanderer import Paho, Wanderer, Writer
from gateway import BINARY, Gateway
from mqtt import resent
from mqtt.raw import (
    CONNACK, PUBCOMP, PUBREC, PUBREL, SESSION_EXPIRY, WILL_DELAY, Client, ack, connect, publish, until,
)

TAKEN_OVER = 0x8E
GONE_S = 3
# How long a record waits for a server to say that it is kept.
PLACE_WAIT_S = 30
# What is not counted of what wanders.
FIRST, LAST = "first 0", "last 0"


class Shared(unittest.TestCase):
    servers = 1

    def setUp(self):
        self.nats = self.enterContext(Servers(self, self.servers))
        self.settings = {"bus.url": self.nats.url, "bus.replicas": str(self.servers), "mqtt.sys_seconds": "0"}
        self.gateways = [self.enterContext(self.gateway()) for _ in range(3)]

    def gateway(self, **settings):
        of = {**self.settings, "mqtt.listen": "127.0.0.1:0", "mqtt.gone_seconds": str(GONE_S), **settings}
        return Gateway(settings=of)

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
    def test_a_gateway_that_starts_leaves_others_clients_alone(self):
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

    def test_a_client_finds_its_session_on_another_gateway(self):
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

    def test_what_was_not_acknowledged_comes_again_elsewhere(self):
        one, two, three = self.gateways
        gateways = iter((one, two))
        resent.check(self, "again", self.client(three), lambda: self.kept(next(gateways), "again"))

    def test_a_pubrel_was_noted_before_it_came_in_any_case(self):
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

    def test_a_will_waits_for_servers_that_are_away(self):
        one, two, _ = self.gateways
        plain = self.client(one, "plain", will=("wills/plain", "gone", 1, 0, []))
        kept = self.kept(one, "kept", will=("wills/kept", "gone", 1, 0, []))
        self.nats.kill_all()
        plain.drop()
        kept.drop()
        # Who publishes behind them is refused once records have waited long enough: they may be stored or not.
        patient = http.client.HTTPConnection(one.host, one.port, timeout=3 * PLACE_WAIT_S)
        fields = {"Content-Type": "application/json"}
        for _ in range(2):
            self.assertEqual(one.request("POST", "/live/other", '{"value":1}', fields, patient)[0], 503)
        self.nats.start_all()

        def told(gateway):
            answers = [gateway.request("GET", f"/history/wills/{name}") for name in ("plain", "kept")]
            read = [json.loads(body)["observations"] if status == 200 else [] for status, _, body in answers]
            return [[row["value"] for row in rows] for rows in read]

        for gateway in (one, two):
            until(lambda gateway=gateway: told(gateway) == [["gone"], ["gone"]], 60)
        self.long_gone(two)
        self.mark(one, "wills/mark")
        for gateway in (one, two):
            self.assertEqual(told(gateway), [["gone"], ["gone"]])

    def test_a_gateway_gone_for_good_leaves_a_will_once(self):
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
        # Its acknowledgment was read: one of QoS 1 that was not comes again elsewhere.
        client.ping()
        for _ in range(3):
            self.gateways = self.gateways[1:] + self.gateways[:1]
            client = self.kept(self.gateways[0], "back")
            self.assertEqual(client.connack.session_present, 1)
            self.client(three).publish("back", "2")
            self.assertEqual(client.message().payload, b"2")
            client.ping()


def split(payload):
    return payload.decode().split()


class Wandering(Shared):
    servers = 3
    faults = 6

    def test_qos_2_is_exactly_once_though_gateways_are_killed(self):
        got = {"bytes": [], "paho": []}
        readers = [
            kind(self.gateways, f"reader-{name}", ["numbers/#"], lambda payload, of=got[name]: of.append(payload))
            for name, kind in (("bytes", Wanderer), ("paho", Paho))
        ]
        writer = Writer(self.gateways[1:] + self.gateways[:1], "writer")
        for each in readers:
            each.start()
            self.addCleanup(each.stop)
        self.wait_for_subscriptions(got)
        writer.start()
        self.addCleanup(writer.stop)
        for turn in range(self.faults):
            self.fault(turn, lambda: min(map(len, got.values())))
        count = writer.end()
        self.wait_for_all(got)
        for reader, came in got.items():
            self.check(reader, [int(number) for of, number in map(split, came) if of == writer.name], count)
        for each in (*readers, writer):
            # Its session was there whenever it came back.
            self.assertEqual(set(each.sessions[1:]), {1})

    def check(self, what, numbers, count):
        missing = sorted(set(range(count)) - set(numbers))
        twice = sorted(number for number, times in collections.Counter(numbers).items() if times > 1)
        print(f"{what}: {len(numbers)} numbers, {len(missing)} missing, {len(twice)} twice", flush=True)
        self.assertEqual((missing, twice), ([], []), what)
        self.assertEqual(numbers, sorted(numbers), what)

    def wait_for_all(self, got):
        """Until what was published last has come, by the gateway that was stopped last."""
        self.client(self.gateways[(self.faults - 1) % 3]).publish("numbers/last", LAST, qos=2)
        until(lambda: all(LAST.encode() in of for of in got.values()), seconds=60)

    def wait_for_subscriptions(self, got):
        """Until something has come to all that is not counted."""
        end = time.monotonic() + 60
        while not all(got.values()):
            assert time.monotonic() < end, "a reader does not subscribe"
            self.client(self.gateways[0]).publish("numbers/first", FIRST, qos=2)
            time.sleep(0.5)

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
