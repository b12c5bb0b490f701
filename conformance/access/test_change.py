"""The policy changes while clients are there: what was taken away ends, what was left goes on, nonsense changes nothing."""

import asyncio
import json
import signal
import unittest

import aiocoap
import websockets.sync.client
from proton import ConnectionException, Message
from proton.utils import LinkDetached, SendException

from access.world import OPEN, Follower, World, token, until
from amqp.peers import connection


class Change(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)
        self.world.publish_both()

    def without(self, *names):
        for name in names:
            del self.world.entries[name]
        self.world.change()

    def test_a_token_that_is_taken_away_ends_its_streams_only(self):
        followers = {who: Follower(self.world, "/live/%23?stream&snapshot", who) for who in ("reader", "other")}
        for follower in followers.values():
            follower.start()
            until(lambda follower=follower: OPEN.encode() in follower.text, "the snapshot")
        self.without("reader")
        until(lambda: followers["reader"].is_over, "the end of the stream")
        self.assertEqual(self.world.ask("/live/%23")[0], 401)
        self.world.publish("site/open/a", 7)
        until(lambda: b":7" in followers["other"].text, "the other stream goes on")
        self.assertFalse(followers["other"].is_over)

    def test_a_websocket_is_closed_with_a_reason(self):
        url = f"{self.world.gateway.ws_url}/live/%23?snapshot&access_token={self.world.secrets['reader']}"
        with websockets.sync.client.connect(url) as socket:
            socket.recv(timeout=20)
            self.without("reader")
            with self.assertRaises(websockets.exceptions.ConnectionClosed) as closed:
                while True:
                    socket.recv(timeout=20)
            self.assertEqual(closed.exception.rcvd.code, 1008)

    def test_a_websocket_that_only_publishes_is_closed_too(self):
        url = f"{self.world.gateway.ws_url}/live/site/open/a?publish&access_token={self.world.secrets['writer']}"
        with websockets.sync.client.connect(url) as socket:
            socket.send('{"value":1}')
            self.assertIn("committed", socket.recv(timeout=20))
            self.without("writer")
            socket.send('{"value":2}')
            with self.assertRaises(websockets.exceptions.ConnectionClosed) as closed:
                socket.recv(timeout=20)
            self.assertEqual(closed.exception.rcvd.code, 1008)
            self.assertIn("withdrawn", closed.exception.rcvd.reason)

    def test_sessions_of_mqtt_are_ended_with_the_code_for_it(self):
        for wanted in ("#", "$as/json/#", "$share/g/site/#"):
            with self.subTest(wanted=wanted), self.world.mqtt("reader") as reader, self.world.mqtt("other") as other:
                for client in (reader, other):
                    client.subscribe(wanted, 1)
                    until(lambda client=client: client.seen.acknowledged, "SUBACK")
                entry = self.world.entries.pop("reader")
                self.world.change()
                reader.publish("site/open/a", "1", 0)
                until(lambda: reader.seen.ended, "DISCONNECT")
                self.assertEqual(reader.seen.ended[0], 0x87)
                self.world.publish("site/open/a", OPEN)
                until(lambda: other.seen.came, "the other goes on")
                self.world.entries["reader"] = entry
                self.world.change()

    def test_links_of_amqp_are_ended(self):
        with connection(self.world.gateway, user="reader", password=self.world.secrets["reader"],
                        allow_insecure_mechs=True) as reader:
            receiver = reader.create_receiver("#", credit=10)
            self.without("reader")
            with self.assertRaises((LinkDetached, ConnectionException)) as ended:
                receiver.receive(timeout=20)
            self.assertIn("unauthorized-access", str(ended.exception))

    def test_a_publisher_of_amqp_is_ended(self):
        with connection(self.world.gateway, user="writer", password=self.world.secrets["writer"],
                        allow_insecure_mechs=True) as writer:
            sender = writer.create_sender("site/open/a")
            sender.send(Message(body=b"1", inferred=True))
            self.without("writer")
            with self.assertRaises((LinkDetached, SendException, ConnectionException)):
                sender.send(Message(body=b"2", inferred=True))

    def test_an_observer_of_coap_is_told_that_it_is_over(self):
        async def observe():
            context = await aiocoap.Context.create_client_context()
            uri = f"coap://{self.world.gateway.ready['coap']}/live/site/open/a?access_token={self.world.secrets['reader']}"
            request = context.request(aiocoap.Message(code=aiocoap.GET, uri=uri, observe=0))
            first = await asyncio.wait_for(request.response, 20)
            assert first.code.is_successful(), first
            await asyncio.get_running_loop().run_in_executor(None, self.without, "reader")
            seen = []
            try:
                async with asyncio.timeout(20):
                    async for answer in request.observation:
                        seen.append(answer.code.is_successful())
            except aiocoap.error.Error:
                pass
            await context.shutdown()
            return seen

        self.assertNotIn(True, asyncio.run(observe()))

    def test_a_role_that_is_narrowed_ends_what_was_wider(self):
        follower = Follower(self.world, "/live/%23?stream&snapshot", "reader")
        follower.start()
        until(lambda: OPEN.encode() in follower.text, "the snapshot")
        self.world.roles = self.world.roles.replace('read = ["site/open/#"]', 'read = ["site/open/b"]')
        self.world.change()
        until(lambda: follower.is_over, "the end of the stream")
        self.assertEqual(self.world.ask("/live/site/open/a")[0], 403)

    def test_a_token_that_is_added_holds_at_once(self):
        secret, entry = token("late", "reader")
        self.world.secrets["late"], self.world.entries["late"] = secret, entry
        self.assertEqual(self.world.ask("/live/%23", "late")[0], 401)
        self.world.change(told=False)
        self.assertEqual(self.world.ask("/live/%23", "late")[0], 200)

    def test_a_policy_with_a_mistake_is_refused_whole(self):
        follower = Follower(self.world, "/live/%23?stream&snapshot", "reader")
        follower.start()
        good = self.world.roles + "".join(self.world.entries.values())
        for wrong in (good.replace("site/open/#", "site/open/#/x"), good + "\n[token.t]\nsha256 = '0'\nrole = 'none'\n",
                      good + "\n[tokne.t]\n", good[: len(good) // 2 + 9] + '"', "[role"):
            self.world.change("policy-refused", wrong)
            self.assertEqual(self.world.ask("/live/%23")[0], 200)
        until(lambda: OPEN.encode() in follower.text, "the snapshot")
        self.assertFalse(follower.is_over)

    def test_a_signal_has_it_read_and_nobody_loses_anything(self):
        follower = Follower(self.world, "/live/%23?stream&snapshot", "reader")
        follower.start()
        until(lambda: OPEN.encode() in follower.text, "the snapshot")
        before = len(self.world.events("policy-read"))
        self.world.gateway.process.send_signal(signal.SIGHUP)
        until(lambda: len(self.world.events("policy-read")) > before, "it is read")
        self.world.publish("site/open/a", 9)
        until(lambda: b":9" in follower.text, "the stream goes on")


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.addClassCleanup(cls.world.close)

    def test_who_asks_more_often_than_its_role_may_is_told_to_wait(self):
        connection_ = self.world.gateway.connect()
        headers = {"Content-Type": "application/json", **self.world.bearer("slow")}

        def publish():
            return self.world.gateway.request("POST", "/live/site/rate", '{"value":1}', headers, connection_)[0]

        # Whoever published before under this name has to be forgiven first.
        until(lambda: publish() == 204, "its rate is there again")
        self.assertIn(429, [publish() for _ in range(60)])
        until(lambda: publish() == 204, "it may again after its wait")
        self.assertEqual(self.world.publish("site/rate", 1, "writer"), 204)
        until(lambda: self.world.events("too-fast"), "it is in the audit log")

    def test_a_publisher_of_mqtt_is_slowed_down_and_loses_nothing(self):
        with self.world.mqtt("slow") as slow:
            for value in range(12):
                slow.publish("site/slowed", value, 1)
            until(lambda: len(slow.seen.acknowledged) == 12, "PUBACK")
            self.assertEqual(set(slow.seen.acknowledged) - {0, 16}, set())
        kept = json.loads(self.world.ask("/history/site/slowed?limit=100", "writer")[1])["observations"]
        self.assertEqual([row["value"] for row in kept], list(range(12)))

    def test_coap_is_told_to_wait(self):
        async def publish(count):
            """The codes of so many at once."""
            context = await aiocoap.Context.create_client_context()
            uri = f"coap://{self.world.gateway.ready['coap']}/live/site/rate?access_token={self.world.secrets['slow']}"
            asked = [aiocoap.Message(code=aiocoap.POST, uri=uri, payload=b'{"value":1}') for _ in range(count)]
            answers = await asyncio.gather(*[context.request(message).response for message in asked])
            await context.shutdown()
            return {str(answer.code)[:4] for answer in answers}

        until(lambda: asyncio.run(publish(1)) == {"2.04"}, "its rate is there again")
        self.assertEqual(asyncio.run(publish(60)) - {"2.04"}, {"5.03"})
        until(lambda: asyncio.run(publish(1)) == {"2.04"}, "it may again after its wait")

    def test_soap_is_told_to_wait(self):
        publish = ('<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>'
                   '<w:publish xmlns:w="urn:weir:observations"><w:topic>site/rate</w:topic><w:observation>'
                   "<w:topic>site/rate/a</w:topic><w:number>1</w:number></w:observation></w:publish></e:Body></e:Envelope>")
        fields = {"Content-Type": "application/soap+xml"}

        def ask():
            return self.world.ask("/soap/observations", "slow", "POST", publish, fields)

        until(lambda: ask()[0] == 200, "its rate is there again")
        answers = [ask() for _ in range(60)]
        self.assertEqual({status for status, _ in answers} - {200}, {429})
        self.assertIn(b"slow may make 5 requests a second", next(said for status, said in answers if status == 429))

    def test_a_question_to_a_service_counts_once(self):
        for number in range(20):
            self.world.publish(f"site/open/many/{number}", number, "writer")
        expand = "/sta/v1.1/Datastreams?$expand=Observations($top=1)"
        for path in (expand, "/sos?service=SOS&request=GetCapabilities"):
            with self.subTest(path=path):
                until(lambda path=path: self.world.ask(path, "slow")[0] == 200, "its rate is there again")
                answers = [self.world.ask(path, "slow") for _ in range(60)]
                self.assertEqual({status for status, _ in answers} - {200}, {429})
                self.assertIn(b"slow may make 5 requests a second", next(said for status, said in answers if status == 429))

    def test_a_publisher_of_amqp_is_slowed_down_and_loses_nothing(self):
        with connection(self.world.gateway, user="slow", password=self.world.secrets["slow"],
                        allow_insecure_mechs=True) as slow:
            sender = slow.create_sender("site/slowed-by-amqp")
            for value in range(12):
                sender.send(Message(body=str(value).encode(), inferred=True), timeout=30)
        kept = json.loads(self.world.ask("/history/site/slowed-by-amqp?limit=100", "writer")[1])["observations"]
        self.assertEqual([row["value"] for row in kept], list(range(12)))

    def test_what_is_refused_is_in_the_audit_log_and_no_secret_is(self):
        self.world.ask("/live/site/closed/a")
        self.world.ask("/live/site/open/a", None, headers={"Authorization": "Bearer wrong"})
        until(lambda: self.world.events("denied") and self.world.events("login-refused"), "both are there")
        denied = self.world.events("denied")[0]
        self.assertIn("site/closed/a", denied["detail"])
        self.assertEqual(denied["who"], "reader")
        text = self.world.audit.read_text()
        for secret in [*self.world.secrets.values(), "wrong"]:
            self.assertNotIn(secret, text)
        self.assertEqual(self.world.audit.stat().st_mode & 0o077, 0)
