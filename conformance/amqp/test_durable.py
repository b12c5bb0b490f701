"""Durable links: Proton goes away and comes again."""

import unittest

from proton.reactor import Container, DurableSubscription

from amqp.peers import Message, connection, gateway, text


class Durable(unittest.TestCase):
    def setUp(self):
        self.gateway = gateway(type(self))

    def connection(self):
        container = Container()
        container.container_id = "station"
        return connection(self.gateway, container=container)

    def publish(self, *values):
        with connection(self.gateway) as peer:
            sender = peer.create_sender("kept/a")
            for value in values:
                sender.send(Message(body=str(value).encode(), inferred=True))

    def receive(self, peer, count):
        receiver = peer.create_receiver("kept/#", credit=10, name="mine", options=DurableSubscription())
        got = []
        for _ in range(count):
            got.append(text(receiver.receive()))
            receiver.accept()
        return receiver, got

    # [AMQP-3.5.5-1]
    def test_what_was_missed_comes_after_a_crash_and_only_once(self):
        with self.connection() as peer:
            receiver, _ = self.receive(peer, 0)
            self.publish(1, 2)
            self.assertEqual([text(receiver.receive())], ["1"])
            receiver.accept()
            receiver.detach()
        self.publish(3)
        with self.connection() as peer:
            receiver, got = self.receive(peer, 2)
            self.assertEqual(got, ["2", "3"])
            receiver.detach()
        self.publish(4)
        self.gateway.restart()
        with self.connection() as peer:
            receiver, got = self.receive(peer, 1)
            self.assertEqual(got, ["4"])
            # Closed, it is forgotten.
            receiver.close()
        self.publish(5)
        with self.connection() as peer:
            receiver, _ = self.receive(peer, 0)
            self.publish(6)
            self.assertEqual(text(receiver.receive()), "6")
            receiver.accept()
            receiver.close()
