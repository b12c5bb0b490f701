"""What devices and brokers really send: old versions, lengths with padding, odd JSON, content types that belie."""

import json
import pathlib
import re
import struct
import subprocess
import unittest

import paho.mqtt.client as paho

from gateway import Gateway
from mqtt.raw import CONTENT_TYPE, SUBACK, Client, packet, publish, text, until
from skips import program


class Served(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway(settings={"mqtt.listen": "127.0.0.1:0", "mqtt.sys_seconds": "0", **self.settings})
        self.addCleanup(self.gateway.close)
        self.address = self.gateway.ready["mqtt"]

    settings = {}

    def client(self, *filters, client_id="", version=4, **options):
        client = Client.connected(self.address, client_id, version, **options)
        self.addCleanup(client.socket.close)
        if filters:
            client.subscribe(*filters)
        return client

    def get(self, path):
        status, _, body = self.gateway.request("GET", path, headers={"Accept": "application/json"})
        return status, json.loads(body) if status == 200 else None

    def values(self, topic):
        """Results by what follows a topic."""
        status, answer = self.get(f"/live/{topic}/%23")
        return {o["topic"][len(topic):]: o["value"] for o in answer["observations"]} if status == 200 else {}

    def entry(self, topic):
        return self.get(f"/catalog/{topic}")[1]

    def counted(self, name, label):
        page = self.gateway.request("GET", "/metrics")[2].decode()
        found = re.findall(name + r"\{" + label + r'="([^"]+)"\} (\d+)', page)
        return {kind: int(count) for kind, count in found if count != "0"}

    def log(self):
        return pathlib.Path(self.gateway.log.name).read_text(errors="replace")


class Payloads(Served):
    def test_what_is_there_is_taken_and_what_is_odd_is_seen(self):
        client = self.client()
        for topic, payload, values, place, kind in (
            ("nan", b'{"a":NaN,"b":2}', {"/a": None, "/b": 2}, "nan/a", "not-finite"),
            ("bom", b'\xef\xbb\xbf{"a":1}', {"/a": 1}, None, None),
            ("name", b'{"pm2.5+":3,"t":1}', {"/pm2.5%2B": 3, "/t": 1}, "name/pm2.5%252B", "name"),
            ("beside", b'{"value":1,"battery":80}', {"": 1, "/battery": 80}, None, None),
            ("time", b'{"value":21.5,"time":1764406800}', {"": 21.5}, None, None),
            ("unit", b'{"value":1,"unit":5}', {"": 1}, "unit", "member"),
            ("lat", b'{"value":1,"lat":"52.1","lon":8}', {"": 1}, "lat", "member"),
            ("quality", b'{"value":1,"quality":100}', {"": 1}, "quality", "member"),
            ("tasmota", b'{"ENERGY":{"Power":[12,34]}}', {"/ENERGY/Power/0": 12, "/ENERGY/Power/1": 34}, None, None),
            ("nul", b"21.5\0", {"": 21.5}, None, None),
            ("latin", b'{"value":1,"unit":"\xb0C"}', {"": 1}, "latin", "text"),
            ("degrees", b"21.5 \xb0C", {}, "degrees", "text"),
            ("jpeg", b"\xff\xd8\xff\xe0\0", {}, "jpeg", "bytes"),
            ("broken", b'{"a":1', {}, "broken", "format"),
        ):
            with self.subTest(topic):
                before = self.counted("weir_problems_total", "kind")
                reader = self.client((topic, 1))
                for _ in range(2):
                    self.assertEqual(client.publish(topic, payload), 0)
                    self.assertEqual(reader.message().payload, payload)
                self.assertEqual(self.values(topic), values)
                after = self.counted("weir_problems_total", "kind")
                new = {of: count - before.get(of, 0) for of, count in after.items() if count != before.get(of, 0)}
                self.assertEqual(new, {kind: 2} if kind else {})
                if not kind:
                    continue
                entry = self.entry(place)
                self.assertEqual((entry["problemKind"], entry["problems"]), (kind, 2))
                self.assertRegex(entry["problem"], r"\. .*\.$")
                self.assertRegex(entry["problemAt"], r"^20\d\d-")
                lines = [line for line in self.log().splitlines() if f"topic={topic} " in line or f'"{topic}"' in line]
                self.assertEqual(len(lines), 1, lines)

    def test_a_time_in_numbers_is_the_time(self):
        client = self.client()
        for number in ("1764406800", "1764406800000"):
            client.publish("t", f'{{"value":21.5,"time":{number}}}')
            self.assertEqual(self.get("/live/t")[1]["observations"][0]["time"], "2025-11-29T09:00:00Z")

    def test_the_reason_of_a_null_goes_to_whoever_reads(self):
        self.client().publish("sensor", '{"t":NaN,"list":{"value":[1,NaN]}}')
        status, _, body = self.gateway.request("GET", "/history/sensor/%23", headers={"Accept": "application/json"})
        self.assertEqual(status, 200)
        rows = {o["topic"]: o for o in json.loads(body, parse_constant=self.fail)["observations"]}
        self.assertEqual((rows["sensor/t"]["value"], rows["sensor/t"]["quality"]), (None, "NaN"))
        self.assertEqual(rows["sensor/list/value/1"]["value"], None)

    def test_wrong_members_are_refused_by_http_with_their_place(self):
        self.gateway.publish("h", '{"a":NaN,"pm+":2}')
        self.assertEqual(self.values("h"), {"/a": None, "/pm%2B": 2})
        status, _, body = self.gateway.request(
            "POST", "/live/h", '{"value":1,"unit":5}', {"Content-Type": "application/json"})
        self.assertEqual(status, 400, body)

    def test_what_was_understood_is_understood_after_a_restart(self):
        self.client().publish("again", '{"a":NaN,"b+":2,"value":{"x":1}}')
        self.client().publish("again/odd", '{"value":3,"unit":5}')
        before = self.values("again")
        self.gateway.restart()
        self.assertEqual(self.values("again"), before)

    def test_a_content_type_refuses_nothing(self):
        client = self.client(version=5)
        for topic, payload, media, value in (
            ("c/number", b"21.5", "application/json", 21.5), ("c/text", b'"ON"', "application/json", "ON"),
            ("c/nothing", b"{}", "application/json", None), ("c/xml", b"<a>1</a>", "application/xml", None),
            ("c/jpeg", b"\xff\xd8", "image/jpeg", None), ("c/cbor", b"no cbor", "application/cbor", "no cbor"),
        ):
            for qos in (0, 1, 2):
                reader = self.client((topic, 1), version=5)
                client.publish(topic, payload, qos=qos, properties=[(CONTENT_TYPE, media)])
                came = reader.message()
                self.assertEqual((came.payload, came.property(CONTENT_TYPE)), (payload, media))
            status, answer = self.get(f"/live/{topic}")
            self.assertEqual(answer["observations"][0]["value"] if status == 200 else None, value, topic)
        self.assertNotIn("problem", self.entry("c/jpeg"))


class Versions(Served):
    def test_mqtt_3_1_is_taken(self):
        came = []
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id="plc", protocol=paho.MQTTv31)
        self.addCleanup(client.loop_stop)
        subscribed = []
        client.on_message = lambda _client, _data, message: came.append((message.topic, message.payload))
        client.on_subscribe = lambda *_: subscribed.append(True)
        host, port = self.address.rsplit(":", 1)
        client.connect(host, int(port))
        client.loop_start()
        client.subscribe("plc/#", 1)
        until(lambda: subscribed)
        client.publish("plc/level", "1.5", qos=2).wait_for_publish(20)
        until(lambda: came)
        self.assertEqual(came, [("plc/level", b"1.5")])
        self.assertEqual(self.get("/live/plc/level")[1]["observations"][0]["value"], 1.5)
        client.disconnect()

    def test_mosquittos_clients_speak_3_1_too(self):
        host, port = self.address.rsplit(":", 1)
        said = [program(self, "mosquitto_pub"), "-V", "mqttv31", "-h", host, "-p", port, "-i", "old", "-q", "1", "-t", "v/a", "-m", "7"]
        subprocess.run(said, check=True, timeout=20)
        self.assertEqual(self.get("/live/v/a")[1]["observations"][0]["value"], 7)

    # [MQTT-1.5.5-1] is 5.0's.
    def test_a_length_with_padding_is_taken_before_5(self):
        padded = lambda data: data[:1] + bytes([data[1] | 0x80, 0x80, 0]) + data[2:]
        for level, name in ((4, "MQTT"), (3, "MQIsdp")):
            client = Client(self.address, 4)
            self.addCleanup(client.socket.close)
            body = text(name) + bytes([level, 2]) + struct.pack(">H", 60) + text("padded")
            client.send(padded(packet(1, 0, body)))
            self.assertEqual(client.receive().code, 0)
            client.send(padded(packet(8, 2, struct.pack(">H", 1) + text("pad") + b"\x00")))
            self.assertEqual(client.receive().kind, SUBACK)
            client.send(padded(publish("pad", "1", version=4)))
            self.assertEqual(client.message().payload, b"1")
        modern = self.client(version=5)
        modern.send(padded(publish("pad", "1", version=5)))
        self.assertEqual(modern.closed(), 0x81)


class Thrown(Served):
    settings = {"mqtt.max_subscriptions": "3"}

    def test_who_is_thrown_out_is_counted_by_cause_and_said_once(self):
        for _ in range(3):
            client = self.client(client_id="rude")
            client.send(b"\x00\x00")
            self.assertIsNone(client.closed())
        client = self.client(client_id="again")
        self.client(client_id="again")
        self.assertIsNone(client.closed())
        self.client(client_id="polite").leave()
        self.client(client_id="gone").socket.close()
        silent = Client(self.address)
        silent.send(b"GET / HTTP/1.1\r\n\r\n")
        self.assertIsNone(silent.closed())
        counted = lambda: self.counted("weir_mqtt_thrown_out_total", "cause")
        until(lambda: sum(counted().values()) >= 5)
        self.assertEqual(counted()["malformed-packet"] + counted().get("protocol-error", 0), 4)
        self.assertEqual(counted()["session-taken-over"], 1)
        said = [line for line in self.log().splitlines() if "thrown out" in line]
        self.assertEqual(sum("rude" in line for line in said), 1, said)
        self.assertFalse([line for line in said if "polite" in line or "gone" in line])

    def test_a_subscription_more_than_there_may_be_is_told(self):
        client = self.client(client_id="home")
        codes = client.subscribe(*((f"s/{at}", 0) for at in range(5)))
        self.assertEqual(codes, [0, 0, 0, 0x80, 0x80])
        said = [line for line in self.log().splitlines() if "mqtt.max_subscriptions" in line]
        self.assertEqual(len(said), 1, said)


class Many(Served):
    def test_a_client_may_have_thousands_of_subscriptions(self):
        client = self.client(client_id="home-assistant")
        for start in range(0, 6000, 500):
            codes = client.subscribe(*((f"home/{at}/state", 0) for at in range(start, start + 500)))
            self.assertEqual(set(codes), {0})
        self.client().publish("home/5999/state", "on")
        self.assertEqual(client.message().payload, b"on")


if __name__ == "__main__":
    unittest.main()
