"""Messages between clients of both versions, and between MQTT and HTTP."""

import json
import socket
import unittest

from gateway import Gateway
from mqtt.raw import (
    ALIAS_MAX, CONTENT_TYPE, CORRELATION, EXPIRY, PACKET_MAX, PUBACK, PUBLISH, RECEIVE_MAX, RESPONSE_TOPIC,
    NEVER_READ_BYTES, PUBCOMP, PUBREC, PUBREL, SESSION_EXPIRY, SUBSCRIPTION_ID, USER, Client, ack, publish, unsubscribe,
)

NO_LOCAL, AS_PUBLISHED, IF_NEW, NEVER = 4, 8, 16, 32


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(settings={"mqtt.listen": "127.0.0.1:0", "mqtt.sys_seconds": "1"})
        cls.addClassCleanup(cls.gateway.close)
        cls.address = cls.gateway.ready["mqtt"]

    def client(self, client_id="", version=5, **options):
        client = Client.connected(self.address, client_id, version, **options)
        self.addCleanup(client.socket.close)
        return client

    def latest(self, topic):
        body = self.gateway.request("GET", f"/live/{topic}", headers={"Accept": "application/json"})[2]
        return json.loads(body)["observations"]

    def test_a_bare_value_and_a_flat_object_are_datastreams(self):
        client = self.client()
        self.assertEqual(client.publish("kitchen/temp", "21.5"), 0)
        self.assertEqual(client.publish("hall", '{"temperature":20,"humidity":41}'), 0)
        self.assertEqual(self.latest("kitchen/temp")[0]["value"], 21.5)
        self.assertEqual({o["topic"]: o["value"] for o in self.latest("hall/%23")},
                         {"hall/temperature": 20, "hall/humidity": 41})

    def test_what_http_publishes_is_received_in_every_quality(self):
        for version in (4, 5):
            for qos in (0, 1, 2):
                client = self.client(version=version)
                self.assertEqual(client.subscribe((f"h/{version}{qos}", qos)), [qos])
                self.gateway.publish_value(f"h/{version}{qos}", 3)
                came = client.message()
                self.assertEqual((came.topic, came.qos), (f"h/{version}{qos}", min(qos, 1)))
                self.assertEqual(json.loads(came.payload), {"value": 3})

    # [MQTT-3.8.4-7] [MQTT-3.8.4-8]
    def test_bytes_arrive_with_the_lower_quality_of_the_two(self):
        payload = bytes(range(256))
        for published in (0, 1, 2):
            for granted in (0, 1, 2):
                topic = f"q/{published}{granted}"
                subscriber = self.client()
                subscriber.subscribe((topic, granted))
                self.client().publish(topic, payload, qos=published)
                came = subscriber.message()
                self.assertEqual((came.payload, came.qos), (payload, min(published, granted)))
                self.assertFalse(came.dup or came.retain)

    # [MQTT-3.3.2-4] [MQTT-3.3.2-6] [MQTT-3.3.2-15] [MQTT-3.3.2-16] [MQTT-3.3.2-17] [MQTT-3.3.2-18]
    # [MQTT-3.3.2-20]
    def test_properties_travel_unaltered(self):
        subscriber = self.client()
        subscriber.subscribe(("p/a", 1))
        given = [(0x01, 1), (EXPIRY, 100), (CONTENT_TYPE, "x/y"), (RESPONSE_TOPIC, "r"), (CORRELATION, b"\x00\x01"),
                 (USER, ("b", "1")), (USER, ("a", "2")), (USER, ("b", "3"))]
        self.client().publish("p/a", "hello", properties=given)
        came = subscriber.message()
        known = [(name, value) for name, value in came.properties if name != EXPIRY]
        self.assertEqual(known, [pair for pair in given if pair[0] != EXPIRY])
        self.assertIn(came.property(EXPIRY), (99, 100))

    # [MQTT-3.3.2-3]
    def test_a_part_of_a_message_comes_at_its_own_topic(self):
        subscriber = self.client()
        subscriber.subscribe(("part/+/temperature", 1), ("part/whole", 1))
        self.client().publish("part/whole", '{"temperature":20,"humidity":41}')
        came = sorted((subscriber.message() for _ in range(2)), key=lambda message: message.topic)
        self.assertEqual((came[0].topic, came[0].payload), ("part/whole", b'{"temperature":20,"humidity":41}'))
        self.assertEqual((came[1].topic, came[1].payload), ("part/whole/temperature", b"20"))

    def test_a_format_is_asked_for_by_topic_or_content_type(self):
        subscriber = self.client()
        subscriber.subscribe(("$as/senml-json/conv/#", 1), ("$as/csv/conv/#", 0))
        publisher = self.client()
        self.assertEqual(publisher.publish("$as/json/conv/a", '{"observations":[{"value":1}]}'), 0)
        came = {message.topic: message.payload for message in (subscriber.message(), subscriber.message())}
        self.assertEqual(json.loads(came["$as/senml-json/conv/a"])[0]["v"], 1)
        self.assertIn(b"conv/a", came["$as/csv/conv/a"])
        self.assertEqual(publisher.publish("$as/json/conv/a", "no json"), 0x99)
        declared = [(CONTENT_TYPE, "application/senml+json")]
        self.assertEqual(publisher.publish("conv/a", '[{"v":7}]', properties=declared), 0)
        topics = {subscriber.message().topic for _ in range(2)}
        self.assertEqual(topics, {"$as/senml-json/conv/a", "$as/csv/conv/a"})
        self.assertEqual(self.latest("conv/a")[0]["value"], 7)
        self.assertEqual(publisher.publish("$as/nothing/conv/a", "1"), 0x90)

    # [MQTT-3.3.2-3]
    def test_a_converted_message_stays_one_where_its_topic_matches(self):
        subscriber = self.client()
        subscriber.subscribe(("$as/senml-json/one/#", 1), ("$as/plain/one/#", 1), ("$as/json/one/+/t", 0))
        declared = [(CONTENT_TYPE, "application/json")]
        body = '{"observations":[{"topic":"one/a/t","value":20},{"topic":"one/a/h","value":41}]}'
        self.client().publish("one/a", body, properties=declared)
        came = {message.topic: message for message in (subscriber.message() for _ in range(4))}
        whole = came["$as/senml-json/one/a"]
        self.assertEqual([row["v"] for row in json.loads(whole.payload)], [20, 41])
        self.assertIn((CONTENT_TYPE, "application/senml+json"), whole.properties)
        parts = {topic: came[topic].payload for topic in ("$as/plain/one/a/t", "$as/plain/one/a/h")}
        self.assertEqual(parts, {"$as/plain/one/a/t": b"20", "$as/plain/one/a/h": b"41"})
        part = json.loads(came["$as/json/one/a/t"].payload)["observations"]
        self.assertEqual([row["value"] for row in part], [20])

    # [MQTT-3.8.3-3]
    def test_no_local_spares_a_client_its_own(self):
        client = self.client()
        client.subscribe(("own/a", NO_LOCAL | 1))
        client.publish("own/a", "1")
        self.client().publish("own/a", "2")
        self.assertEqual(client.message().payload, b"2")

    # [MQTT-3.3.4-2] [MQTT-3.3.4-3] [MQTT-3.3.4-5]
    def test_overlapping_subscriptions_have_their_identifiers(self):
        client = self.client()
        client.subscribe(("o/+", 1), properties=[(SUBSCRIPTION_ID, 1)])
        client.subscribe(("o/a", 2), packet_id=2, properties=[(SUBSCRIPTION_ID, 268_435_455)])
        self.client().publish("o/a", "1", qos=2)
        came = {message.property(SUBSCRIPTION_ID): message.qos for message in (client.message(), client.message())}
        self.assertEqual(came, {1: 1, 268_435_455: 2})

    # [MQTT-3.3.1-5] [MQTT-3.3.1-8] [MQTT-3.3.1-9] [MQTT-3.3.1-10] [MQTT-3.3.1-11]
    def test_retained_messages_are_sent_as_retain_handling_says(self):
        publisher = self.client()
        publisher.publish("ret/a", "1", retain=True)
        publisher.publish("ret/a", "2", retain=True)
        publisher.publish("ret/b", "3", retain=False)
        for qos in (0, 1):
            client = self.client()
            client.subscribe(("ret/#", qos))
            came = client.message()
            self.assertEqual((came.topic, came.payload, came.retain), ("ret/a", b"2", True))
            self.assertTrue(client.nothing())
            client.subscribe(("ret/#", qos | IF_NEW))
            self.assertTrue(client.nothing())
            client.subscribe(("ret/#", qos))
            self.assertEqual(client.message().payload, b"2")
            client = self.client()
            client.subscribe(("ret/#", qos | NEVER))
            self.assertTrue(client.nothing())
            client = self.client()
            client.subscribe(("ret/#", qos | IF_NEW))
            self.assertEqual(client.message().payload, b"2")

    # [MQTT-3.3.1-6] [MQTT-3.3.1-7]
    def test_an_empty_retained_message_removes_and_is_delivered(self):
        publisher, client = self.client(), self.client()
        publisher.publish("gone/a", "1", retain=True)
        client.subscribe(("gone/a", 1 | NEVER))
        publisher.publish("gone/a", b"", retain=True)
        self.assertEqual(client.message().payload, b"")
        late = self.client()
        late.subscribe(("gone/a", 1))
        self.assertTrue(late.nothing())

    # [MQTT-3.3.1-12] [MQTT-3.3.1-13]
    def test_the_retain_flag_stays_where_that_is_asked_for(self):
        for options, expected in ((0, False), (1, False), (AS_PUBLISHED, True), (AS_PUBLISHED | 1, True)):
            client = self.client()
            client.subscribe(("rap/a", options | NEVER))
            self.client().publish("rap/a", "1", retain=True)
            self.assertEqual(client.message().retain, expected)

    # [MQTT-3.3.2-5]
    def test_a_message_that_has_expired_is_not_delivered(self):
        publisher = self.client()
        publisher.publish("exp/a", "1", retain=True, properties=[(EXPIRY, 1)])
        publisher.publish("exp/b", "1", retain=True, properties=[(EXPIRY, 1000)])
        reader = self.client("sys")
        reader.subscribe(("$SYS/broker/uptime", 0))
        for _ in range(4):
            reader.message()
        client = self.client()
        client.subscribe(("exp/#", 1))
        came = client.message()
        self.assertEqual(came.topic, "exp/b")
        self.assertLess(came.property(EXPIRY), 1000)

    # [MQTT-4.7.2-1]
    def test_wildcards_do_not_match_topics_of_the_gateway(self):
        client = self.client()
        client.subscribe(("#", 0 | NEVER), ("+/broker/version", 0))
        named = self.client()
        named.subscribe(("$SYS/broker/version", 0))
        came = named.message()
        self.assertTrue(came.payload.startswith(b"weir"))
        self.assertEqual(named.publish("$SYS/broker/version", "mine"), 0x87)
        client.send(publish("seen", "1"))
        self.assertEqual(client.message().topic, "seen")

    def test_the_receive_maximum_of_a_client_is_kept(self):
        client = self.client(properties=[(RECEIVE_MAX, 2)])
        client.subscribe(("rm/a", 1))
        publisher = self.client()
        for index in range(5):
            publisher.publish("rm/a", str(index))
        first, second = client.receive(), client.receive()
        self.assertTrue(client.nothing())
        client.send(ack(PUBACK, first.packet_id))
        self.assertEqual(client.receive().payload, b"2")
        client.send(ack(PUBACK, second.packet_id))
        self.assertEqual(client.receive().payload, b"3")

    def test_the_maximum_packet_size_of_a_client_is_kept(self):
        for qos in (0, 1):
            client = self.client(properties=[(PACKET_MAX, 40)])
            client.subscribe((f"size/{qos}", qos))
            publisher = self.client()
            publisher.publish(f"size/{qos}", "x" * 100)
            publisher.publish(f"size/{qos}", "short")
            self.assertEqual(client.message().payload, b"short")

    def test_aliases_are_set_for_who_takes_them(self):
        client = self.client(properties=[(ALIAS_MAX, 5)])
        client.subscribe(("alias/#", 1))
        publisher = self.client()
        for _ in range(2):
            publisher.publish("alias/long/topic", "1")
        self.assertEqual([client.message().topic for _ in range(2)], ["alias/long/topic", ""])

    # [MQTT-3.10.4-1] [MQTT-3.10.4-2]
    def test_after_unsubscribe_nothing_comes(self):
        client = self.client()
        client.subscribe(("un/a", 1))
        client.send(unsubscribe(2, "un/a", "un/b"))
        self.assertEqual(client.receive().codes, [0, 0x11])
        self.client().publish("un/a", "1")
        self.assertTrue(client.nothing())

    def test_a_position_is_told_and_taken_back(self):
        publisher = self.client()
        first = self.client()
        first.subscribe(("cur/a", 1), properties=[(USER, ("weir-cursor", ""))])
        publisher.publish("cur/a", "4")
        publisher.publish("cur/a", "5")
        name, cursor = first.message().property(USER)
        self.assertEqual(name, "weir-cursor")
        later = self.client()
        later.subscribe(("cur/a", 1), properties=[(USER, ("weir-cursor", cursor))])
        self.assertEqual(later.message().payload, b"5")
        status = self.gateway.request("GET", f"/live/cur/a?wait=5&since={cursor}", headers={"Accept": "text/plain"})
        self.assertEqual((status[0], status[2].strip()), (200, b"5"))

    def test_who_lags_is_told_how_many_messages_are_missing(self):
        reader = self.client()
        reader.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.subscribe(("lag/a", 0), properties=[(USER, ("weir-cursor", ""))])
        publisher, payload = self.client(), b"\xff" * 60_000
        sent = NEVER_READ_BYTES // len(payload)
        for _ in range(sent):
            publisher.publish("lag/a", payload)
        publisher.publish("lag/a", b"last")
        came = missed = 0
        while True:
            message = reader.message()
            came += 1
            gaps = [value[1] for name, value in message.properties if name == USER and value[0] == "weir-gap"]
            for reason, count in (gap.split(":") for gap in gaps):
                self.assertEqual(reason, "policy")
                missed += int(count)
            if message.payload == b"last":
                break
        self.assertGreater(missed, 0)
        self.assertEqual(came + missed, sent + 1)

    def test_plain_text_is_a_value_where_it_is_one_line(self):
        subscriber, publisher = self.client(), self.client()
        subscriber.subscribe(("text/#", 1))
        plain = [(CONTENT_TYPE, "text/plain")]
        for number, text in enumerate((b"hello", b"21.5", b"[1,", b"two\nlines {", b"\x00\x01", "\u00e9".encode("latin-1"))):
            self.assertEqual(publisher.publish(f"text/{number}", text, properties=plain), 0, text)
            came = subscriber.message()
            self.assertEqual((came.payload, came.properties), (text, plain))
        self.assertEqual([self.latest(f"text/{number}")[0]["value"] for number in (0, 1)], ["hello", 21.5])
        self.assertEqual(self.latest("text/%23")[2:], [])

    def test_a_retained_message_is_its_topics_alone(self):
        self.client().publish("scale", '{"weight":20}', retain=True)
        late = self.client()
        late.subscribe(("scale/#", 1))
        self.assertEqual(late.message().topic, "scale")
        below = self.client()
        below.subscribe(("scale/weight", 1))
        self.assertTrue(below.nothing())
        self.assertEqual(self.latest("scale/weight")[0]["value"], 20)

    # [MQTT-3.3.2-6]
    def test_how_long_a_message_is_good_for_is_told_in_every_quality(self):
        subscribers = [self.client() for _ in range(3)]
        for subscriber, qos in zip(subscribers, (0, 0, 1)):
            subscriber.subscribe(("good/a", qos))
        self.client().publish("good/a", "1", properties=[(EXPIRY, 100)])
        for subscriber in subscribers:
            self.assertIn(subscriber.message().property(EXPIRY), (99, 100))

    def test_a_request_is_answered_across_protocols(self):
        asker = self.client("asker", properties=[(0x19, 1)])
        where = asker.connack.property(0x1A)
        asker.subscribe((where, 1))
        thing = self.client()
        thing.subscribe(("thing/command", 1))
        asker.publish("thing/command", '"on"', properties=[(RESPONSE_TOPIC, where), (CORRELATION, b"7")])
        command = thing.message()
        thing.publish(command.property(RESPONSE_TOPIC), "done", properties=[(CORRELATION, command.property(CORRELATION))])
        self.assertEqual(asker.message().property(CORRELATION), b"7")

    # [MQTT-4.6.0-5] [MQTT-4.6.0-6] [MQTT-4.2.0-1]
    def test_a_thousand_messages_keep_their_order(self):
        client, publisher = self.client(), self.client()
        client.subscribe(("ord/a", 1))
        for start in range(0, 1000, 100):
            publisher.send(*(publish("ord/a", str(i), 1, i % 100 + 1) for i in range(start, start + 100)))
            for i in range(100):
                self.assertEqual(publisher.receive().packet_id, i + 1)
        self.assertEqual([int(client.message().payload) for _ in range(1000)], list(range(1000)))


class Shared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(settings={"mqtt.listen": "127.0.0.1:0"})
        cls.addClassCleanup(cls.gateway.close)
        cls.address = cls.gateway.ready["mqtt"]

    # [MQTT-4.8.2-3]
    def test_each_message_goes_to_one_member_of_a_share(self):
        members = [Client.connected(self.address) for _ in range(3)]
        for member in members:
            self.assertEqual(member.subscribe(("$share/g/s/#", 1)), [1])
        publisher = Client.connected(self.address)
        for value in range(30):
            publisher.publish("s/a", str(value))
        came = [int(member.message().payload) for member in members for _ in range(10)]
        self.assertEqual(sorted(came), list(range(30)))
        self.assertTrue(all(member.nothing() for member in members))

    def test_what_a_member_did_not_acknowledge_goes_to_another(self):
        lazy, busy = Client.connected(self.address), Client.connected(self.address)
        lazy.subscribe(("$share/h/t", 1))
        publisher = Client.connected(self.address)
        publisher.publish("t", "1")
        publisher.publish("t", "2")
        self.assertEqual([lazy.receive().payload, lazy.receive().payload], [b"1", b"2"])
        busy.subscribe(("$share/h/t", 1))
        lazy.drop()
        self.assertEqual([busy.message().payload, busy.message().payload], [b"1", b"2"])

    def kept(self, client_id):
        client = Client.connected(self.address, client_id, clean=False, properties=[(SESSION_EXPIRY, 100)])
        self.addCleanup(client.socket.close)
        return client

    # [MQTT-4.8.2-4] [MQTT-4.8.2-5]
    def test_a_qos_2_message_waits_for_its_member(self):
        first = self.kept("two-first")
        first.subscribe(("$share/two/twice", 2))
        Client.connected(self.address).publish("twice", "1", qos=2)
        came = first.receive()
        first.drop()
        second = Client.connected(self.address)
        second.subscribe(("$share/two/twice", 2))
        self.assertTrue(second.nothing())
        first = self.kept("two-first")
        again = first.receive()
        self.assertEqual((again.packet_id, again.payload, again.dup), (came.packet_id, b"1", True))
        first.send(ack(PUBREC, again.packet_id))
        self.assertEqual(first.receive().kind, PUBREL)
        first.send(ack(PUBCOMP, again.packet_id))
        self.assertTrue(first.nothing() and second.nothing())
        Client.connected(self.address).publish("twice", "2", qos=2)
        Client.connected(self.address).publish("twice", "3", qos=2)
        self.assertEqual({first.message().payload, second.message().payload}, {b"2", b"3"})

    # [MQTT-4.8.2-6]
    def test_a_message_that_its_member_refuses_goes_to_nobody_else(self):
        first, second = Client.connected(self.address), Client.connected(self.address)
        first.subscribe(("$share/no/refused", 1))
        Client.connected(self.address).publish("refused", "1")
        first.send(ack(PUBACK, first.receive().packet_id, 0x83))
        second.subscribe(("$share/no/refused", 1))
        first.ping()
        first.drop()
        self.assertTrue(second.nothing())

    def test_messages_wait_for_a_share_whose_members_are_all_away(self):
        names, publisher = ("away-a", "away-b"), Client.connected(self.address)
        for name in names:
            member = self.kept(name)
            member.subscribe(("$share/away/w", 1))
            member.leave()
        for value in "1234":
            publisher.publish("w", value)
        first = self.kept(names[0])
        self.assertEqual([first.message().payload for _ in range(3)], [b"1", b"2", b"3"])
        self.assertEqual(first.receive().payload, b"4")
        first.leave()
        second = self.kept(names[1])
        self.assertEqual(second.message().payload, b"4")
        self.assertTrue(second.nothing())
        second.leave()
        publisher.publish("w", "5")
        newcomer = Client.connected(self.address)
        newcomer.subscribe(("$share/away/w", 1))
        self.assertEqual(newcomer.message().payload, b"5")
        newcomer.leave()
        publisher.publish("w", "6")
        self.assertEqual(self.kept(names[0]).message().payload, b"6")

    def test_a_share_that_is_none_is_refused(self):
        client = Client.connected(self.address)
        self.assertEqual(client.subscribe(("$share/g", 0), ("$share//a", 0), ("$share/+/a", 0)), [0x8F] * 3)
