"""Subscriptions by every delivery scheme: in order, resumed behind a kill, gaps told; plain and by asyncio."""

import asyncio
import unittest

import gateway as process
from weir import AsyncGateway, Gap, Gateway, Message, Refused

from .publisher import Publisher

DELIVERIES = ("sse", "websocket", "longpoll")


def values(message):
    return [observation.value for observation in message.observations]


def take(events, count):
    """The next results, so many; a gap on the way is a failure."""
    taken = []
    while len(taken) < count:
        event = next(events)
        assert isinstance(event, Message), event
        taken += values(event)
    return taken


class Subscriptions(unittest.TestCase):
    def setUp(self):
        self.process = self.enterContext(process.Gateway())
        self.gateway = self.enterContext(Gateway(self.process.url))

    def test_every_delivery_gives_all_in_order_behind_a_cursor(self):
        since = self.gateway.publish("a/x", 0)
        for value in range(1, 6):
            self.gateway.publish("a/x", value)
        for delivery in DELIVERIES:
            with self.subTest(delivery), self.gateway.subscribe("a/#", delivery=delivery, since=since) as events:
                self.assertEqual(take(events, 5), [1, 2, 3, 4, 5])

    def test_a_cursor_in_hand_continues_behind_its_event(self):
        since = self.gateway.publish("a/x", 0)
        for value in range(1, 6):
            self.gateway.publish("a/x", value)
        for delivery in ("sse", "websocket"):
            with self.subTest(delivery):
                with self.gateway.subscribe("a/#", delivery=delivery, since=since) as events:
                    while take(events, 1) != [3]:
                        pass
                    cursor = events.cursor
                with self.gateway.subscribe("a/#", since=cursor) as events:
                    rest = take(events, 2)
                # A batch has one cursor on a WebSocket: what comes again is less than a batch, and nothing is missing.
                self.assertEqual(rest, [4, 5] if delivery == "sse" else rest)
                self.assertLessEqual(rest[0], 4)

    def test_a_snapshot_comes_first(self):
        self.gateway.publish("a/x", 7)
        for delivery in DELIVERIES:
            with self.subTest(delivery), self.gateway.subscribe("a/#", delivery=delivery, snapshot=True) as events:
                self.assertEqual(take(events, 1), [7])

    def test_several_filters_and_conditions_are_the_gateways(self):
        since = self.gateway.publish("a/x", 1)
        for topic, value in (("a/x", 2), ("b/x", 90), ("c/x", 91), ("a/x", 92)):
            self.gateway.publish(topic, value)
        for delivery in DELIVERIES:
            wanted = self.gateway.subscribe("a/#", "b/+", delivery=delivery, since=since, where="value>80")
            with self.subTest(delivery), wanted as events:
                self.assertEqual(take(events, 2), [90, 92])

    def test_a_killed_gateway_is_found_again_and_nothing_is_missing(self):
        for delivery in DELIVERIES:
            with self.subTest(delivery), self.gateway.subscribe("k/#", delivery=delivery, snapshot=True) as events:
                self.gateway.publish("k/x", 1)
                while take(events, 1) != [1]:
                    pass
                self.process.restart()
                self.gateway.publish("k/x", 2)
                self.gateway.publish("k/x", 3)
                self.assertEqual(take(events, 2), [2, 3])

    def test_a_cursor_of_elsewhere_is_a_gap_with_its_reason(self):
        with process.Gateway() as other:
            for delivery in DELIVERIES:
                here = Gateway(other.url)
                here.publish("a/x", 1)
                with self.subTest(delivery), here.subscribe("a/#", delivery=delivery, since="77-5") as events:
                    gap = next(events)
                    self.assertIsInstance(gap, Gap)
                    self.assertEqual(gap.reason, "foreign")
                    here.publish("a/x", 2)
                    self.assertIn(2, take(events, 1))

    def test_arrow_comes_as_a_table_by_every_delivery(self):
        since = self.gateway.publish("a/x", 1, unit="m")
        self.gateway.publish("a/x", 2.5)
        for delivery in DELIVERIES:
            wanted = self.gateway.subscribe("a/#", delivery=delivery, since=since, format="arrow")
            with self.subTest(delivery), wanted as events:
                message = next(events)
                self.assertEqual(message.table()["value"].to_pylist(), [2.5])
                self.assertEqual(list(message.frame()["unit"]), ["m"])
                self.assertEqual(values(message), [2.5])

    def test_other_formats_come_as_bytes(self):
        since = self.gateway.publish("a/x", 1)
        self.gateway.publish("a/x", 2)
        with self.gateway.subscribe("a/x", since=since, format="cbor") as events:
            message = next(events)
        self.assertIsInstance(message.payload, bytes)
        with self.assertRaisesRegex(ValueError, "format='json'"):
            message.observations
        with self.assertRaisesRegex(ValueError, "no format 'yaml'"):
            next(self.gateway.subscribe("a/x", format="yaml"))

    def test_windows_come_by_a_websocket_without_a_cursor(self):
        with self.gateway.subscribe("w/#", delivery="websocket", agg="count:1s") as events:
            with Publisher(self.process.url, "w/x") as publisher:
                self.assertGreaterEqual(values(next(events))[0], 1)
            self.assertIsNone(publisher.failure)

    def test_a_filter_that_is_none_ends_the_subscription(self):
        for delivery in DELIVERIES:
            with self.subTest(delivery), self.assertRaises(Refused) as refused:
                next(self.gateway.subscribe("a/#/b", delivery=delivery))
            self.assertEqual(refused.exception.status, 400)

    def test_asyncio_follows_publishes_and_survives_a_kill(self):
        for delivery in DELIVERIES:
            with self.subTest(delivery):
                self.assertEqual(asyncio.run(self.followed(delivery)), [1, 2, 3])

    async def followed(self, delivery):
        async with AsyncGateway(self.process.url) as gateway:
            since = await gateway.publish(f"{delivery}/x", 0)
            taken = []
            async with gateway.subscribe(f"{delivery}/#", delivery=delivery, since=since) as events:
                await gateway.publish(f"{delivery}/x", 1)
                taken += values(await anext(events))
                await asyncio.to_thread(self.process.restart)
                await gateway.publish_all(delivery, [{"topic": f"{delivery}/x", "value": n} for n in (2, 3)])
                taken += values(await anext(events))
            return taken
