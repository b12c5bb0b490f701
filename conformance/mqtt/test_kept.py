"""What is acknowledged is kept: every acknowledgement, then what a raw reader, the log and a restart have of it."""

import json
import pathlib
import shutil
import tempfile
import unittest

from access.world import token
from gateway import Gateway
from mqtt.raw import CONTENT_TYPE, REASON, USER, Client, publish, until

ASIDE = "$aside/mqtt"
# What looks like observations at `odd/t` and can be none; and what is nothing at all.
ODD = [
    b'{"pm2.5+":1,"t":2}', b'{"#":5}', b'{"value":1,"topic":"other"}', b'{"a":NaN,"b":2}', b'\xef\xbb\xbf{"a":1}',
    b'{"value":1,"lat":95,"lon":7}', b'[{"n":"a","v":1},', b"{", b"<a>1</a>", b"\x00\xff",
    json.dumps({"value": 1, "unit": "u" * 2000}).encode(), json.dumps({"/".join("d" * 80): 1}).encode(),
    json.dumps({f"leaf{at}": at for at in range(5000)}).encode(),
]
DEEP = "deep/" + "/".join("d" * 70)


def metric(made, line, secret=None):
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    page = made.request("GET", "/metrics", headers=headers)[2].decode()
    return sum(int(said.split()[-1]) for said in page.splitlines() if said.startswith(line + " "))


def log(made):
    return pathlib.Path(made.log.name).read_text(errors="replace")


class Served(unittest.TestCase):
    settings = {}

    def setUp(self):
        self.gateway = Gateway(settings={"mqtt.listen": "127.0.0.1:0", "mqtt.sys_seconds": "0", **self.settings})
        self.addCleanup(self.gateway.close)

    def client(self, *filters, version=4, **options):
        client = Client.connected(self.gateway.ready["mqtt"], version=version, **options)
        self.addCleanup(client.socket.close)
        if filters:
            self.assertTrue(all(code < 0x80 for code in client.subscribe(*filters)))
        return client

    def since(self, cursor, topic):
        """A raw reader of what the log has behind a cursor."""
        client = self.client(version=5)
        self.assertEqual(client.subscribe((topic, 1), properties=[(USER, ("weir-cursor", cursor))]), [1])
        return client

    def set_aside(self, count):
        """What is retained one by one of what was set aside: names, reasons and bodies."""
        reader = self.client((f"{ASIDE}/+", 1), version=5)
        came = [reader.message() for _ in range(count)]
        self.assertTrue(reader.nothing())
        said = [dict(value for name, value in message.properties if name == USER) for message in came]
        return [(of["weir-name"], of["weir-reason"], message.payload) for of, message in zip(said, came)]


class Bytes(Served):
    def test_what_can_be_no_observation_is_kept_as_bytes(self):
        reader, begin = self.client(("odd/#", 1)), self.gateway.cursor()
        sent = []
        for version in (4, 5):
            for qos in (0, 1, 2):
                for payload in ODD:
                    with self.subTest(version=version, qos=qos, payload=payload[:40]):
                        self.assertIn(self.client(version=version).publish("odd/t", payload, qos=qos), (None, 0))
                        came = reader.message()
                        self.assertEqual((came.topic, came.payload), ("odd/t", payload))
                        sent.append(payload)
        counted = lambda kind: metric(self.gateway, f'weir_problems_total{{kind="{kind}"}}')
        # A byte order mark alone is nothing that was not understood.
        wanted = {"name": 2, "not-finite": 1, "member": 1, "content": 2, "format": 2, "text": 1, "bytes": 1, "limit": 2}
        self.assertEqual({kind: counted(kind) for kind in wanted}, {kind: 6 * of for kind, of in wanted.items()})
        self.assertIn("kept as bytes", log(self.gateway))
        self.gateway.restart()
        reader = self.since(begin, "odd/t")
        self.assertEqual([reader.message().payload for _ in sent], sent)

    def test_what_is_retained_stays_so(self):
        for payload in ODD:
            self.assertEqual(self.client().publish("odd/t", payload, retain=True), 0)
            self.assertEqual(self.client(("odd/t", 1)).message().payload, payload)
        self.gateway.restart()
        self.assertEqual(self.client(("odd/t", 1)).message().payload, ODD[-1])

    def test_a_will_that_can_be_no_observation_is_published(self):
        reader = self.client(("odd/t", 1))
        for payload in ODD[:5]:
            self.client(will=("odd/t", payload, 1, False, ())).drop()
            self.assertEqual(reader.message().payload, payload)

    def test_a_format_that_is_belied_is_refused_or_kept(self):
        reader = self.client(("odd/t", 1))
        self.assertEqual(self.client(version=5).publish("$as/json/odd/t", "{"), 0x99)
        self.assertTrue(reader.nothing())
        # [MQTT-3.3.2-20]: a content type is the applications' business.
        self.assertEqual(self.client(version=5).publish("odd/t", "{", properties=[(CONTENT_TYPE, "application/json")]), 0)
        self.assertEqual(reader.message().payload, b"{")
        for version, qos, options in ((4, 1, {}), (4, 2, {}), (4, 0, {}), (5, 0, {})):
            self.client(version=version).publish("$as/json/odd/t", "{", qos=qos, **options)
            self.assertEqual(reader.message().payload, b"{")
        self.client(version=5).publish("odd/t", "{", qos=0, properties=[(CONTENT_TYPE, "application/json")])
        self.assertEqual(reader.message().payload, b"{")

    # [MQTT-4.13.2]: what contradicts a declaration is refused where a reason can be given, whatever the content type.
    def test_what_contradicts_a_declaration_is_told_to_mqtt_5(self):
        headers = {"Content-Type": "application/json"}
        self.assertEqual(self.gateway.request("PUT", "/catalog/mq/a", '{"unit":"m"}', headers)[0], 204)
        reader, body = self.client(("mq/a", 1)), b'{"value":5,"unit":"s"}'
        for topic, kind in (("mq/a", None), ("mq/a", "application/json"), ("$as/json/mq/a", None)):
            for qos in (1, 2):
                with self.subTest(topic=topic, kind=kind, qos=qos):
                    properties = [(CONTENT_TYPE, kind)] if kind else []
                    client = self.client(version=5)
                    client.send(publish(topic, body, qos, 1, properties=properties))
                    answer = client.receive()
                    self.assertEqual(answer.code, 0x99)
                    said = answer.property(REASON)
                    self.assertTrue("`m`" in said and "`s`" in said, said)
        self.assertTrue(reader.nothing())
        # Nobody can be told of it: it goes on as bytes, is counted, and stands in the catalog.
        for version, qos in ((4, 0), (4, 1), (4, 2), (5, 0)):
            self.client(version=version).publish("mq/a", body, qos=qos)
            self.assertEqual(reader.message().payload, body)
        entry = json.loads(self.gateway.request("GET", "/catalog/mq/a")[2])
        self.assertEqual((entry["problemKind"], entry["problems"], entry["unit"]), ("content", 4, "m"))
        # One that can be converted is no contradiction, and what is not understood stays bytes.
        for good in (b'{"value":5,"unit":"cm"}', b"{", b"\x00\xff"):
            self.assertEqual(self.client(version=5).publish("mq/a", good), 0)
            self.assertEqual(reader.message().payload, good)


class SetAside(Served):
    settings = {"mqtt.sys_seconds": "0"}

    def test_what_can_be_kept_nowhere_is_set_aside_until_removed(self):
        sent = []
        for at, qos in enumerate((0, 1, 2)):
            for topic in ("$as/nope/x", "$as/none/y"):
                body = f"{topic} {at}".encode()
                self.client().publish(topic, body, qos=qos)
                sent.append((topic, body))
        until(lambda: metric(self.gateway, 'weir_mqtt_refused_messages_total{outcome="aside"}') == len(sent))
        self.gateway.restart()
        found = self.set_aside(len(sent))
        self.assertEqual([(name, body) for name, _, body in found], sent)
        self.assertTrue(all(reason for _, reason, _ in found))
        for at in range(len(sent)):
            self.assertEqual(self.client().publish(f"{ASIDE}/{at + 1}", b"", retain=True), 0)
        self.gateway.restart()
        self.assertEqual(self.set_aside(0), [])

    def test_mqtt_5_is_told_and_nothing_is_set_aside(self):
        self.assertEqual(self.client(version=5).publish(DEEP, "1"), 0x90)
        self.assertEqual(self.client(version=5).publish("$as/nope/x", "1"), 0x90)
        self.assertEqual(self.set_aside(0), [])

    def test_a_topic_that_is_none_ends_the_connection(self):
        for topic in (DEEP, "n" * 1500):
            client = self.client()
            client.send(publish(topic, b"1", 1, 1, version=4))
            self.assertIsNone(client.receive())

    def test_what_a_service_refuses_is_set_aside_and_said_once(self):
        bodies = [b"{", b'{"result":', b'{"nope":1}', b""]
        for body in bodies[:3]:
            self.assertEqual(self.client().publish("v1.1/Datastreams(1)/Observations", body), 0)
        self.assertEqual(self.client().publish("v1.1/Nothing", b"{}", qos=2), 0)
        found = self.set_aside(4)
        self.assertEqual([body for *_, body in found], [*bodies[:3], b"{}"])
        self.assertIn("set aside", log(self.gateway))
        self.assertGreaterEqual(self.client(version=5).publish("v1.1/Datastreams(1)/Observations", b"{"), 0x80)


class Full(Served):
    settings = {"gateway.catalog_bytes": "1048576"}

    def test_a_full_catalog_loses_nothing_that_is_acknowledged(self):
        publisher = self.client()
        self.assertEqual(publisher.publish("full/0", "0"), 0)
        rest = {f"full/{'n' * 900}{at}": str(at).encode() for at in range(900)}
        for topic, body in rest.items():
            self.assertEqual(publisher.publish(topic, body), 0)
        self.client(will=("full/will", b"gone", 1, False, ())).drop()
        # A known topic takes bytes, whatever they would have been.
        reader = self.client(("full/0", 1))
        leaves = json.dumps({f"leaf{at}": at for at in range(100)}).encode()
        self.assertEqual(publisher.publish("full/0", leaves), 0)
        self.assertEqual(reader.message().payload, leaves)
        aside = metric(self.gateway, 'weir_mqtt_refused_messages_total{outcome="aside"}')
        self.assertGreater(aside, 100)
        self.assertGreater(metric(self.gateway, 'weir_refused_messages_total{cause="limit"}'), 100)
        self.gateway.restart()
        found = {name: body for name, _, body in self.set_aside(aside)}
        self.assertEqual(found.pop("full/will"), b"gone")
        for name, body in found.items():
            self.assertEqual(rest.pop(name), body)
        for topic in rest:
            status, _, _ = self.gateway.request("GET", f"/live/{topic}")
            self.assertEqual(status, 200, topic)


class Rights(unittest.TestCase):
    def test_what_may_not_be_published_is_dropped_or_kept_as_bytes(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-kept-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        secret, entry = token("lamp", "lamp")
        (folder / "policy.toml").write_text(
            '[role.lamp]\npublish = ["zz/lamp"]\nread = ["zz/#", "$SYS/#"]\n' + entry)
        made = Gateway(settings={"mqtt.listen": "127.0.0.1:0", "access.policy": str(folder / "policy.toml")})
        self.addCleanup(made.close)
        login = {"user": "lamp", "password": secret}
        reader = Client.connected(made.ready["mqtt"], **login)
        reader.subscribe(("zz/#", 1))
        publisher = Client.connected(made.ready["mqtt"], version=4, **login)
        for body in (b'{"state":"ON"}', b'{"value":1,"topic":"zz/other"}'):
            self.assertEqual(publisher.publish("zz/lamp", body), 0)
            came = reader.message()
            self.assertEqual((came.topic, came.payload), ("zz/lamp", body))
        self.assertEqual(publisher.publish("zz/other", b"1"), 0)
        self.assertEqual(Client.connected(made.ready["mqtt"], **login).publish("zz/other", b"1"), 0x87)
        self.assertTrue(reader.nothing())
        self.assertEqual(metric(made, 'weir_mqtt_refused_messages_total{outcome="dropped"}', secret), 1)
        self.assertEqual(metric(made, 'weir_mqtt_refused_messages_total{outcome="told"}', secret), 1)
        self.assertEqual(metric(made, 'weir_refused_messages_total{cause="rights"}', secret), 2)
        self.assertIn("zz/other", log(made))
