"""Sessions: kept over connections and over a crash, taken over, ended; wills."""

import unittest

from gateway import Gateway
from mqtt import resent
from mqtt.raw import (
    DISCONNECT, PUBCOMP, PUBLISH, PUBREC, PUBREL, SESSION_EXPIRY, USER, WILL_DELAY, Client, ack, connect, publish,
    until,
)

NEVER = 32


class Sessions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(settings={"mqtt.listen": "127.0.0.1:0", "mqtt.sys_seconds": "0"})
        cls.addClassCleanup(cls.gateway.close)
        cls.address = cls.gateway.ready["mqtt"]

    def client(self, client_id="", version=5, **options):
        client = Client.connected(self.address, client_id, version, **options)
        self.addCleanup(client.socket.close)
        return client

    def kept(self, client_id, version=5, clean=False, expiry=1000, **options):
        properties = [(SESSION_EXPIRY, expiry)] if version == 5 else []
        return self.client(client_id, version, clean=clean, properties=properties, **options)

    # [MQTT-3.1.2-4] [MQTT-3.1.2-5] [MQTT-3.1.2-6] [MQTT-3.1.3-2] [MQTT-3.1.4-4] [MQTT-4.5.0-1]
    def test_what_was_published_meanwhile_is_delivered_once(self):
        for version in (4, 5):
            name = f"away{version}"
            client = self.kept(name, version)
            self.assertEqual(client.connack.session_present, 0)
            client.subscribe((f"{name}/#", 2))
            client.leave()
            publisher = self.client()
            for qos in (0, 1, 2):
                publisher.publish(f"{name}/{qos}", str(qos), qos=qos)
            client = self.kept(name, version)
            self.assertEqual(client.connack.session_present, 1)
            came = [client.message() for _ in range(3)]
            self.assertEqual([(m.topic, m.qos, m.dup) for m in came], [(f"{name}/{q}", q, False) for q in range(3)])
            self.assertTrue(client.nothing())
            client.leave()
            client = self.kept(name, version)
            self.assertTrue(client.nothing())
            client.leave()
            client = self.client(name, version)
            self.assertEqual(client.connack.session_present, 0)

    def test_what_was_not_acknowledged_has_its_identifier_again(self):
        resent.check(self, "again", self.client(), lambda: self.kept("again"))

    def test_a_retained_message_under_way_is_sent_again(self):
        self.client().publish("held/a", "1", retain=True)
        client = self.kept("held")
        client.subscribe(("held/a", 1))
        early = client.early or [client.receive()]
        client.drop()
        client = self.kept("held")
        came = client.receive()
        self.assertEqual((came.packet_id, came.payload, came.dup), (early[0].packet_id, b"1", True))

    def test_qos_2_of_a_client_that_comes_back_is_taken_once(self):
        reader = self.client()
        reader.subscribe(("twice", 1))
        client = self.kept("twice")
        client.send(publish("twice", "1", 2, 7))
        self.assertEqual(client.receive().kind, PUBREC)
        client.drop()
        client = self.kept("twice")
        client.send(publish("twice", "1", 2, 7, dup=True))
        self.assertEqual(client.receive().kind, PUBREC)
        client.send(ack(PUBREL, 7))
        self.assertEqual(client.receive().kind, PUBCOMP)
        self.assertEqual(reader.message().payload, b"1")
        self.assertTrue(reader.nothing())

    def test_a_session_ends_when_it_expires(self):
        client = self.kept("short", expiry=1)
        client.subscribe(("short", 1))
        client.leave()
        waited = self.client(will=("short/end", "x", 0, 0, [(WILL_DELAY, 0)]))
        watcher = self.client()
        watcher.subscribe(("tick", 1))
        self.client("ticker", will=("tick", "1", 1, 0, [(WILL_DELAY, 2)]), properties=[(SESSION_EXPIRY, 9)]).drop()
        watcher.message()
        self.assertEqual(self.kept("short").connack.session_present, 0)
        waited.leave()

    # [MQTT-3.1.4-3] [MQTT-4.1.0-1]
    def test_a_client_that_connects_again_takes_its_session_over(self):
        first = self.kept("over")
        first.subscribe(("over", 1))
        second = self.kept("over")
        self.assertEqual(second.connack.session_present, 1)
        self.assertEqual(first.closed(), 0x8E)
        self.client().publish("over", "1")
        self.assertEqual(second.message().payload, b"1")

    def test_a_client_that_never_reads_is_taken_over_too(self):
        first = self.kept("deaf")
        first.subscribe(("deaf", 0))
        publisher = self.client()
        for _ in range(200):
            publisher.publish("deaf", b"x" * 65536, qos=0)
        second = self.kept("deaf")
        self.assertEqual(second.connack.session_present, 1)
        second.ping_later = True

    def test_subscriptions_positions_and_qos_2_survive_a_crash(self):
        client = self.kept("crash")
        client.subscribe(("crash/#", 2))
        publisher = self.kept("crash-publisher")
        publisher.send(publish("crash/a", "1", 2, 9))
        self.assertEqual(publisher.receive().kind, PUBREC)
        self.assertEqual(client.receive().payload, b"1")
        away = self.kept("crash-away")
        away.subscribe(("crash/#", 1))
        away.leave()
        self.gateway.restart()
        publisher = self.kept("crash-publisher")
        publisher.send(publish("crash/a", "1", 2, 9, dup=True))
        self.assertEqual(publisher.receive().kind, PUBREC)
        publisher.send(ack(PUBREL, 9))
        self.assertEqual(publisher.receive().kind, PUBCOMP)
        client = self.kept("crash")
        self.assertEqual(client.connack.session_present, 1)
        came = client.receive()
        self.assertEqual((came.payload, came.dup), (b"1", True))
        client.send(ack(PUBREC, came.packet_id))
        self.assertEqual(client.receive().kind, PUBREL)
        client.send(ack(PUBCOMP, came.packet_id))
        self.assertTrue(client.nothing())
        publisher.publish("crash/a", "2", qos=1)
        self.assertEqual(client.message().payload, b"2")
        away = self.kept("crash-away")
        self.assertEqual([away.message().payload], [b"2"])

    # [MQTT-3.3.1-1]
    def test_what_may_have_been_sent_before_a_crash_says_so(self):
        client, publisher = self.kept("perhaps"), self.client()
        client.subscribe(("perhaps", 1))
        publisher.publish("perhaps", "1")
        first = client.message()
        client.ping()
        self.gateway.restart()
        client = self.kept("perhaps")
        came = client.message()
        self.assertEqual((came.payload, came.packet_id, came.dup), (b"1", first.packet_id, True))
        self.client().publish("perhaps", "2")
        came = client.message()
        self.assertEqual((came.payload, came.dup), (b"2", False))

    def test_a_share_goes_on_after_a_crash_where_it_was(self):
        member = self.kept("crash-share")
        member.subscribe(("$share/crash/cs", 1))
        self.client().publish("cs", "1")
        self.assertEqual(member.message().payload, b"1")
        member.leave()
        self.client().publish("cs", "2")
        self.gateway.restart()
        member = self.kept("crash-share")
        self.assertEqual(member.message().payload, b"2")
        self.assertTrue(member.nothing())

    def test_a_will_is_published_when_its_client_is_silent(self):
        for version in (4, 5):
            reader = self.client(version=version)
            reader.subscribe(("will/#", 1))
            properties = [(USER, ("b", "1")), (USER, ("a", "2"))]
            dying = self.client(version=version, will=("will/a", "gone", 1, 1, properties))
            dying.drop()
            came = reader.message()
            self.assertEqual((came.topic, came.payload, came.retain), ("will/a", b"gone", False))
            self.assertEqual(came.properties, properties if version == 5 else [])
            late = self.client()
            late.subscribe(("will/a", 1))
            self.assertTrue(late.message().retain)
            self.client().publish("will/a", b"", retain=True)
            reader.message()

    def test_a_will_is_not_published_after_a_disconnect(self):
        reader = self.client()
        reader.subscribe(("leave/#", 1))
        self.client(will=("leave/a", "1", 1, 0, [])).leave()
        self.client(will=("leave/b", "2", 1, 0, [])).leave(4)
        self.assertEqual(reader.message().topic, "leave/b")
        self.assertTrue(reader.nothing())

    # [MQTT-3.1.3-9]
    def test_a_delayed_will_is_forgotten_when_the_client_is_back(self):
        reader = self.client()
        reader.subscribe(("later/#", 1))
        will = ("later/back", "1", 1, 0, [(WILL_DELAY, 1)])
        self.kept("back", will=will).drop()
        self.kept("back").ping()
        will = ("later/gone", "1", 1, 0, [(WILL_DELAY, 2)])
        self.kept("gone", will=will).drop()
        self.assertTrue(reader.nothing())
        self.assertEqual(reader.message().topic, "later/gone")

    def test_a_will_on_a_topic_of_the_gateway_refuses_the_client(self):
        client = Client(self.address)
        client.send(connect("w", will=("$SYS/x", "1", 0, 0, [])))
        self.assertEqual(client.closed(), 0x87)

    def test_a_session_expiry_may_be_changed_at_the_end(self):
        client = self.kept("changed")
        client.leave(0, [(SESSION_EXPIRY, 0)])
        self.assertEqual(self.kept("changed").connack.session_present, 0)
