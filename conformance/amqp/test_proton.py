"""Qpid Proton (python-qpid-proton) against the gateway: links, settlement, credit, filters, cursors."""

import json
import unittest
import uuid

from proton import Delivery, Link, Message, Timeout, symbol, ulong
from proton.reactor import Selector
from proton.utils import LinkDetached, SendException

from amqp.peers import Mode, Takes, Weir, annotation, connection, gateway, text


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = gateway(cls)

    # [AMQP-2.6.12-1] [AMQP-3.4-1]
    def test_a_value_appears_at_http_and_at_a_receiver(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("kitchen/#", credit=10)
            sender = peer.create_sender("kitchen/temp")
            delivery = sender.send(Message(body=b"21.5", inferred=True))
            self.assertEqual(delivery.remote_state, Delivery.ACCEPTED)
            got = receiver.receive()
            receiver.accept()
            self.assertEqual(text(got), "21.5")
            self.assertEqual(got.address, "kitchen/temp")
            self.assertTrue(annotation(got, "weir-cursor"))
        said = self.gateway.request("GET", "/live/kitchen/temp", headers={"Accept": "application/json"})[2]
        self.assertEqual(json.loads(said)["observations"][0]["value"], 21.5)

    def test_values_of_other_types_are_taken_too(self):
        bodies = {"text": "1.5", "double": 1.5, "map": {"value": 1.5, "unit": "V"}}
        with connection(self.gateway) as peer:
            for name, body in bodies.items():
                peer.create_sender(f"types/{name}").send(Message(body=body))
        for name in bodies:
            said = self.gateway.request("GET", f"/live/types/{name}/%23", headers={"Accept": "application/json"})[2]
            self.assertIn(1.5, [each["value"] for each in json.loads(said)["observations"]], name)

    # [AMQP-2.8.2-1] [AMQP-2.8.3-1] [AMQP-2.6.12-2]
    def test_every_settlement_mode_delivers(self):
        modes = [(Link.SND_SETTLED, Link.RCV_FIRST), (Link.SND_UNSETTLED, Link.RCV_FIRST),
                 (Link.SND_MIXED, Link.RCV_FIRST), (Link.SND_UNSETTLED, Link.RCV_SECOND)]
        for number, (snd, rcv) in enumerate(modes):
            with self.subTest(snd=snd, rcv=rcv), connection(self.gateway) as peer:
                topic = f"modes/{number}"
                receiver = peer.create_receiver(topic, credit=10, options=[Mode(snd, rcv)])
                self.assertEqual(receiver.link.remote_snd_settle_mode, snd)
                self.assertEqual(receiver.link.remote_rcv_settle_mode, rcv)
                # A blocking sender never settles first, so its receiver does.
                sender = peer.create_sender(topic, options=[Mode(snd)])
                for value in range(3):
                    sender.send(Message(body=str(value).encode(), inferred=True))
                got = []
                for _ in range(3):
                    got.append(text(receiver.receive()))
                    if snd != Link.SND_SETTLED:
                        receiver.accept()
                self.assertEqual(got, ["0", "1", "2"])

    # [AMQP-3.4.3-1]
    def test_what_cannot_be_read_is_rejected_and_the_link_goes_on(self):
        with connection(self.gateway) as peer:
            sender = peer.create_sender("poison")
            bad = Message(body=b'{"value": ', inferred=True, content_type="application/json")
            with self.assertRaises(SendException) as raised:
                sender.send(bad)
            self.assertEqual(raised.exception.state, Delivery.REJECTED)
            good = sender.send(Message(body=b'{"value": 1}', inferred=True, content_type="application/json"))
            self.assertEqual(good.remote_state, Delivery.ACCEPTED)

    def test_what_contradicts_a_declaration_is_rejected(self):
        self.gateway.request("PUT", "/catalog/said/a", '{"unit":"m"}', {"Content-Type": "application/json"})
        body = b'{"value":5,"unit":"s"}'
        with connection(self.gateway) as peer:
            sender = peer.create_sender("said/a")
            for content_type in (None, "text/plain", "application/json"):
                with self.subTest(content_type=content_type), self.assertRaises(SendException) as raised:
                    sender.send(Message(body=body, inferred=True, content_type=content_type))
                self.assertEqual(raised.exception.state, Delivery.REJECTED)
            good = sender.send(Message(body=b'{"value":5,"unit":"cm"}', inferred=True))
            self.assertEqual(good.remote_state, Delivery.ACCEPTED)
        entry = json.loads(self.gateway.request("GET", "/catalog/said/a")[2])
        self.assertNotIn("problem", entry)

    # [AMQP-2.6.7-1]
    def test_no_more_comes_than_there_is_credit_for(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("credit/#", credit=1)
            sender = peer.create_sender("credit/a")
            for value in range(5):
                sender.send(Message(body=str(value).encode(), inferred=True))
            got = []
            for _ in range(5):
                got.append(text(receiver.receive()))
                receiver.accept()
            self.assertEqual(got, ["0", "1", "2", "3", "4"])

    # [AMQP-2.6.7-2]
    def test_who_gives_no_more_credit_waits_alone(self):
        with connection(self.gateway) as poor, connection(self.gateway) as rich:
            # One that is given credit by hand: what counts it for a receiver gives more whenever a message comes.
            waits = poor.create_receiver("spent/#")
            waits.link.flow(3)
            poor.create_sender("elsewhere")
            others = rich.create_receiver("spent/#", credit=20)
            sender = rich.create_sender("spent/a")
            for value in range(10):
                sender.send(Message(body=str(value).encode(), inferred=True))
            got = []
            for _ in range(10):
                got.append(text(others.receive()))
                others.accept()
            self.assertEqual(got, [str(value) for value in range(10)])
            # What it has credit for has come meanwhile, and nothing else; asking for one more gives credit for one.
            poor.wait(lambda: len(waits.fetcher.incoming) == 3, msg="what there is credit for")
            with self.assertRaises(Timeout):
                poor.wait(lambda: len(waits.fetcher.incoming) > 3, timeout=0.5)
            got = []
            for _ in range(10):
                message = waits.receive()
                self.assertIsNone(annotation(message, "weir-gap"))
                got.append(text(message))
                waits.accept()
            self.assertEqual(got, [str(value) for value in range(10)])

    # [AMQP-2.6.14-1] [AMQP-2.3.1-1]
    def test_a_message_of_many_frames_goes_in_and_out(self):
        body = json.dumps({"value": "x" * 900_000}).encode()
        with connection(self.gateway, max_frame_size=4096) as peer:
            receiver = peer.create_receiver("big", credit=10)
            sender = peer.create_sender("big")
            sender.send(Message(body=body, inferred=True, content_type="application/json"))
            got = receiver.receive()
            self.assertEqual(bytes(got.body), body)
            receiver.accept()

    # [AMQP-2.6.3-1] [AMQP-2.8.18-1]
    def test_a_message_too_large_ends_its_link_alone(self):
        with connection(self.gateway) as peer:
            other = peer.create_sender("small")
            with self.assertRaises((LinkDetached, SendException)):
                peer.create_sender("large").send(Message(body=b"x" * (3 << 20), inferred=True))
            self.assertEqual(other.send(Message(body=b"1", inferred=True)).remote_state, Delivery.ACCEPTED)

    # [AMQP-3.4.4-1] [AMQP-3.4.5-1]
    def test_what_is_released_comes_again_and_says_if_modified(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("again", credit=10)
            peer.create_sender("again").send(Message(body=b"7", inferred=True))
            self.assertEqual(text(receiver.receive()), "7")
            receiver.release(delivered=False)
            self.assertEqual(text(receiver.receive()), "7")
            receiver.fetcher.unsettled[0].local.failed = True
            receiver.release(delivered=True)
            third = receiver.receive()
            self.assertEqual((text(third), third.delivery_count), ("7", 1))
            receiver.accept()

    def test_a_key_against_repeats_is_an_annotation(self):
        message = Message(body=b'{"value": 3}', inferred=True, content_type="application/json")
        message.annotations = {symbol("Idempotency-Key"): "once"}
        with connection(self.gateway) as peer:
            sender = peer.create_sender("once/a")
            for _ in range(2):
                self.assertEqual(sender.send(message).remote_state, Delivery.ACCEPTED)
        self.assertEqual(len(self.gateway.history("once/a")), 1)

    def test_properties_go_through(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("properties", credit=10)
            message = Message(body=b'{"value": 1}', inferred=True, reply_to="answers/1", correlation_id="c-1",
                              content_type="application/json", properties={"site": "north", "line": 4})
            peer.create_sender("properties").send(message)
            got = receiver.receive()
            receiver.accept()
            self.assertEqual((got.reply_to, got.correlation_id, got.content_type),
                             ("answers/1", "c-1", "application/json"))
            self.assertEqual(got.properties, {"site": "north", "line": 4})

    # [AMQP-3.2-2]
    def test_the_bare_message_is_what_it_was(self):
        """AMQP 1.0 part 3, section 3.2: nobody on the way changes it."""
        some = uuid.UUID(int=7)
        given = {"count": 3, "ratio": 0.5, "on": True, "id": some, "name": "north"}
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("bare/#", credit=50)
            for number, (known_as, body, inferred) in enumerate(
                [
                    (ulong(7), b'{"value": 1}', True),
                    (some, "21.5", False),
                    (b"\xff\x00", {"value": 1.5, "unit": "V"}, False),
                    ("m-1", [1, 2.5, "three"], False),
                    (ulong(2**63), b"\x00\x01", False),
                ]
            ):
                message = Message(body=body, inferred=inferred, id=known_as, correlation_id=known_as, subject="about",
                                  user_id=b"ann", creation_time=1.5, group_id="g", group_sequence=3, properties=given)
                peer.create_sender(f"bare/{number}").send(message)
                got = receiver.receive()
                receiver.accept()
                for name in ("id", "correlation_id", "subject", "user_id", "creation_time", "group_id",
                             "group_sequence", "properties", "body", "content_type"):
                    self.assertEqual(getattr(got, name), getattr(message, name), (name, body))
                self.assertEqual(got.inferred, inferred, body)
                self.assertEqual(got.address, f"bare/{number}")


class Filters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = gateway(cls)

    def publish(self, topic, *values):
        for value in values:
            self.gateway.publish_value(topic, value)

    def receive(self, receiver, count):
        got = []
        for _ in range(count):
            got.append(receiver.receive())
            receiver.accept()
        return got

    def test_an_address_may_have_wildcards(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("wild/+/temp", credit=10)
            self.publish("wild/a/temp", 1)
            self.publish("wild/a/hum", 2)
            self.publish("wild/b/temp", 3)
            got = self.receive(receiver, 2)
            self.assertEqual([each.address for each in got], ["wild/a/temp", "wild/b/temp"])

    # [AMQP-3.5.8-1]
    def test_a_condition_and_a_selector_choose(self):
        for number, chosen in enumerate([Weir(where="value>2"), Selector("value > 2")]):
            with connection(self.gateway) as peer:
                receiver = peer.create_receiver(f"chosen/{number}", credit=10, options=chosen)
                self.publish(f"chosen/{number}", 1, 3, 2, 4)
                got = [json.loads(text(each)) for each in self.receive(receiver, 2)]
                self.assertEqual([each["value"] if "value" in each else each["observations"][0]["value"]
                                  for each in got], [3, 4])

    def test_a_unit_is_asked_for(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("asked/unit", credit=10, options=Weir(unit="cm"))
            for unit, value in (("m", 1.5), ("cm", 20)):
                self.gateway.publish("asked/unit", {"value": value, "unit": unit})
            got = [json.loads(text(each)) for each in self.receive(receiver, 2)]
            rows = [each if "value" in each else each["observations"][0] for each in got]
            self.assertEqual([(row["value"], row["unit"]) for row in rows], [(150, "cm"), (20, "cm")])

    # [AMQP-3.5.8-2]
    def test_a_filter_that_is_not_known_is_not_in_effect_and_said_so(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("said", credit=1, options=Selector("colour = 'green'"))
            filters = receiver.link.remote_source.filter
            filters.rewind()
            found = filters.next() and filters.get_object()
            self.assertFalse(found)

    def test_a_format_is_asked_for(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("asked/a", credit=10, options=Weir(format="cbor"))
            prefixed = peer.create_receiver("$as/csv/asked/a", credit=10)
            self.publish("asked/a", 5)
            self.assertEqual(self.receive(receiver, 1)[0].content_type, "application/cbor")
            self.assertIn("csv", self.receive(prefixed, 1)[0].content_type)

    def test_every_format_goes_in_and_comes_out(self):
        with connection(self.gateway) as peer:
            for name in [each["name"] for each in self.gateway.formats()]:
                with self.subTest(format=name):
                    topic = f"formats/{name}"
                    receiver = peer.create_receiver(f"$as/{name}/{topic}", credit=10)
                    self.publish(topic, 21.5)
                    # What Proton gives of a body lives as long as its message.
                    message = self.receive(receiver, 1)[0]
                    body = bytes(message.body)
                    receiver.close()
                    sender = peer.create_sender(f"$as/{name}/{topic}")
                    delivery = sender.link.send(Message(body=body, inferred=True))
                    peer.wait(lambda: delivery.settled)
                    self.assertEqual(delivery.remote_state, Delivery.ACCEPTED, delivery.remote.condition)

    def test_a_receiver_resumes_behind_its_cursor(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("resume/a", credit=10)
            self.publish("resume/a", 1)
            cursor = annotation(self.receive(receiver, 1)[0], "weir-cursor")
        self.publish("resume/a", 2, 3)
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("resume/a", credit=10, options=Weir(since=cursor))
            self.assertEqual([json.loads(text(each))["value"] for each in self.receive(receiver, 2)], [2, 3])

    def test_a_message_larger_than_a_receiver_takes_is_a_gap(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("small/a", credit=10, options=Takes(1000))
            self.publish("small/a", "x" * 2000)
            self.publish("small/a", "y" * 2000)
            self.publish("small/a", "z")
            got = receiver.receive()
            self.assertEqual(annotation(got, "weir-gap"), "policy:2")
            self.publish("small/a", "end")
            self.assertIsNone(annotation(receiver.receive(), "weir-gap"))

    def test_a_cursor_of_another_log_is_a_gap(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("gap/a", credit=10, options=Weir(since="7fff-1"))
            self.publish("gap/a", 1)
            got = self.receive(receiver, 1)[0]
            self.assertIn(annotation(got, "weir-gap").split(":")[0], ("foreign", "rollback"))
