"""Every format in every delivery scheme: the lists come from the gateway, the loop from here."""

import json
import unittest

from carried import SENT, check
from decoders import DECODERS
from gateway import Gateway
from readers import SCHEMES

gateway = None


def described(form):
    """A format of GET /formats with the keys that readers use."""
    media = form.get("media") or form.get("mediaType") or form.get("media_type")
    binary = {"cbor", "senml-cbor", "msgpack", "protobuf"}
    return {"name": form["name"], "media": media, "text": form.get("text", form["name"] not in binary)}


class EveryFormat(unittest.TestCase):
    """Filled below: one test per format and scheme."""


def cell(form, scheme):
    def test(self):
        self.assertIn(form["name"], DECODERS, "no independent decoder of this format")
        topic = f"formats/{form['name']}/{scheme}"
        before = gateway.cursor()
        gateway.publish(topic, {"observations": [SENT]})
        messages, cursor = next(SCHEMES[scheme](gateway, topic, form, since=before))
        self.assertTrue(cursor)
        check(self, form, topic, DECODERS[form["name"]](messages[0]))

    test.__doc__ = f"{form['name']} by {scheme}"
    return test


class EveryFormatIn(unittest.TestCase):
    """What the gateway says in a format, it reads in that format."""


def echo(form):
    def test(self):
        source, target = f"echo/{form['name']}", f"echoed/{form['name']}"
        gateway.publish(source, {"observations": [SENT]})
        _, _, data = gateway.request("GET", f"/live/{source}", headers={"Accept": form["media"]})
        # Where the topic stands as text, the message can move to another.
        topic = target if form["text"] and source.encode() in data else source
        data = data.replace(source.encode(), topic.encode())
        gateway.publish(topic, data, form["media"])
        _, _, body = gateway.request("GET", f"/live/{topic}", headers={"Accept": "application/json"})
        self.assertEqual(json.loads(body)["observations"][0]["value"], SENT["value"])

    return test


def load_tests(loader, _tests, _pattern):
    """Asks a gateway for its formats and makes a test of each cell."""
    global gateway
    gateway = Gateway()
    for form in map(described, gateway.formats()):
        name = form["name"].replace("-", "_")
        setattr(EveryFormatIn, f"test_{name}_reads_what_it_writes", echo(form))
        for scheme in SCHEMES:
            setattr(EveryFormat, f"test_{name}_by_{scheme}", cell(form, scheme))
    cases = [loader.loadTestsFromTestCase(case) for case in (EveryFormat, EveryFormatIn)]
    return unittest.TestSuite(cases)


def tearDownModule():
    gateway.close()
