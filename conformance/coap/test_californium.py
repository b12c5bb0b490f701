"""Californium, on the JVM: blocks both ways, an answer that takes longer, observation."""

import pathlib
import subprocess
import unittest

from skips import program, skip

from . import server

HERE = pathlib.Path(__file__).resolve().parent
JARS = HERE.parent.parent / "build" / "java"


class Californium(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server.start(cls)

    def setUp(self):
        self.java = program(self, "java")
        jars = [jar for jar in JARS.glob("*.jar") if jar.name.startswith(("californium-", "element-", "slf4j-"))]
        if len(jars) < 3:
            skip(self, "no californium-core (build/java)")
        self.path = ":".join(map(str, jars))

    def command(self, *arguments):
        return [self.java, "-cp", self.path, str(HERE / "java" / "Peer.java"), *arguments]

    def run_peer(self, *arguments):
        ended = subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, timeout=120)
        return ended.stdout.strip()

    def test_large_bodies_both_ways(self):
        body = "0123456789" * 500
        self.assertEqual(self.run_peer("put", f"{self.url}/large-update", body), "2.04")
        self.assertEqual(self.run_peer("get", f"{self.url}/large-update"), "2.05 " + body)

    def test_an_answer_that_takes_longer(self):
        self.assertEqual(self.run_peer("get", f"{self.url}/separate"), "2.05 it took a while")

    def test_a_value_that_is_put_is_read_over_http(self):
        self.assertEqual(self.run_peer("put", f"{self.url}/live/californium/temp", "21.5"), "2.04")
        self.assertEqual(self.gateway.history("californium/temp")[0]["value"], 21.5)

    def test_observing_what_http_publishes(self):
        topic = "californium/seen"
        self.gateway.publish_value(topic, 0)
        url = f"{self.url}/live/{topic}"
        with subprocess.Popen(self.command("observe", url, "4"), stdout=subprocess.PIPE, text=True) as process:
            seen = [process.stdout.readline()]
            for value in (61, 62, 63):
                self.gateway.publish_value(topic, value)
                seen.append(process.stdout.readline())
            process.wait(timeout=60)
        for line, value in zip(seen, (0, 61, 62, 63), strict=True):
            self.assertTrue(line.startswith("2.05 ") and f'"value":{value},' in line, line)
