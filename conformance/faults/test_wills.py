"""A will that is due while the log refuses comes when it takes again, once, and before what its client says later."""

import json
import pathlib
import time
import unittest

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from faults.kill import until
from faults.layer import FULL, NONE, Faulty, Layer

TOPIC = "pump/state"


def properties(of, **values):
    made = Properties(of)
    for name, value in values.items():
        setattr(made, name, value)
    return made


class Wills(unittest.TestCase):
    def setUp(self):
        self.layer = Layer(self)
        self.gateway = Faulty(self.layer)
        self.addCleanup(self.gateway.close)

    def client(self, version, expiry=None, will=True, delay=0, clean=True):
        """A client that is connected, whose will is `off`; with `expiry` its session is kept."""
        five = version == paho.MQTTv5
        client = paho.Client(
            paho.CallbackAPIVersion.VERSION2, "pump", protocol=version, **({} if five else {"clean_session": clean})
        )
        if will:
            of_will = properties(PacketTypes.WILLMESSAGE, WillDelayInterval=delay) if five else None
            client.will_set(TOPIC, "off", 1, retain=True, properties=of_will)
        came = []
        client.on_connect = lambda _client, _data, _flags, code, _properties: came.append(code.value)
        host, port = self.gateway.ready["mqtt"].rsplit(":", 1)
        if five:
            kept = properties(PacketTypes.CONNECT, SessionExpiryInterval=expiry) if expiry else None
            client.connect(host, int(port), clean_start=clean, properties=kept)
        else:
            client.connect(host, int(port))
        client.loop_start()
        self.addCleanup(client.loop_stop)
        self.assertIsNone(until(lambda: came, "CONNACK"))
        self.assertEqual(came, [0])
        return client

    def post(self):
        return self.gateway.request("POST", "/live/other", '{"value":1}', {"Content-Type": "application/json"})[0]

    def fill(self):
        # What came before is on disk.
        self.assertEqual(self.post(), 204)
        self.layer.set(FULL)
        self.assertIsNone(until(lambda: self.post() in (503, 507), "the log refuses"))

    def told(self):
        """What was kept at the topic, the oldest first."""
        status, _, body = self.gateway.request("GET", f"/history/{TOPIC}?limit=1000")
        return [row["value"] for row in json.loads(body)["observations"]] if status == 200 else []

    def log(self):
        return pathlib.Path(self.gateway.log.name).read_text()

    def breaks_off(self, client):
        """Its connection ends without a DISCONNECT, and it does not come again."""
        client.loop_stop()
        client.socket().close()

    def test_the_will_of_a_client_that_leaves_nothing_waits_for_room(self):
        for version in (paho.MQTTv311, paho.MQTTv5):
            with self.subTest(version=version):
                before = self.told()
                client = self.client(version)
                self.fill()
                self.breaks_off(client)
                self.assertIsNone(until(lambda: "a will waits" in self.log(), "the gateway says that a will waits"))
                self.assertEqual(self.told(), before)
                self.layer.set(NONE)
                self.assertIsNone(until(lambda before=before: self.told() == [*before, "off"], "the will is there"), self.told())
        self.gateway.restart()
        self.assertEqual(self.told(), ["off", "off"])

    def test_the_will_of_a_session_that_is_kept_waits_for_room(self):
        for at, (version, more) in enumerate(
            (
                (paho.MQTTv311, {"clean": False}),
                (paho.MQTTv5, {"expiry": 600}),
                (paho.MQTTv5, {"expiry": 600, "delay": 2}),
                # The session ends, and with it the delay.
                (paho.MQTTv5, {"expiry": 2, "delay": 60}),
            )
        ):
            with self.subTest(version=version, **more):
                client = self.client(version, **more)
                self.fill()
                self.breaks_off(client)
                self.refuses_for(3)
                self.assertEqual(self.told(), ["off"] * at)
                self.layer.set(NONE)
                self.assertIsNone(until(lambda at=at: self.told() == ["off"] * (at + 1), "the will is there"), self.told())

    def refuses_for(self, seconds):
        """The log is asked all the time, and says no."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.assertIn(self.post(), (503, 507))

    def test_a_will_that_waits_outlives_a_kill_with_its_session(self):
        client = self.client(paho.MQTTv5, expiry=600, delay=1)
        self.fill()
        self.breaks_off(client)
        self.refuses_for(2)
        self.gateway.kill()
        self.layer.set(NONE)
        self.gateway.start()
        self.assertIsNone(until(lambda: self.told() == ["off"], "the will is there"), self.told())

    def test_what_a_client_says_again_comes_behind_its_will(self):
        for kept in ({}, {"expiry": 600}):
            with self.subTest(kept=kept):
                before = self.told()
                client = self.client(paho.MQTTv5, **kept)
                self.fill()
                self.breaks_off(client)
                again = self.client(paho.MQTTv5, will=False, clean=False, **kept)
                again.reconnect_delay_set(1, 1)
                again.publish(TOPIC, "on", 1, retain=True)
                self.refuses_for(1)
                self.layer.set(NONE)
                self.assertIsNone(until(lambda before=before: self.told()[len(before) :] == ["off", "on"], "in order"), self.told())
                again.disconnect()

    def test_a_will_that_the_end_of_the_gateway_takes_is_told(self):
        client = self.client(paho.MQTTv5)
        self.fill()
        self.breaks_off(client)
        self.assertIsNone(until(lambda: "a will waits" in self.log(), "the gateway says that a will waits"))
        path = pathlib.Path(self.gateway.log.name)
        self.gateway.terminate()
        self.assertIn("a will is given up", path.read_text())
        self.layer.set(NONE)
        self.gateway.start()
        self.assertEqual(self.told(), [])
