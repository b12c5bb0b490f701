"""weir as a client over TLS to a real RabbitMQ, by 0.9.1 and by 1.0: whom it trusts, and what it says where it does not."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import certificate
import pika
from amqp.rabbitmq import RabbitMQ
from amqp.test_bridge import lines, metric, until
from gateway import BINARY, Gateway

VERSIONS = ("amqps091", "amqps10", "amqps")
WAIT_S = 60
NOT_TRUSTED = "UnknownIssuer: no authority that is trusted here has signed it"
ANOTHER_NAME = 'certificate not valid for name "127.0.0.1"; certificate is only valid for DnsName("localhost")'


class Named:
    @staticmethod
    def id():
        return __name__


def setUpModule():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-amqps-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    Trust.right, Trust.wrong = certificate.authority(folder), certificate.authority(folder, "other")
    # For one name only: 127.0.0.1, where it listens too, is another.
    pair = certificate.signed(folder, "broker", "extendedKeyUsage=serverAuth\nsubjectAltName=DNS:localhost")
    Trust.broker = RabbitMQ(Named, unittest.addModuleCleanup, pair)


class Trust(unittest.TestCase):
    def url(self, scheme, host="localhost"):
        return f"{scheme}://{host}:{self.broker.tls_port}"

    def weir(self, command, url, topic, authority=None):
        trusted = ("--cacert", authority) if authority else ()
        done = subprocess.run([BINARY, command, *trusted, url, topic], input="21.5", capture_output=True, text=True, timeout=WAIT_S)
        return done.returncode, done.stderr

    def test_it_works_where_the_authority_is_trusted(self):
        for scheme in VERSIONS:
            with self.subTest(scheme=scheme):
                url = self.url(scheme)
                command = [BINARY, "sub", "--cacert", self.right, url, f"{scheme}/#"]
                with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as subscriber:
                    try:
                        self.subscribed(scheme)
                        code, said = self.weir("pub", url, f"{scheme}/t", self.right)
                        self.assertEqual(code, 0, said)
                        came = [subscriber.stdout.readline() for _ in range(2)]
                        self.assertIn("20.5", came[0])
                        self.assertIn("21.5", came[1])
                    finally:
                        subscriber.kill()

    def subscribed(self, scheme):
        """Waits until the broker has a queue bound for it: what is published with nobody there comes back."""
        connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", self.broker.port, heartbeat=0))
        channel = connection.channel()
        channel.confirm_delivery()

        def is_bound():
            try:
                channel.basic_publish("amq.topic", f"{scheme}.t", b"20.5", mandatory=True)
            except pika.exceptions.UnroutableError:
                return False
            return True

        until(is_bound)
        connection.close()

    def refusals(self):
        """URL, authority, and what is said of it."""
        for scheme in VERSIONS:
            yield self.url(scheme), self.wrong, NOT_TRUSTED
            yield self.url(scheme), None, NOT_TRUSTED
            yield self.url(scheme, "127.0.0.1"), self.right, ANOTHER_NAME

    def test_another_authority_or_name_is_refused_and_named(self):
        for url, authority, reason in self.refusals():
            for command in ("pub", "sub"):
                with self.subTest(url=url, command=command, authority=authority):
                    code, said = self.weir(command, url, "a/b", authority)
                    self.assertEqual(code, 1)
                    self.assertEqual(said, f"weir: {url}: invalid peer certificate: {reason}\n")

    def bridge(self, url, authority):
        settings = {"amqp.bridge.site.url": url, "amqp.bridge.site.max_retry_seconds": "1"} | lines("out", "up/#")
        if authority:
            settings["amqp.bridge.site.ca_file"] = authority
        made = Gateway(settings=settings)
        self.addCleanup(made.close)
        return made

    def test_a_bridge_goes_by_the_authority_of_its_setting(self):
        for scheme in VERSIONS:
            with self.subTest(scheme=scheme):
                made = self.bridge(self.url(scheme), self.right)
                until(lambda made=made: metric(made, "weir_bridge_connected") == 1)
                made.kill()

    def test_a_bridge_says_so_in_its_log_and_does_not_connect(self):
        for url, authority, reason in [
            (self.url("amqps091"), self.wrong, NOT_TRUSTED), (self.url("amqps10", "127.0.0.1"), self.right, ANOTHER_NAME),
        ]:
            with self.subTest(url=url):
                made = self.bridge(url, authority)
                log = pathlib.Path(f"{made.data}.log")
                until(lambda log=log: "cannot connect" in log.read_text())
                self.assertIn(f"cannot connect to {url}: invalid peer certificate: {reason}; next attempt", log.read_text())
                self.assertEqual(metric(made, "weir_bridge_connected"), 0)
