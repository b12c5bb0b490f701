"""SensorThings on two gateways of one nats-server: what either makes is made once, and both know it the same."""

import concurrent.futures
import json
import unittest

from cluster.servers import Servers
from cluster.test_two import until
from gateway import Gateway

ROOT = "/sta/v1.1"
FIELDS = {"Content-Type": "application/json"}
SENSOR = {"name": "s", "description": "s", "encodingType": "text/plain", "metadata": "m"}
PROPERTY = {"name": "p", "description": "p", "definition": "p"}
UNIT = {"name": "degree", "symbol": "Cel", "definition": "Cel"}
TYPE = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement"


def thing(name):
    return {"name": name, "description": name}


def datastream(name):
    return {
        **thing(name),
        "unitOfMeasurement": UNIT,
        "observationType": TYPE,
        "Thing": thing(name),
        "Sensor": SENSOR,
        "ObservedProperty": PROPERTY,
    }


def asked(gateway, method, path, body=None):
    """Status, path of what was made, and the body."""
    body = None if body is None else json.dumps(body)
    status, headers, said = gateway.request(method, path, body, FIELDS)
    place = headers["Location"]
    return status, place and place[place.index(ROOT) :], json.loads(said) if said else None


class SensorThings(unittest.TestCase):
    def setUp(self):
        servers = self.enterContext(Servers(self, 1))
        self.settings = {"bus.url": servers.url}
        self.a = self.enterContext(Gateway(settings=self.settings))
        self.b = self.enterContext(Gateway(settings=self.settings))

    def made(self, gateway, path, body):
        status, place, said = asked(gateway, "POST", ROOT + path, body)
        self.assertEqual(status, 201, said)
        return place

    def seen(self, gateway, path):
        status, _, said = asked(gateway, "GET", path)
        self.assertEqual(status, 200, f"{path}: {said}")
        return said

    def both_see(self, path, member, value):
        for gateway in (self.a, self.b):
            found = until(lambda gateway=gateway: asked(gateway, "GET", path)[0] == 200)
            self.assertTrue(found, f"{path} on {gateway.address}")
            self.assertEqual(self.seen(gateway, path)[member], value, gateway.address)

    def test_things_made_at_once_on_both_are_all_there(self):
        names = [f"t{number}" for number in range(20)]
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            gateways = (self.a, self.b) * 10
            places = list(pool.map(lambda at, name: self.made(at, "/Things", thing(name)), gateways, names))
        self.assertEqual(len(set(places)), len(names), places)
        for place, name in zip(places, names):
            self.both_see(place, "name", name)

    def test_changes_at_once_of_one_thing_lose_none(self):
        place = self.made(self.a, "/Things", thing("t"))
        members = [{"name": "n"}, {"description": "d"}, {"properties": {"p": 1}}]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            statuses = pool.map(lambda members: asked(self.a, "PATCH", place, members)[0], members)
            self.assertEqual(list(statuses), [200] * 3)
        for each in members:
            for member, value in each.items():
                self.both_see(place, member, value)

    def test_a_datastream_has_the_places_that_both_know(self):
        first = self.made(self.a, "/Datastreams", datastream("d1"))
        self.b.restart()
        second = self.made(self.b, "/Datastreams", datastream("d2"))
        self.assertNotEqual(first, second)
        for place, name in ((first, "d1"), (second, "d2")):
            self.both_see(place, "name", name)
        feature = {"encodingType": "application/geo+json", "feature": {"type": "Point", "coordinates": [20.5, 44.8]}}
        where = self.made(self.a, "/FeaturesOfInterest", {**thing("f"), **feature})
        self.both_see(where, "name", "f")
        said = {
            "phenomenonTime": "2026-11-20T10:00:00Z",
            "FeatureOfInterest": {"@iot.id": self.seen(self.a, where)["@iot.id"]},
        }
        results = list(range(6))
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            path = second[len(ROOT) :] + "/Observations"
            given = ({**said, "result": result} for result in results)
            places = list(pool.map(lambda at, body: self.made(at, path, body), (self.a, self.b) * 3, given))
        self.assertEqual(len(set(places)), len(results), places)
        for place, result in zip(places, results):
            self.both_see(place, "result", result)
        status, _, said = asked(self.a, "PATCH", places[0], {"result": 17})
        self.assertEqual(status, 200, said)
        self.both_see(places[0], "result", 17)
