"""What one protocol publishes every other receives: all pairs in JSON, and each binding in every format.

The gateway's list of formats and the list of peers fill the tests; the clients and the decoders are other people's.
"""

import contextlib
import json
import unittest

from carried import LACKING, LATE, REPLACED, SENT, TIME_S, check
from decoders import DECODERS, seconds
from every_binding.peers import PEERS
from gateway import Gateway
from mqtt.raw import CONTENT_TYPE, Client
from readers import Gap

FOREIGN = "ffff-1"
TIME = "2026-11-20T09:41:00.250Z"
gateway, peers, formats = None, {}, {}


class Pairs(unittest.TestCase):
    """Filled below: one test a publisher, whose messages all others follow at once."""

    def said_by(self, publisher):
        """All follow, one publishes: the observation and the cursor are the same with everybody."""
        topic, since = f"pairs/{publisher}", gateway.cursor()
        form = formats["json"]
        follows = {name: peer.follow(topic, form, since) for name, peer in peers.items()}
        with contextlib.ExitStack() as stack:
            followed = {name: stack.enter_context(follow) for name, follow in follows.items()}
            for value in (1.5, 2.5):
                peers[publisher].publish(topic, json.dumps({"value": value, "time": TIME}).encode(), form)
                came = {name: one.next() for name, one in followed.items()}
                # Between two of a DDS domain there is no gateway, and so no cursor.
                self.assertTrue(publisher != "dds" or came["dds"][1] == "")
                cursors = {cursor for name, (_, cursor) in came.items() if not name == publisher == "dds"}
                self.assertEqual(len(cursors), 1, {name: cursor for name, (_, cursor) in came.items()})
                for name, (payload, _) in came.items():
                    [found] = DECODERS["json"](payload)
                    self.assertEqual((found["value"], found["time"]), (value, seconds(TIME)), name)


class Gaps(unittest.TestCase):
    """Filled below: one test a binding."""

    def of(self, name):
        """A cursor that is not this gateway's is answered with a gap and its reason, before what comes next."""
        topic, form = f"gaps/{name}", formats["json"]
        with peers[name].follow(topic, form, FOREIGN) as followed:
            gateway.publish_value(topic, 1)
            with self.assertRaises(Gap) as gap:
                followed.next()
        self.assertIn("foreign", str(gap.exception))


class InEveryFormat(unittest.TestCase):
    """Filled below: one test a binding and format, out and in: each observation means what it did when it was made."""

    def follows(self, name, form):
        """What HTTP publishes in JSON the binding's client receives in the format."""
        topic, since = f"formats/{name}/{form['name']}", gateway.cursor()
        with peers[name].follow(topic, form, since) as followed:
            gateway.publish(topic, {"observations": [SENT]})
            payload, cursor = followed.next()
            self.assertTrue(cursor)
            check(self, form, topic, DECODERS[form["name"]](payload))
            # Where a message goes as it was published it says no more than its publisher did.
            late = {} if getattr(PEERS[name], "AS_PUBLISHED", False) else {**LATE, "time": TIME_S + 0.75}
            for sent, meant in (REPLACED, {**REPLACED, "time": TIME_S + 1.75}), (LATE, late):
                gateway.publish(topic, {"observations": [sent]})
                found = DECODERS[form["name"]](followed.next()[0])
                if meant:
                    check(self, form, topic, found, **meant)
        return topic, payload

    def publishes(self, name, form, topic, payload):
        """What the gateway said in the format it takes from the binding's client in that format."""
        before = gateway.cursor()
        peers[name].publish(topic, payload, form)
        _, _, body = gateway.request("GET", f"/live/{topic}?since={before}", headers={"Accept": "application/json"})
        self.assertTrue(body, "nothing was published")
        [found] = json.loads(body)["observations"]
        # What says neither its time nor its unit is of now.
        unit = REPLACED["unit"] if "unit" in LACKING.get(form["name"], ()) else SENT["unit"]
        self.assertEqual((found["value"], found["unit"]), (SENT["value"], unit))


class Kept(unittest.TestCase):
    """Filled below: one test a binding. Whatever is acknowledged is in the log, as it was published."""

    ODD = [
        b'{"pm2.5+":1,"t":2}', b'{"#":5}', b'{"value":1,"topic":"other"}', b'{"a":NaN}', b"{", b"{}", b"21.5 C\n\0",
        b'{"value":1,"lat":95,"lon":7}', json.dumps({f"leaf{at}": at for at in range(5000)}).encode(),
        json.dumps({"value": 1, "unit": "u" * 2000}).encode(), b'{"value":7}',
    ]

    def of(self, name):
        topic = f"formats/amqp091/kept/{name}"
        reader = Client.connected(gateway.ready["mqtt"])
        self.addCleanup(reader.socket.close)
        reader.subscribe((f"{topic}/#", 1))
        taken = 0
        for payload in self.ODD:
            if self.is_taken(name, topic, payload):
                taken += 1
                self.assertEqual(reader.message().payload, payload, name)
            else:
                self.assertTrue(reader.nothing(), payload)
        self.assertGreater(taken, 0)

    @staticmethod
    def is_taken(name, topic, payload):
        """Says whether a publisher was told that its message is taken; one who is told nothing takes it for that."""
        if name == "mqtt":
            client = Client.connected(gateway.ready["mqtt"])
            with contextlib.closing(client.socket):
                return client.publish(topic, payload, properties=[(CONTENT_TYPE, "application/json")]) < 0x80
        if name == "amqp091":
            peer = peers[name]
            with peer.channel() as channel:
                channel.confirm_delivery()
                channel.basic_publish(peer.EXCHANGE, topic.replace("/", "."), payload)
            return True
        try:
            peers[name].publish(topic, payload, formats["json"])
        except Exception:  # noqa: BLE001: each client has its own
            return False
        return True


def test_of_publisher(publisher):
    return lambda self: self.said_by(publisher)


def test_of_gap(name):
    return lambda self: self.of(name)


def test_of_keeping(name):
    return lambda self: self.of(name)


def test_of_format(name, form):
    return lambda self: self.publishes(name, form, *self.follows(name, form))


def load_tests(loader, _tests, _pattern):
    """Asks a gateway for its formats and makes a test of each cell."""
    global gateway
    settings = {key: value for peer in PEERS.values() for key, value in getattr(peer, "SETTINGS", {}).items()}
    gateway = Gateway(settings=settings)
    for name, make in PEERS.items():
        peers[name] = make(gateway)
        setattr(Pairs, f"test_what_{name}_says_everybody_hears", test_of_publisher(name))
        # Who cannot say where to begin is not answered that it cannot begin there.
        if getattr(make, "RESUMES", True):
            setattr(Gaps, f"test_{name}_is_told_what_it_cannot_resume", test_of_gap(name))
        # A sample is no bytes of a publisher's: `conformance/dds` has those that cannot be read.
        if name != "dds":
            setattr(Kept, f"test_{name}_keeps_what_it_acknowledges", test_of_keeping(name))
    for form in gateway.formats():
        formats[form["name"]] = form
        for name, make in PEERS.items():
            if form["name"] not in getattr(make, "FORMATS", [form["name"]]):
                continue
            test = f"test_{form['name'].replace('-', '_')}_by_{name}"
            setattr(InEveryFormat, test, test_of_format(name, form))
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Pairs, Gaps, Kept, InEveryFormat))


def tearDownModule():
    gateway.close()
