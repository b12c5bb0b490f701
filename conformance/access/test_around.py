"""Ways around the policy: for every way in and out, who may not read or publish gets nothing of it."""

import json
import socket
import unittest
import urllib.parse

import aiocoap
import httpx
import websockets.sync.client
from proton import Message
from proton.utils import LinkDetached, SendException

from access.world import CLOSED, OPEN, Follower, World, until
from amqp.peers import connection

SOS = "/sos?service=SOS&version=2.0.0&request="
ENVELOPE = '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>{}</e:Body></e:Envelope>'


class Around(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.addClassCleanup(cls.world.close)
        cls.before = cls.world.gateway.request("GET", "/live/%23", headers=cls.world.bearer("writer"))[1]["Weir-Cursor"]
        cls.world.publish_both()

    def sees_the_open_only(self, said, what):
        self.assertIn(OPEN.encode(), said, what)
        self.is_hidden(said, what)

    def is_hidden(self, said, what):
        self.assertNotIn(CLOSED.encode(), said, what)
        self.assertNotIn(b"site/closed", said, what)

    def test_a_wide_question_gets_the_part_that_may_be_read(self):
        for path in [
            "/live/%23", "/live/site/%23", "/live/site/+/a", "/live/site/%2B/a", "/live/+/+/+",
            f"/live/%23?since={self.before}&wait=1", f"/live/site/%23?since={self.before}&wait=1&where=value%3E0",
            "/history/%23?limit=100", "/history/site/+/a?limit=100", "/history/%23?agg=max:1h",
            "/sta/v1.1/Observations", "/sta/v1.1/Observations?$filter=result%20gt%200",
            "/sta/v1.1/Datastreams?$expand=Observations",
            "/sta/v1.1/Things?$expand=Datastreams($expand=Observations)",
            "/sta/v1.1/ObservedProperties?$expand=Datastreams($expand=Observations)",
            SOS + "GetObservation",
        ]:
            status, said = self.world.ask(path)
            with self.subTest(path=path):
                self.assertLess(status, 300, said)
                self.sees_the_open_only(said, path)

    def test_what_lists_topics_lists_those_that_may_be_read(self):
        for path in ["/catalog", "/catalog/%23", "/catalog/site/+/a", "/sta/v1.1/Datastreams", "/sta/v1.1/Things",
                     "/sta/v1.1/Sensors", SOS + "GetCapabilities", "/things", "/asyncapi.json",
                     "/.well-known/wot", "/openapi.json", "/.well-known/core"]:
            _, said = self.world.ask(path)
            with self.subTest(path=path):
                self.is_hidden(said, path)

    def test_a_question_for_the_unreadable_is_refused_anyhow(self):
        for path in ["/live/site/closed/a", "/live/site%2Fclosed%2Fa", "/live/site/closed/%61", "/live/site/closed/%23",
                     "/live/site/open/../closed/a", "/live//site/closed/a", "/live/site/closed/a?stream",
                     "/live/site/closed/a?access_token=" + self.world.secrets["writer"][::-1],
                     "/history/site/closed/a", "/history/site/closed/%23", "/catalog/site/closed/a",
                     f"/live/site/closed/a?since={self.before}&wait=1", "/metrics",
                     "/sta/v1.1/Datastreams?$filter=name%20eq%20%27site/closed/a%27",
                     "/sta/v1.1/Observations?$filter=result%20eq%20" + CLOSED]:
            for who in ("reader", None):
                status, said = self.world.ask(path, who)
                with self.subTest(path=path, who=who):
                    self.assertNotIn(f'"value":{CLOSED}'.encode(), said)
                    self.assertNotIn(f'"result":{CLOSED}'.encode(), said)
                    if "/sta/" in path:
                        self.assertTrue(status >= 400 or json.loads(said)["value"] == [], said)
                    else:
                        self.assertGreaterEqual(status, 400, said)

    def test_the_parts_of_a_batch_have_the_rights_of_who_sends_it(self):
        gets = ["Observations", "Datastreams?$expand=Observations", "Observations?$filter=result%20eq%20" + CLOSED]
        asked = [{"id": str(n), "method": "get", "url": url} for n, url in enumerate(gets)]
        asked.append({"id": "post", "method": "post", "url": "Things", "body": {"name": "t", "description": "d"}})
        status, said = self.world.ask("/sta/v1.1/$batch", method="POST", body={"requests": asked})
        self.assertEqual(status, 200, said)
        self.sees_the_open_only(said.replace(b"result%20eq%20" + CLOSED.encode(), b""), "$batch")
        made = next(it for it in json.loads(said)["responses"] if it["id"] == "post")
        self.assertIn(made["status"], (401, 403), made)

    def test_nothing_is_written_by_who_may_only_read(self):
        before = self.kept()
        entity = {"name": "x", "description": "y", "properties": {}}
        for method, path, body in [
            ("POST", "/live/site/open/a", {"value": 1}), ("POST", "/live/site/open", {"a": {"value": 1}}),
            ("POST", "/live/site", {"observations": [{"topic": "site/open/a", "value": 1}]}),
            ("PUT", "/catalog/site/open/a", {"unit": "Cel"}),
            ("DELETE", "/catalog/site/open/a", None), ("POST", "/sta/v1.1/Things", entity),
            ("POST", "/sta/v1.1/Datastreams", entity), ("POST", "/sta/v1.1/Observations", {"result": 1}),
            ("POST", "/sta/v1.1/CreateObservations", [{"Datastream": {"@iot.id": "x"}, "components": ["result"],
                                                       "dataArray": [[1]]}]),
        ]:
            for who in ("reader", None):
                status, said = self.world.ask(path, who, method, body)
                with self.subTest(path=path, method=method, who=who):
                    self.assertGreaterEqual(status, 400, said)
        self.assertEqual(self.kept(), before)

    def kept(self):
        """How much there is in history that anybody may have written."""
        _, said = self.world.ask("/history/%23?limit=1000", "writer")
        return len(json.loads(said)["observations"])

    def test_a_message_that_holds_one_topic_too_many_is_refused(self):
        rows = [{"topic": "site/open/whole", "value": 1}, {"topic": "site/closed/b", "value": 2}]
        status, said = self.world.ask("/live/site", "narrow", "POST", {"observations": rows})
        self.assertEqual(status, 403, said)
        self.assertEqual(self.world.ask("/live/site/open/whole", "writer")[0], 404)
        self.assertEqual(self.world.ask("/live/site", "narrow", "POST", {"observations": rows[:1]})[0], 204)

    def test_soap_has_the_same_rights(self):
        form = {"Content-Type": "application/soap+xml"}
        space = "http://www.w3.org/2003/05/soap-envelope"
        self.assertIn("soap-envelope", space)
        wsdl = self.world.ask("/soap/observations?wsdl")[1].decode()
        name = wsdl.split('targetNamespace="', 1)[1].split('"', 1)[0]
        for body in (f'<GetLatest xmlns="{name}"><filter>#</filter></GetLatest>',
                     f'<GetHistory xmlns="{name}"><filter>#</filter></GetHistory>',
                     f'<Describe xmlns="{name}"><filter>#</filter></Describe>'):
            _, said = self.world.ask("/soap/observations", "reader", "POST", ENVELOPE.format(body), form)
            self.is_hidden(said, body)

    def test_grafana_has_the_same_rights(self):
        span = {"range": {"from": "2000-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}, "maxDataPoints": 100}
        shapes = [{}, {"type": "table"}, {"type": "latest"}, {"agg": "max", "every": "1h"}]
        for target in ("#", "site/#", "site/+/a", r"(site\/open\/a|site\/closed\/a)", "site/closed/a"):
            for shape in shapes:
                asked = {**span, "targets": [{"refId": "A", "target": target, "payload": shape}]}
                status, said = self.world.ask("/grafana/query", method="POST", body=asked)
                with self.subTest(target=target, shape=shape):
                    if "#" in target or "+" in target:
                        self.assertEqual(status, 200, said)
                        self.sees_the_open_only(said, target)
                    else:
                        self.assertNotIn(CLOSED.encode(), said)
        for path, body in (("/metrics", {}), ("/variable", {"payload": {"target": "site/#"}, **span})):
            status, said = self.world.ask("/grafana" + path, method="POST", body=body)
            self.assertEqual(status, 200, said)
            self.assertIn(b"site/open/a", said)
            self.is_hidden(said, path)
        for path in ("/query", "/metrics"):
            asked = {**span, "targets": [{"refId": "A", "target": "#"}]}
            status, said = self.world.ask("/grafana" + path, None, "POST", asked)
            self.assertGreaterEqual(status, 400, said)

    def test_streams_of_http_deliver_what_may_be_read(self):
        for accept in ("text/event-stream", "application/json"):
            path = f"/live/%23?stream&since={self.before}"
            follower = Follower(self.world, path, "reader", accept)
            follower.start()
            until(lambda: OPEN.encode() in follower.text, accept)
            self.is_hidden(follower.text, accept)
            follower.connection.sock and follower.connection.sock.shutdown(socket.SHUT_RDWR)

    def test_a_websocket_delivers_and_takes_what_may_be(self):
        url = f"{self.world.gateway.ws_url}/live/%23?since={self.before}&access_token={self.world.secrets['reader']}"
        with websockets.sync.client.connect(url) as socket_:
            said = socket_.recv(timeout=20)
            said = said.encode() if isinstance(said, str) else said
            while OPEN.encode() not in said:
                more = socket_.recv(timeout=20)
                said += more.encode() if isinstance(more, str) else more
            self.is_hidden(said, "WebSocket")
            socket_.send(json.dumps({"topic": "site/open/by-socket", "value": 1}))
            socket_.send('{"value":1}')
        self.assertEqual(self.world.ask("/live/site/open/by-socket", "writer")[0], 404)
        for closed in ("/live/site/closed/a", "/live/site/closed/%23"):
            with self.assertRaises(websockets.exceptions.InvalidStatus):
                websockets.sync.client.connect(
                    f"{self.world.gateway.ws_url}{closed}?access_token={self.world.secrets['reader']}")

    def test_mqtt_by_every_filter_and_transport(self):
        with self.world.mqtt("writer") as writer:
            writer.publish("site/closed/kept", CLOSED, 1, retain=True).wait_for_publish(20)
            writer.publish("site/open/kept", OPEN, 1, retain=True).wait_for_publish(20)
        for transport in ("tcp", "websockets"):
            for wanted in ("#", "site/#", "+/+/kept", "$as/json/#", "$as/csv/site/#", "$share/g/site/#"):
                with self.subTest(transport=transport, wanted=wanted), self.world.mqtt("reader", transport) as reader:
                    reader.subscribe(wanted, 1)
                    until(lambda: reader.seen.acknowledged, "SUBACK")
                    self.assertLess(reader.seen.acknowledged[0][0], 0x80, wanted)
                    self.world.publish_both()
                    until(lambda: any(OPEN.encode() in it.payload for it in reader.seen.came), wanted)
                    for message in reader.seen.came:
                        self.is_hidden(message.topic.encode() + message.payload, wanted)

    def test_mqtt_refuses_what_may_not_be(self):
        with self.world.mqtt("reader") as reader:
            for wanted in ("site/closed/a", "site/closed/#", "$SYS/#", "$share/g/site/closed/#", "$as/json/site/closed/a"):
                reader.seen.acknowledged.clear()
                reader.subscribe(wanted, 1)
                until(lambda: reader.seen.acknowledged, "SUBACK")
                self.assertGreaterEqual(reader.seen.acknowledged[0][0], 0x80, wanted)
            reader.seen.acknowledged.clear()
            reader.publish("site/open/a", "1", 1)
            until(lambda: reader.seen.acknowledged, "PUBACK")
            self.assertEqual(reader.seen.acknowledged, [0x87])
        for who, will in (("reader", "site/open/a"), (None, None)):
            with self.subTest(who=who), self.world.mqtt(who, will=will) as refused:
                self.assertEqual(refused.seen.connected[0], 0x87)

    def test_coap_has_the_same_rights(self):
        for path in ("/live/%23", "/live/site/+/a", "/history/%23"):
            code, said = self.world.coap(path)
            self.assertEqual(code[0], "2", said)
            self.sees_the_open_only(said, path)
        for path in ("/live/site/closed/a", "/history/site/closed/a", "/catalog/site/closed/a"):
            self.assertEqual(self.world.coap(path)[0][:4], "4.03", path)
        for who in ("reader", None):
            code, said = self.world.coap("/live/site/open/a", who, aiocoap.POST, b'{"value":1}')
            self.assertEqual(code[0], "4", said)

    def test_a_wide_observation_of_coap_tells_what_may_be_read(self):
        for path in ("/live/%23", "/live/site/+/a", "/live/site/%23?where=value%3E0"):
            came = self.world.coap_observed(path, "reader", lambda said: OPEN.encode() in said, self.world.publish_both)
            self.is_hidden(b"".join(came), path)

    def test_no_method_of_coap_goes_further(self):
        for code in (aiocoap.PUT, aiocoap.DELETE, aiocoap.FETCH, aiocoap.PATCH, aiocoap.iPATCH):
            for path in ("/live/site/open/a", "/live/site/closed/a", "/catalog/site/open/a", "/catalog/site/closed/a"):
                for who in ("reader", None):
                    said = self.world.coap(path, who, code, b'{"unit":"Cel"}')
                    with self.subTest(code=code, path=path, who=who):
                        self.assertEqual(said[0][0], "4", said)
                        self.assertNotIn(CLOSED.encode(), said[1])

    def test_http_2_has_the_same_rights(self):
        with httpx.Client(http1=False, http2=True, base_url=self.world.gateway.url,
                          headers=self.world.bearer("reader")) as client:
            wide = client.get("/live/%23")
            self.assertEqual((wide.http_version, wide.status_code), ("HTTP/2", 200))
            self.sees_the_open_only(wide.content, "HTTP/2")
            for path in ("/live/site/closed/a", "/live/site%2Fclosed%2Fa", "/history/site/closed/%23"):
                self.assertEqual(client.get(path).status_code, 403, path)
            self.assertEqual(client.post("/live/site/open/a", json={"value": 1}).status_code, 403)

    def test_sensorthings_over_mqtt_has_the_same_rights(self):
        with self.world.mqtt("reader") as reader:
            for wanted in ("v1.1/Observations", "v1.1/Datastreams"):
                reader.seen.acknowledged.clear()
                reader.subscribe(wanted, 1)
                until(lambda: reader.seen.acknowledged, "SUBACK")
            self.world.publish_both()
            until(lambda: any(OPEN.encode() in it.payload for it in reader.seen.came), "an observation")
            for message in reader.seen.came:
                self.is_hidden(message.topic.encode() + message.payload, message.topic)
            reader.seen.acknowledged.clear()
            reader.publish("v1.1/Observations", '{"result":1}', 1)
            until(lambda: reader.seen.acknowledged, "PUBACK")
            self.assertGreaterEqual(reader.seen.acknowledged[0], 0x80)

    def test_amqp_has_the_same_rights(self):
        def as_user(who):
            return connection(self.world.gateway, user=who, password=self.world.secrets[who], allow_insecure_mechs=True)

        with as_user("reader") as reader:
            receiver = reader.create_receiver("#", credit=10)
            self.world.publish_both()
            got = receiver.receive(timeout=20)
            said = bytes(got.body) if not isinstance(got.body, str) else got.body.encode()
            self.sees_the_open_only(got.address.encode() + said, "AMQP")
            receiver = reader.create_receiver("$as/json/#", credit=10)
            self.world.publish_both()
            got = receiver.receive(timeout=20)
            said = bytes(got.body) if not isinstance(got.body, str) else got.body.encode()
            self.sees_the_open_only(got.address.encode() + said, "AMQP as JSON")
            for closed in ("site/closed/#", "$as/json/site/closed/a"):
                with self.assertRaises(LinkDetached):
                    reader.create_receiver(closed, credit=1)
            with self.assertRaises((LinkDetached, SendException)):
                reader.create_sender("site/open/a").send(Message(body=b"1", inferred=True))

    def test_a_token_in_a_query_has_no_more_rights_than_in_a_field(self):
        path = "/live/site/closed/a?access_token=" + urllib.parse.quote(self.world.secrets["reader"])
        self.assertEqual(self.world.ask(path, None)[0], 403)

    def test_a_certificate_cannot_be_claimed_in_a_field(self):
        for claimed in ("Certificate x", "Certificate  00", "certificate y"):
            status, _ = self.world.ask("/live/site/open/a", None, headers={"Authorization": claimed})
            self.assertEqual(status, 401, claimed)
