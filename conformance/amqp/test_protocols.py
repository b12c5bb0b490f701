"""What other protocols publish comes out by AMQP, and the other way round, with real clients at both ends."""

import json
import threading
import unittest

import paho.mqtt.client as paho

from amqp.peers import Message, connection, gateway, text


class Others(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = gateway(cls)

    def mqtt(self):
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        host, port = self.gateway.ready["mqtt"].rsplit(":", 1)
        client.connect(host, int(port))
        client.loop_start()
        self.addCleanup(client.loop_stop)
        return client

    def test_mqtt_in_amqp_out(self):
        with connection(self.gateway) as peer:
            receiver = peer.create_receiver("both/#", credit=10)
            self.mqtt().publish("both/mqtt", "21.5", qos=1).wait_for_publish(10)
            got = receiver.receive()
            receiver.accept()
            self.assertEqual((got.address, text(got)), ("both/mqtt", "21.5"))

    def test_amqp_in_mqtt_and_http_out(self):
        client, came, subscribed = self.mqtt(), [], threading.Event()
        arrived = threading.Event()

        def on_message(_client, _userdata, message):
            came.append((message.topic, message.payload, message.qos))
            arrived.set()

        client.on_message = on_message
        client.on_subscribe = lambda *_: subscribed.set()
        client.subscribe("back/#", qos=1)
        self.assertTrue(subscribed.wait(10))
        with connection(self.gateway) as peer:
            peer.create_sender("back/amqp").send(Message(body=b"3.5", inferred=True))
        self.assertTrue(arrived.wait(10))
        self.assertEqual(came, [("back/amqp", b"3.5", 1)])
        said = self.gateway.request("GET", "/live/back/amqp", headers={"Accept": "application/json"})[2]
        self.assertEqual(json.loads(said)["observations"][0]["value"], 3.5)

    def test_messages_are_counted(self):
        with connection(self.gateway) as peer:
            peer.create_sender("count").send(Message(body=b"1", inferred=True))
        said = self.gateway.request("GET", "/metrics")[2].decode()
        lines = [line for line in said.splitlines() if 'binding="amqp"' in line or 'scheme="amqp"' in line]
        self.assertTrue(any(not line.endswith(" 0") for line in lines), lines or said[:2000])


class Survives(unittest.TestCase):
    def test_what_was_accepted_is_there_after_a_kill(self):
        made = gateway(type(self))
        with connection(made) as peer:
            sender = peer.create_sender("kept")
            for value in range(20):
                sender.send(Message(body=str(value).encode(), inferred=True))
            made.kill()
        made.start()
        self.assertEqual([row["value"] for row in made.history("kept")], list(range(20)))
