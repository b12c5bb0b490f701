"""@cloudamqp/amqp-client in Node.js, through RabbitMQ to the gateway and back."""

import json
import pathlib
import subprocess

from amqp.rabbitmq import RabbitMQ
from amqp.test_bridge import WAIT_S, Bridged, Named, lines
from skips import program

SCRIPT = pathlib.Path(__file__).parent.parent / "javascript" / "amqp091.mjs"


class FromNode(Bridged):
    @classmethod
    def setUpClass(cls):
        cls.node = program(Named, "node")
        cls.broker = RabbitMQ(Named, cls.addClassCleanup)

    def test_what_it_publishes_comes_to_the_gateway_and_back(self):
        made = self.gateway(lines("out", "up/#"), lines("in", "down/#"))
        self.bridged(made)
        command = [self.node, SCRIPT, self.broker.url("amqp"), "down.t", "up.#"]
        with subprocess.Popen(command, cwd=SCRIPT.parent, stdout=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            self.assertEqual(process.stdout.readline(), "bound\n")
            self.assertEqual(self.values(made, "down/t", 3.5), [3.5])
            made.publish("up/t", '{"value": 21.5}')
            came = json.loads(process.stdout.readline())
            self.assertEqual(process.wait(WAIT_S), 0)
        expected = {"key": "up.t", "body": '{"value": 21.5}', "contentType": "application/json", "deliveryMode": 2}
        self.assertEqual(came, expected)
