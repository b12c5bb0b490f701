"""A will is published in its owner's name: what he may not, or may no more, it may not either."""

import json
import time
import unittest
import urllib.parse

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from access.world import World, token, until

SINGLE = """
[role.single]
publish = ["site/one", "site/two"]
"""
DELAY_S = 8


def properties(of, **values):
    made = Properties(of)
    for name, value in values.items():
        setattr(made, name, value)
    return made


class Wills(unittest.TestCase):
    def setUp(self):
        self.world = World(more=SINGLE)
        self.addCleanup(self.world.close)
        for name in ("staying", "leaving"):
            self.world.secrets[name], self.world.entries[name] = token(name, "single")
        self.world.change()

    def leave_a_will(self, who, topic, payload, delay=0):
        """Connects with a will and leaves without taking it back."""
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, f"will-of-{who}", protocol=paho.MQTTv5)
        client.username_pw_set(who, self.world.secrets[who])
        client.will_set(topic, payload, 1, properties=properties(PacketTypes.WILLMESSAGE, WillDelayInterval=delay))
        came = []
        client.on_connect = lambda _client, _data, _flags, code, _properties: came.append(code.value)
        host, port = self.world.gateway.ready["mqtt"].rsplit(":", 1)
        kept = properties(PacketTypes.CONNECT, SessionExpiryInterval=3600)
        client.connect(host, int(port), properties=kept)
        client.loop_start()
        until(lambda: came, "CONNACK")
        self.assertEqual(came, [0])
        client.disconnect(ReasonCode(PacketTypes.DISCONNECT, identifier=4))
        client.loop_stop()

    def is_there(self, topic):
        status, said = self.world.ask("/live/" + urllib.parse.quote(topic), "writer")
        return status == 200 and json.loads(said) != []

    def test_what_is_in_it_is_asked_about_too(self):
        inner = json.dumps([{"n": "inner", "v": 1}])
        self.leave_a_will("leaving", "site/one", inner)
        self.leave_a_will("staying", "site/two", "7")
        until(lambda: self.is_there("site/two"), "the will that may be")
        self.assertFalse(self.is_there("site/one/inner"))
        self.assertTrue(self.world.events("denied"))

    def test_one_that_waits_goes_with_its_owner(self):
        for restarted in (False, True):
            with self.subTest(restarted=restarted):
                topics = {"staying": "site/two", "leaving": "site/one"}
                for who, topic in topics.items():
                    self.leave_a_will(who, topic, "7", DELAY_S)
                entry = self.world.entries.pop("leaving")
                self.world.change()
                if restarted:
                    self.world.gateway.restart()
                began = time.monotonic()
                until(lambda: self.is_there("site/two"), "the will of who stayed")
                time.sleep(max(0, DELAY_S + 1 - (time.monotonic() - began)))
                self.assertFalse(self.is_there("site/one"))
                self.world.entries["leaving"] = entry
                self.world.change()
                self.assertEqual(self.world.ask("/catalog/site/two", "writer", "DELETE")[0], 204)


if __name__ == "__main__":
    unittest.main()
