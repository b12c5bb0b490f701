"""node-coap: values, blocks both ways, an answer that takes longer, observation."""

import json
import pathlib
import subprocess
import unittest

from skips import program

from . import server

HERE = pathlib.Path(__file__).resolve().parent.parent
WAIT_S = 60


class NodeCoap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server.start(cls)

    def setUp(self):
        if not (HERE / "node_modules/coap").exists():
            program(self, "coap (npm)")
        self.node = program(self, "node")

    def command(self, *arguments):
        return [self.node, str(HERE / "javascript/coap.mjs"), *arguments]

    def ask(self, *arguments):
        said = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=WAIT_S, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        return json.loads(said.stdout)

    def test_a_value_that_is_put_is_read_over_http_and_got(self):
        topic = "node/temp"
        self.assertEqual(self.ask("PUT", f"{self.url}/live/{topic}", "21.5")["code"], "2.04")
        self.assertEqual(self.gateway.history(topic)[0]["value"], 21.5)
        got = self.ask("GET", f"{self.url}/live/{topic}?as=plain")
        self.assertEqual((got["code"], got["body"].strip()), ("2.05", "21.5"))

    def test_large_bodies_both_ways(self):
        body = "0123456789" * 500
        self.assertEqual(self.ask("PUT", f"{self.url}/large-update", body)["code"], "2.04")
        got = self.ask("GET", f"{self.url}/large-update")
        self.assertEqual((got["code"], got["body"]), ("2.05", body))

    def test_an_answer_that_takes_longer_and_one_that_is_refused(self):
        self.assertEqual(self.ask("GET", f"{self.url}/separate")["body"], "it took a while")
        self.assertEqual(self.ask("GET", f"{self.url}/nothing")["code"], "4.04")

    def test_observing_what_http_publishes(self):
        topic = "node/seen"
        self.gateway.publish_value(topic, 0)
        command = self.command("OBSERVE", f"{self.url}/live/{topic}?as=plain", "4")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for value in (0, 61, 62, 63):
                if value:
                    self.gateway.publish_value(topic, value)
                told = json.loads(process.stdout.readline())
                self.assertEqual(told["body"].strip(), str(value))
            self.assertEqual(process.wait(timeout=WAIT_S), 0)
