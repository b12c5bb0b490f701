"""The gateway as a component of ejabberd, by the lines that the guide says."""

import json
import os
import subprocess
import unittest

from gateway import BINARY
from xmpp.client import Client
from xmpp.ejabberd import Ejabberd
from xmpp.prosody import Prosody, connected, metric, until
from xmpp.test_faults import GOES_ON, Relay


class BehindEjabberd(unittest.TestCase):
    def setUp(self):
        self.ejabberd = Ejabberd(self)

    def test_what_is_published_is_told_though_ejabberd_was_killed(self):
        gateway = self.ejabberd.gateway(self)
        bob = Client(self, self.ejabberd, "bob")
        bob.subscribe("kitchen/#")
        cursor = Client(self, self.ejabberd).publish_value("kitchen/temp", 21.5)
        self.assertEqual(bob.next().id, cursor)
        self.assertEqual(gateway.history("kitchen/temp")[0]["value"], 21.5)
        self.ejabberd.stop()
        connected(gateway, False)
        gateway.publish("kitchen/temp", {"value": 22.5})
        self.ejabberd.start()
        connected(gateway)
        ann = Client(self, self.ejabberd)
        ann.subscribe("$as/json/kitchen/temp", since=cursor)
        self.assertEqual(json.loads(ann.next().text)["observations"][0]["value"], 22.5)

    # [RFC5802-5.1-1] [RFC6120-5.4-1] [XEP0198-3-1] [XEP0198-5-1]
    def test_weirs_client_logs_in_and_resumes_its_stream(self):
        gateway = self.ejabberd.gateway(self)
        relay = Relay(self, self.ejabberd.c2s)

        def weir(verb, url, *arguments):
            process = subprocess.Popen(
                [BINARY, verb, "--cacert", self.ejabberd.certificate, url, "kitchen/temp", *arguments], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=os.environ | {"RUST_LOG": "info"})
            self.addCleanup(process.kill)
            return process

        reader = weir("sub", self.ejabberd.url(relay.port), "--count", "3")
        until(lambda: metric(gateway, "weir_xmpp_subscriptions") == 1, "the subscription")
        writer = weir("pub", self.ejabberd.url(), "--as", "plain")
        _, said = writer.communicate("1\n", timeout=60)
        self.assertEqual(writer.returncode, 0, said)
        lines = [reader.stdout.readline()]
        relay.cut()
        for value in (2, 3):
            gateway.publish_value("kitchen/temp", value)
        out, said = reader.communicate(timeout=60)
        values = [json.loads(line)["observations"][0]["value"] for line in lines + out.splitlines()]
        self.assertEqual(values, [1, 2, 3], said)
        self.assertIn(GOES_ON, said)

    def test_a_wrong_secret_is_said(self):
        gateway = self.ejabberd.gateway(self, password="another")
        until(lambda: "refuses: not-authorized" in Prosody.log_of(gateway), "the refusal")
