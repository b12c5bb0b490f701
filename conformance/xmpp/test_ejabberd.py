"""The gateway as a component of ejabberd, by the lines that the guide says."""

import json
import unittest

from xmpp.client import Client
from xmpp.ejabberd import Ejabberd
from xmpp.prosody import Prosody, connected, until


class BehindEjabberd(unittest.TestCase):
    def setUp(self):
        self.ejabberd = Ejabberd(self)

    def test_what_is_published_is_told_also_when_ejabberd_was_killed_and_started_again(self):
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

    def test_a_wrong_secret_is_said(self):
        gateway = self.ejabberd.gateway(self, password="another")
        until(lambda: "refuses: not-authorized" in Prosody.log_of(gateway), "the refusal")
