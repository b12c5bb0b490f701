"""Observations both ways between Cyclone DDS and every other protocol, and back to nobody who has them."""

import json
import subprocess
import unittest

import paho.mqtt.client as paho
import websockets.sync.client

from dds.peer import DOMAINS, Kind, Location, Observation, Peer, Policy, Result, matched, start, take, until
from gateway import BINARY, ROOT, Gateway


class Exchange(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        start(cls)

    def test_the_ready_line_says_where_to_announce_oneself(self):
        host, port = self.gateway.ready["dds"].rsplit(":", 1)
        self.assertEqual(host, "127.0.0.1")
        # DDSI-RTPS 2.5 section 9.6.2.3: metatraffic, unicast.
        self.assertIn(int(port) - 7410 - 250 * self.number, range(0, 20, 2))

    def test_the_type_is_to_be_had_of_the_gateway(self):
        status, headers, body = self.gateway.request("GET", "/schema/Observation.idl")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; charset=utf-8"))
        self.assertEqual(body, (ROOT / "protocols/dds/idl/Observation.idl").read_bytes())

    # [DDSI-10.5-1]
    def test_each_kind_of_result_comes_in_with_all_that_it_has(self):
        values = [Result(number=21.5), Result(truth=True), Result(text="wärm"), Result(json="[1,2]"), Result(nothing=0)]
        for index, value in enumerate(values):
            self.writer.write(Observation(
                topic=f"in/{index}", sensor="urn:dev:1", type="temperature", unit="Cel", value=value,
                time=1_700_000_000_123_456_789, location=[Location(44.8, 20.5)], quality="good"))
        for index, value in enumerate([21.5, True, "wärm", [1, 2], None]):
            [kept] = until(lambda of=f"in/{index}": self.gateway.history(of), f"in/{index}")
            self.assertEqual(kept["value"], value)
            self.assertEqual((kept["sensor"], kept["type"], kept["unit"]), ("urn:dev:1", "temperature", "Cel"))
            self.assertEqual((kept["lat"], kept["lon"]) if "lat" in kept else (kept["latitude"], kept["longitude"]), (44.8, 20.5))
            self.assertTrue(kept["time"].startswith("2023-11-14T22:13:20.123456789"), kept)

    def test_what_http_publishes_reaches_dds_with_its_cursor(self):
        body = {"observations": [{"topic": "out/a", "value": 1}, {"topic": "out/b", "value": "two"},
                                 {"topic": "out/c", "value": {"x": 1}, "unit": "K"}]}
        self.gateway.publish("out", body)
        a, b, c = take(self.reader, 3, lambda one: one.topic.startswith("out/"))
        self.assertEqual([a.topic, b.topic, c.topic], ["out/a", "out/b", "out/c"])
        self.assertEqual([a.value.discriminator, b.value.discriminator, c.value.discriminator],
                         [Kind.NUMBER, Kind.TEXT, Kind.JSON])
        self.assertEqual([a.value.value, b.value.value, json.loads(c.value.value), c.unit], [1.0, "two", {"x": 1}, "K"])
        self.assertEqual([a.cursor, b.cursor, c.gap], ["", "", ""])
        # What comes after that cursor is what comes after the whole message.
        self.gateway.publish_value("out/d", 4)
        path = f"/live/out/%23?since={c.cursor}&wait=20"
        after = json.loads(self.gateway.request("GET", path, headers={"Accept": "application/json"})[2])
        self.assertIn("4", json.dumps(after))
        self.assertNotIn("out/c", json.dumps(after))

    def test_a_websocket_and_an_mqtt_client_see_a_writers_sample(self):
        host, port = self.gateway.ready["mqtt"].rsplit(":", 1)
        heard = []
        client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        client.on_message = lambda _client, _data, message: heard.append(json.loads(message.payload))
        client.on_subscribe = lambda *_: heard.append("subscribed")
        client.connect(host, int(port))
        client.subscribe("seen", 1)
        client.loop_start()
        self.addCleanup(client.disconnect)
        self.addCleanup(client.loop_stop)
        until(lambda: heard, "SUBACK")
        with websockets.sync.client.connect(f"{self.gateway.ws_url}/live/seen?bare", subprotocols=["weir.json"]) as socket:
            self.writer.write(Observation(topic="seen", value=Result(number=5.5)))
            self.assertIn("5.5", str(socket.recv(timeout=20)))
        until(lambda: heard[1:], "the message by MQTT")
        self.assertIn("5.5", json.dumps(heard[1]))

    def test_a_mqtt_publisher_reaches_a_dds_reader(self):
        host, port = self.gateway.ready["mqtt"].rsplit(":", 1)
        client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        client.connect(host, int(port))
        client.loop_start()
        self.addCleanup(client.disconnect)
        self.addCleanup(client.loop_stop)
        client.publish("by/mqtt", "7.25", 1).wait_for_publish(20)
        [sample] = take(self.reader, 1, lambda one: one.topic == "by/mqtt")
        self.assertEqual(sample.value.value, 7.25)

    def test_nothing_goes_round_in_circles(self):
        self.writer.write(Observation(topic="round/in", value=Result(number=1)))
        until(lambda: self.gateway.history("round/in"), "the sample")
        self.gateway.publish_value("round/out", 2)
        # The domain is told what HTTP published, behind what the domain itself said.
        [_] = take(self.reader, 1, lambda one: one.topic == "round/out")
        self.writer.write(Observation(topic="round/end", value=Result(number=3)))
        until(lambda: self.gateway.history("round/end"), "the last sample")
        self.assertEqual([len(self.gateway.history(f"round/{name}")) for name in ("in", "out", "end")], [1, 1, 1])
        own = [one for one in self.reader.take(1000) if isinstance(one, Observation) and one.cursor]
        self.assertEqual([one for one in own if one.topic in ("round/in", "round/end")], [])

    def test_two_thousand_samples_arrive_in_order(self):
        for number in range(2000):
            self.writer.write(Observation(topic="many", value=Result(number=number), time=1_700_000_000_000_000_000 + number))
        until(lambda: len(self.gateway.history("many", 10000)) >= 2000, "all samples")
        self.assertEqual([one["value"] for one in self.gateway.history("many", 10000)], list(range(2000)))
        for number in range(500):
            self.gateway.publish_value("many/out", number)
        samples = take(self.reader, 500, lambda one: one.topic == "many/out")
        self.assertEqual([one.value.value for one in samples], list(range(500)))

    def test_weirs_own_client_publishes_to_cyclone_and_hears_it(self):
        url = f"dds://{self.number}/"
        hearing = subprocess.Popen([BINARY, "sub", url, "own/#", "--count", "1"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(hearing.stdout.close)
        self.addCleanup(hearing.kill)
        until(lambda: matched(self.writer.get_matched_subscriptions) > 2, "a third reader")
        self.writer.write(Observation(topic="own/sub", value=Result(number=8.5)))
        said, _ = hearing.communicate(timeout=30)
        self.assertIn("8.5", said)
        subprocess.run([BINARY, "pub", url, "own/pub"], input='{"value":9.5}\n', text=True, check=True, timeout=30)
        [sample] = take(self.reader, 1, lambda one: one.topic == "own/pub")
        self.assertEqual(sample.value.value, 9.5)


class LateReaders(unittest.TestCase):
    def test_who_comes_late_finds_the_last_values_of_before_too(self):
        number = next(DOMAINS)
        gateway = Gateway(settings={"dds.domain": str(number)})
        self.addCleanup(gateway.close)
        gateway.publish_value("late/a", 1)
        gateway.terminate()
        gateway.start()
        gateway.publish_value("late/b", 2)
        peer = Peer(number, gateway)
        reader = peer.reader(Policy.Durability.TransientLocal)
        found = {one.topic: one.value.value for one in take(reader, 2)}
        self.assertEqual(found, {"late/a": 1.0, "late/b": 2.0})


class Restart(unittest.TestCase):
    def test_a_domain_is_not_told_what_it_had_said(self):
        number = next(DOMAINS)
        gateway = Gateway(settings={"dds.domain": str(number)})
        self.addCleanup(gateway.close)
        peer = Peer(number, gateway)
        reader = peer.reader(Policy.Durability.TransientLocal)
        writer = peer.writer(Policy.Durability.TransientLocal)
        writer.write(Observation(topic="valve", value=Result(text="open")))
        until(lambda: gateway.history("valve"), "the sample")
        gateway.publish_value("other", 1)
        before = take(reader, 2)
        self.assertEqual({one.topic for one in before}, {"valve", "other"})
        gateway.kill()
        writer.write(Observation(topic="valve", value=Result(text="closed")))
        gateway.start()
        until(peer.is_heard, "weir's match of the reader")
        gateway.publish_value("last", 2)
        found = []
        until(lambda: found.extend(take(reader, 1)) or found[-1].topic == "last", "the last sample")
        said = [(one.topic, one.value.value) for one in found]
        # What others had said stands again for who comes late; of the valve there is the writer's word alone.
        self.assertEqual(said, [("valve", "closed"), ("other", 1.0), ("last", 2.0)])
        until(lambda: matched(writer.get_matched_subscriptions) > 1, "weir's match of the writer")

        def is_heard():
            writer.write(Observation(topic="valve/again", value=Result(text="open")))
            return gateway.history("valve/again")

        until(is_heard, "a sample of after that")
