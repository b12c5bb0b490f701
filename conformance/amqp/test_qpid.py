"""A bridge to a real Qpid Broker-J, by 0.9.1 and by 1.0: both ways, over a crash of the broker and of the gateway."""

import contextlib
import json
import pathlib
import subprocess
import time

import pika
from amqp.qpid import Qpid
from amqp.test_bridge import Bridged, lines, metric, until
from gateway import BINARY


class ToQpid(Bridged):
    @classmethod
    def setUpClass(cls):
        cls.broker = Qpid(cls, cls.addClassCleanup)

    def connection(self):
        """A connection; Qpid refuses those that come before its virtual host is active."""
        def connected():
            with contextlib.suppress(pika.exceptions.ProbableAccessDeniedError):
                return super(ToQpid, self).connection()

        return until(connected)

    def channel(self):
        """A channel; what is published beside it goes by transactions: Qpid promises pika no confirmations."""
        connection = self.connection()
        self.sending = connection.channel()
        self.sending.tx_select()
        return connection.channel()

    def publish(self, channel, key, body, **properties):
        super().publish(self.sending, key, body, **properties)
        self.sending.tx_commit()

    def each(self, test):
        for scheme in ("amqp091", "amqp10"):
            with self.subTest(scheme=scheme):
                test(scheme)

    def linked(self, scheme):
        """A gateway with lines both ways, and what watches at the broker: a channel and its durable queue."""
        settings = [lines("out", f"{scheme}/up/#"), lines("in", f"{scheme}/down/#")]
        made = self.gateway(*settings, {"amqp.bridge.site.queue": f"bridge-{scheme}"}, url=self.broker.url(scheme))
        self.bridged(made)
        channel = self.channel()
        return made, channel, self.queue(channel, f"{scheme}.up.#", f"watch-{scheme}-{self.id()}")

    def test_both_ways_in_order_and_nothing_waits_at_the_broker(self):
        def passed(scheme):
            made, channel, watched = self.linked(scheme)
            for at in range(50):
                made.publish_value(f"{scheme}/up/t", at)
                self.publish(channel, f"{scheme}.down.t", str(at).encode())
            self.assertEqual(self.values(made, f"{scheme}/down/t", 49), list(range(50)))
            got = [json.loads(body)["value"] for body in self.come(channel, watched, '{"value": 49}')]
            self.assertEqual(got, list(range(50)))
            self.assertEqual(metric(made, "weir_bridge_refused_messages_total"), 0)

        self.each(passed)

    def test_a_broker_killed_meanwhile_loses_no_message_in_order(self):
        def survived(scheme):
            made, channel, watched = self.linked(scheme)
            for at in range(100):
                made.publish_value(f"{scheme}/up/n", at)
                self.publish(channel, f"{scheme}.down.n", str(at).encode())
            self.broker.stop()
            for at in range(100, 200):
                made.publish_value(f"{scheme}/up/n", at)
            self.broker.start()
            self.bridged(made)
            channel = self.channel()
            for at in range(100, 200):
                self.publish(channel, f"{scheme}.down.n", str(at).encode())
            got = [json.loads(body)["value"] for body in self.come(channel, watched, '{"value": 199}')]
            self.assertEqual(list(dict.fromkeys(got)), list(range(200)))
            down = self.values(made, f"{scheme}/down/n", 199)
            self.assertEqual(list(dict.fromkeys(down)), list(range(200)))

        self.each(survived)

    # [AMQP-2.6.7-2]
    def test_a_broker_without_credit_is_waited_for_in_order(self):
        channel = self.channel()
        # Who publishes straight to a queue that is full gets no more credit until it is emptier.
        full = {"qpid.policy_type": "PRODUCER_FLOW_CONTROL", "qpid.max_count": 100}
        watched = channel.queue_declare("full", durable=True, arguments=full).method.queue
        made = self.gateway(lines("out", "full/#"), url=f"{self.broker.url('amqp10')}?exchange={watched}")
        self.bridged(made)
        for at in range(1000):
            made.publish_value("full/n", at)
        until(lambda: self.waiting(channel, watched) >= 100)
        self.assertLess(self.stood_still(channel, watched), 1000)
        self.assertEqual(metric(made, "weir_bridge_connected"), 1)
        got = [json.loads(body)["value"] for body in self.come(channel, watched, '{"value": 999}')]
        self.assertEqual(got, list(range(1000)))
        self.assertEqual(metric(made, "weir_bridge_refused_messages_total"), 0)

    def stood_still(self, channel, watched):
        """How many messages a queue has once it gets no more for two seconds."""
        before = -1
        while (now := self.waiting(channel, watched)) != before:
            before = now
            time.sleep(2)
        return now

    @staticmethod
    def waiting(channel, watched):
        """How many messages a queue has."""
        return channel.queue_declare(watched, passive=True).method.message_count

    def test_both_ways_by_websocket_over_a_crash_of_the_broker(self):
        url = self.broker.url("amqp10+ws")
        made = self.gateway(lines("out", "page/up/#"), lines("in", "page/down/#"), url=url)
        self.bridged(made)
        channel = self.channel()
        watched = self.queue(channel, "page.up.#", f"watch-{self.id()}")
        self.publish(channel, "page.down.t", b"1")
        self.assertEqual(self.values(made, "page/down/t", 1), [1])
        for at in range(20):
            made.publish_value("page/up/t", at)
        until(lambda: metric(made, "weir_bridge_sent_messages_total") == 20)
        self.broker.stop()
        for at in range(20, 40):
            made.publish_value("page/up/t", at)
        self.broker.start()
        self.bridged(made)
        channel = self.channel()
        got = [json.loads(body)["value"] for body in self.come(channel, watched, '{"value": 39}')]
        self.assertEqual(list(dict.fromkeys(got)), list(range(40)))
        self.publish(channel, "page.down.t", b"2")
        self.assertEqual(self.values(made, "page/down/t", 2), [1, 2])

    def test_weir_publishes_and_subscribes_by_websocket(self):
        url = self.broker.url("amqp10+ws")
        channel = self.channel()
        watched = self.queue(channel, "pub.#")
        subprocess.run([BINARY, "pub", url, "pub/t"], input="21.5", text=True, check=True, timeout=60)
        self.assertEqual(len(self.come(channel, watched, "21.5")), 1)

    def test_what_comes_meanwhile_waits_at_the_broker(self):
        def waited(scheme):
            made, channel, _ = self.linked(scheme)
            made.kill()
            for at in range(20):
                self.publish(channel, f"{scheme}.down.w", str(at).encode())
            made.start()
            self.assertEqual(self.values(made, f"{scheme}/down/w", 19), list(range(20)))

        self.each(waited)

    def test_poison_is_set_aside_once_and_the_rest_flows_on(self):
        def set_aside(scheme):
            made, channel, _ = self.linked(scheme)
            aside = self.aside(made)
            self.publish(channel, f"{scheme}.down.*", b"a topic with a wildcard")
            self.publish(channel, f"{scheme}.down.p", b"1")
            self.assertEqual(self.values(made, f"{scheme}/down/p", 1), [1])
            message = aside.get(timeout=60)
            self.assertEqual(message.payload, b"a topic with a wildcard")
            self.assertIn("`*`", dict(message.properties.UserProperty)["weir-reason"])
            # One that is given again for ever would be on its way again.
            made.restart()
            self.bridged(made)
            self.publish(channel, f"{scheme}.down.p", b"2")
            self.assertEqual(self.values(made, f"{scheme}/down/p", 2), [1, 2])
            self.assertEqual(metric(made, "weir_bridge_refused_messages_total"), 0)

        self.each(set_aside)

    def test_credentials_that_are_wrong_are_told(self):
        def told(scheme):
            made = self.gateway(lines("in", "down/#"), url=self.broker.url(scheme, "guest:wrong"))
            log = pathlib.Path(f"{made.data}.log")
            until(lambda: "refuses user `guest`" in log.read_text())
            self.assertEqual(metric(made, "weir_bridge_connected"), 0)

        self.each(told)
