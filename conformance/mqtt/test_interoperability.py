"""Cases that suites for brokers ask: what brokers answer alike where the standard leaves no choice."""

import struct
import time
import unittest

from gateway import Gateway
from mqtt.raw import (
    ALIAS, ALIAS_MAX, ASSIGNED_ID, CONNACK, CONTENT_TYPE, CORRELATION, EXPIRY, PINGREQ, PUBACK, PUBCOMP, PUBLISH,
    PUBREC, PUBREL, RECEIVE_MAX, RESPONSE_TOPIC, SESSION_EXPIRY, SUBSCRIPTION_ID, UNSUBACK, USER, WILL_DELAY, Client,
    ack, connect, packet, publish, subscribe, text, unsubscribe,
)

LASTING = [(SESSION_EXPIRY, 99)]
TOPICS = {"TopicA", "TopicA/B", "Topic/C", "TopicA/C", "/TopicA"}
WILDCARDS = {
    "TopicA/+": {"TopicA/B", "TopicA/C"}, "+/C": {"Topic/C", "TopicA/C"}, "#": TOPICS, "/#": {"/TopicA"},
    "/+": {"/TopicA"}, "+/+": {"TopicA/B", "Topic/C", "TopicA/C", "/TopicA"},
    "TopicA/#": {"TopicA", "TopicA/B", "TopicA/C"},
}


class Broker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway(settings={"mqtt.sys_seconds": "0"})
        cls.addClassCleanup(cls.gateway.close)
        cls.address = cls.gateway.ready["mqtt"]

    def client(self, client_id="", version=5, **options):
        client = Client.connected(self.address, client_id, version, **options)
        self.addCleanup(client.socket.close)
        return client

    def lasting(self, client_id):
        return self.client(client_id, clean=False, properties=LASTING)

    def witness(self, *filters):
        witness = self.client()
        witness.subscribe(*filters)
        return witness

    def ends(self, client, code, *data):
        client.send(*data)
        self.assertEqual(client.closed(), code, data)

    def refused(self, data, code, version=5):
        self.ends(self.client(version=version), code, data)

    def not_let_in(self, data, code, version=5):
        client = Client(self.address, version)
        self.addCleanup(client.socket.close)
        self.ends(client, code, data)


class Delivery(Broker):
    def test_wildcards_over_all_kinds_of_levels(self):
        for version in (4, 5):
            publisher = self.client(version=version)
            for wanted, expected in WILDCARDS.items():
                reader = self.client(version=version)
                reader.subscribe((wanted, 2))
                for topic in TOPICS:
                    publisher.publish(topic, b"x")
                self.assertEqual({reader.message().topic for _ in expected}, expected, wanted)
                self.assertTrue(reader.nothing(), wanted)
                reader.leave()

    def test_empty_levels_and_spaces_are_levels_and_names(self):
        reader, publisher = self.witness(("in/+/x", 1), ("in/+", 1), ("a b/ c", 1)), self.client()
        for topic in ("in//x", "in/", "a b/ c"):
            self.assertEqual(publisher.publish(topic, "1"), 0)
            self.assertEqual(reader.message().topic, topic)

    def test_a_repeated_subscription_replaces_the_one_before(self):
        reader = self.witness(("again", 0))
        self.assertEqual(reader.subscribe(("again", 0), ("again", 2)), [0, 2])
        self.client().publish("again", "1", 2)
        self.assertEqual(reader.message().qos, 2)
        self.assertTrue(reader.nothing())

    def test_filters_that_are_none_are_refused_one_by_one(self):
        for version, code in ((5, 0x8F), (4, 0x80)):
            client = self.client(version=version)
            for wanted in ("a/#/b", "a#", "a+", "+a/b", "#/a", "a/b#"):
                self.assertEqual(client.subscribe((wanted, 0), ("fine", 1)), [code, 1], wanted)

    def test_what_was_under_way_comes_again_after_a_break(self):
        reader = self.client("broken", version=4, clean=False)
        reader.subscribe(("broken/#", 2))
        publisher = self.client()
        publisher.publish("broken/1", "1", 1)
        publisher.publish("broken/2", "2", 2)
        before = [reader.receive(), reader.receive()]
        reader.drop()
        reader = self.client("broken", version=4, clean=False)
        after = [reader.message(), reader.message()]
        self.assertEqual([(of.topic, of.packet_id) for of in after], [(of.topic, of.packet_id) for of in before])
        self.assertEqual([of.dup for of in before + after], [False, False, True, True])

    def test_a_release_comes_again_after_a_break(self):
        reader = self.lasting("released")
        reader.subscribe(("released", 2))
        self.client().publish("released", "2", 2)
        message = reader.receive()
        reader.send(ack(PUBREC, message.packet_id))
        self.assertEqual(reader.receive().kind, PUBREL)
        reader.drop()
        reader = self.lasting("released")
        again = reader.receive()
        self.assertEqual((again.kind, again.packet_id), (PUBREL, message.packet_id))
        reader.send(ack(PUBCOMP, again.packet_id))
        self.assertTrue(reader.nothing())

    def test_a_qos_1_message_that_says_dup_is_a_message(self):
        reader, publisher = self.witness(("dup", 1)), self.client()
        for _ in range(2):
            publisher.send(publish("dup", "x", 1, 5, dup=True))
            self.assertEqual(publisher.receive().kind, PUBACK)
            self.assertFalse(reader.message().dup)

    def test_flow_control_counts_down_and_up_again(self):
        reader, publisher = self.client(properties=[(RECEIVE_MAX, 2)]), self.client()
        reader.subscribe(("flow", 2))
        for number in range(4):
            publisher.publish("flow", str(number), 2)
        first, second = reader.receive(), reader.receive()
        self.assertTrue(reader.nothing())
        reader.send(ack(PUBREC, first.packet_id))
        self.assertEqual(reader.receive().kind, PUBREL)
        self.assertTrue(reader.nothing(), "a message is under way until PUBCOMP")
        reader.send(ack(PUBCOMP, first.packet_id))
        self.assertEqual(reader.receive().kind, PUBLISH)
        reader.send(ack(PUBREC, second.packet_id, 0x80))
        self.assertEqual(reader.receive().kind, PUBLISH, "a refusal ends it, too")

    def test_expiry_counts_down_while_a_client_is_away(self):
        reader, publisher = self.lasting("away"), self.client()
        reader.subscribe(("away/#", 1))
        reader.leave()
        publisher.publish("away/1", "1", properties=[(EXPIRY, 1)])
        publisher.publish("away/2", "2", properties=[(EXPIRY, 60)])
        publisher.publish("kept", "3", retain=True, properties=[(EXPIRY, 1)])
        ended = self.witness(("ended", 1))
        # A will that waits for two seconds is the clock here.
        self.client(will=("ended", "", 1, 0, [(WILL_DELAY, 2)]), properties=LASTING).drop()
        ended.message()
        reader = self.lasting("away")
        message = reader.message()
        self.assertEqual(message.topic, "away/2")
        self.assertIn(message.property(EXPIRY), range(1, 59))
        self.assertTrue(self.witness(("kept", 1)).nothing())

    def test_an_identifier_of_a_subscription_may_be_the_largest(self):
        reader = self.client()
        reader.subscribe(("number", 1), properties=[(SUBSCRIPTION_ID, 268_435_455)])
        self.client().publish("number", "1")
        self.assertEqual(reader.message().property(SUBSCRIPTION_ID), 268_435_455)
        for wrong in ([(SUBSCRIPTION_ID, 0)], [(SUBSCRIPTION_ID, 1), (SUBSCRIPTION_ID, 2)]):
            self.refused(subscribe(1, ("number", 0), properties=wrong), 0x82)

    def test_an_alias_is_set_used_and_set_anew(self):
        reader, publisher = self.witness(("alias/#", 1)), self.client()
        for topic in ("alias/1", "", "alias/2", ""):
            publisher.publish(topic, "x", properties=[(ALIAS, 1)])
        self.assertEqual([reader.message().topic for _ in range(4)], ["alias/1"] * 2 + ["alias/2"] * 2)
        most = publisher.connack.property(ALIAS_MAX)
        self.refused(publish("alias/1", "x", 1, 1, properties=[(ALIAS, most + 1)]), 0x94)
        self.refused(publish("alias/1", "x", 1, 1, properties=[(ALIAS, 1), (ALIAS, 1)]), 0x82)

    def test_an_alias_ends_with_its_connection(self):
        client = self.lasting("alias")
        client.publish("alias/3", "x", properties=[(ALIAS, 3)])
        client.leave()
        self.ends(self.lasting("alias"), 0x94, publish("", "x", 1, 1, properties=[(ALIAS, 3)]))


class Connections(Broker):
    def test_one_and_a_half_keep_alives_of_silence_end_a_connection(self):
        for version, code in ((5, 0x8D), (4, None)):
            witness = self.witness((f"silent/{version}", 1))
            will = (f"silent/{version}", "gone", 1, 0, [])
            began = time.monotonic()
            silent = self.client(version=version, keep_alive=1, will=will)
            self.assertEqual(silent.closed(), code)
            self.assertGreaterEqual(time.monotonic() - began, 1.4)
            self.assertEqual(witness.message().payload, b"gone")

    def test_a_will_is_published_at_the_latest_with_its_session(self):
        witness = self.witness(("will/#", 1))
        lasting = [(WILL_DELAY, 600)]
        self.client(properties=[(SESSION_EXPIRY, 1)], will=("will/expired", "", 1, 0, lasting)).drop()
        self.assertEqual(witness.message().topic, "will/expired")
        old = self.client("anew", properties=LASTING, will=("will/anew", "", 1, 0, lasting))
        self.client("anew")
        self.assertEqual(witness.message().topic, "will/anew")
        self.assertEqual(old.closed(), 0x8E)

    def test_a_will_is_published_after_whatever_is_no_normal_end(self):
        witness = self.witness(("will/#", 1))
        will = ("will/wrong", "", 1, 0, [])
        self.ends(self.client(will=will), 0x82, connect("again"))
        self.assertEqual(witness.message().topic, "will/wrong")
        self.client(will=will).leave(4)
        self.assertEqual(witness.message().topic, "will/wrong")
        self.client("taken", will=will)
        self.client("taken")
        self.assertEqual(witness.message().topic, "will/wrong")

    def test_a_will_has_all_that_a_message_has(self):
        witness = self.witness(("will/#", 1))
        given = [(1, 1), (EXPIRY, 100), (CONTENT_TYPE, "t/x"), (RESPONSE_TOPIC, "r"), (CORRELATION, b"c"), (USER, ("a", "b"))]
        self.client(will=("will/all", "x", 1, 0, given)).drop()
        message = witness.message()
        for name, value in given:
            self.assertEqual(message.property(name), value)

    def test_an_assigned_identifier_is_new_each_time(self):
        names = {self.client(clean=clean).connack.property(ASSIGNED_ID) for clean in (True, False, True)}
        self.assertEqual(len(names), 3)

    def test_what_comes_behind_a_connect_at_once_is_taken(self):
        client = Client(self.address)
        self.addCleanup(client.socket.close)
        client.send(connect("eager"), subscribe(1, ("eager", 1)), publish("eager", "1", 1, 2), packet(PINGREQ, 0, b""))
        kinds = [client.receive().kind for _ in range(5)]
        self.assertEqual(kinds[0], CONNACK)

    def test_a_connect_that_contradicts_itself(self):
        for properties in ([(0x19, 2)], [(0x17, 2)], [(0x27, 0)], [(SESSION_EXPIRY, 0), (SESSION_EXPIRY, 0)], [(0x16, b"a")]):
            self.not_let_in(connect("x", properties=properties), 0x82)
        self.not_let_in(connect("x", will=("a", "x", 3, 0, [])), 0x81)
        self.not_let_in(connect("x", will=("a", "x", 0, 0, [(SUBSCRIPTION_ID, 1)])), 0x81)
        head = text("MQTT") + b"\x05\x02\x00\x00"
        for rest in (b"\x02\x7f\x00" + text(""), b"\x00", b"\x00" + text("") + b"x"):
            self.not_let_in(packet(1, 0, head + rest), 0x81)
        no_user = text("MQTT") + b"\x04\x42\x00\x00" + text("a") + text("p")
        self.not_let_in(packet(1, 0, no_user), None, version=4)


class Bytes(Broker):
    def test_identifiers_that_nobody_knows(self):
        client = self.client()
        for sent, kind in ((PUBREL, PUBCOMP), (PUBREC, PUBREL)):
            client.send(ack(sent, 77))
            answer = client.receive()
            self.assertEqual((answer.kind, answer.packet_id, answer.code), (kind, 77, 0x92))
        client.send(ack(PUBACK, 79), ack(PUBCOMP, 79))
        client.ping()
        client.send(unsubscribe(5, "nobody", "a/#"))
        self.assertEqual(client.receive().codes, [0x11, 0x11])
        older = self.client(version=4)
        older.send(ack(PUBREL, 77), unsubscribe(5, "nobody", version=4))
        self.assertEqual([older.receive().kind, older.receive().kind], [PUBCOMP, UNSUBACK])

    def test_what_3_1_1_does_not_allow_ends_the_connection(self):
        number = struct.pack(">H", 1)
        for data in (
            packet(8, 2, number), packet(10, 2, number), packet(8, 2, number + text("a") + b"\x03"),
            packet(8, 2, number + text("a") + b"\x04"), packet(8, 2, b"\x00\x00" + text("a") + b"\x00"),
            packet(3, 6, text("a") + b"\x00\x01x"), packet(3, 8, text("a") + b"x"), packet(14, 1, b""),
            packet(12, 1, b""), packet(15, 0, b""), connect("y", version=4), packet(6, 0, number),
            packet(2, 0, b"\x00\x00"), packet(13, 0, b""), publish("a/+", version=4), publish("", version=4),
        ):
            self.refused(data, None, version=4)

    def test_values_out_of_their_range(self):
        self.refused(publish("a", "1", properties=[(1, 2)]), 0x82)
        self.assertEqual(self.client().publish("a", b"\xff", properties=[(1, 1)]), 0x99)
        for options, code in ((0x30, 0x82), (0x40, 0x81), (0x80, 0x81)):
            self.refused(subscribe(1, ("a", options)), code)
        self.refused(subscribe(1, ("$share/g/a", 5)), 0x82)
        self.refused(b"\x30\x80\x80\x80\x80\x01", 0x81)
        self.refused(b"\xc0\x01\x00", 0x81)
