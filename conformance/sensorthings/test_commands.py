"""`weir pub` and `weir sub` by SensorThings: what an observation means goes through, or is refused."""

import json
import subprocess
import unittest

from gateway import BINARY, Gateway

JSON = {"Content-Type": "application/json"}


def weir(*arguments, said=""):
    return subprocess.run([BINARY, *arguments], input=said, capture_output=True, text=True, timeout=60)


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)
        cls.url = f"sta+http://{cls.gateway.address}/sta/v1.1"

    def publish(self, topic, *rows):
        return weir("pub", self.url, topic, said="".join(json.dumps(row) + "\n" for row in rows))

    def told(self, topic, *members):
        return [tuple(row.get(member) for member in members) for row in self.gateway.history(topic)]

    def post(self, path, body):
        status, _, said = self.gateway.request("POST", f"/sta/v1.1/{path}", json.dumps(body), JSON)
        self.assertEqual(status, 201, said)

    def thing(self, name):
        """A Thing with a Datastream "Temp"; how that is told apart from others of the name."""
        datastream = {
            "name": "Temp", "description": "Temp",
            "observationType": "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement",
            "unitOfMeasurement": {"name": "Celsius", "symbol": "Cel", "definition": "ucum:Cel"},
            "Sensor": {"name": f"urn:s:{name}", "description": "s", "encodingType": "text/html", "metadata": "m"},
            "ObservedProperty": {"name": "temperature", "definition": "urn:p:t", "description": "t"},
        }
        point = {"type": "Point", "coordinates": [7.5, 51.5]}
        place = {"name": f"The {name}", "description": "p", "encodingType": "application/geo+json", "location": point}
        self.post("Things", {"name": name, "description": name, "Locations": [place], "Datastreams": [datastream]})
        path = f"/sta/v1.1/Datastreams?$filter=Thing/name%20eq%20'{name}'"
        [made] = json.loads(self.gateway.request("GET", path)[2])["value"]
        return f"Temp/{made['@iot.id']}"

    def test_a_number_is_converted_to_the_unit_of_its_datastream(self):
        rows = [{"value": 1.42, "unit": "m"}, {"value": 50, "unit": "cm"}, {"value": 2}]
        ended = self.publish("pub/level", *rows)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.told("pub/level", "value", "unit"), [(1.42, "m"), (0.5, "m"), (2, "m")])
        many = {"observations": [{"value": 3, "unit": "cm"}, {"value": 4, "unit": "m"}, {"value": 5, "unit": "mm"}]}
        self.assertEqual(self.publish("pub/level", many).returncode, 0)
        self.assertEqual({of for (of,) in self.told("pub/level", "value")}, {1.42, 0.5, 2, 0.03, 4, 0.005})

    def test_what_would_be_told_as_another_is_refused_with_its_line(self):
        first = {"value": 1, "unit": "m", "sensor": "urn:s:old", "type": "urn:p:level"}
        self.assertEqual(self.publish("no/level", first).returncode, 0)
        for row, words in (
            ({"value": 7, "unit": "s"}, ("`m`", "`s`")),
            ({"value": 1e308, "unit": "km"}, ("`m`", "`km`")),
            ({"value": 7, "sensor": "urn:s:new"}, ("Sensor", "urn:s:old", "urn:s:new")),
            ({"value": 7, "type": "urn:p:flow"}, ("ObservedProperty", "urn:p:level", "urn:p:flow")),
            ({"observations": [{"value": 6}, {"value": 7, "unit": "s"}]}, ("observation 2", "`s`")),
        ):
            ended = self.publish("no/level", {"value": 2}, row)
            self.assertEqual(ended.returncode, 1, row)
            for word in ("line 2", "no/level", *words):
                self.assertIn(word, ended.stderr)
        # What says the same is taken, also by who begins anew.
        self.assertEqual(self.publish("no/level", first, {"value": 1}).returncode, 0)
        self.assertEqual({of for (of,) in self.told("no/level", "value")}, {1, 2})
        self.assertEqual(self.publish("no/unit", {"value": 77}).returncode, 0)
        refused = self.publish("no/unit", {"value": 78, "unit": "cm"})
        self.assertEqual(refused.returncode, 1)
        self.assertIn("no unit", refused.stderr)

    def test_a_feature_that_is_named_is_that_of_the_observation(self):
        rows = [{"value": 1, "feature": "Lake 1"}, {"value": 2, "feature": "Lake 2"}, {"value": 3, "feature": "Lake 1"}]
        ended = self.publish("lake/level", *rows)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        path = "/sta/v1.1/Observations?$filter=Datastream/name%20eq%20'lake/level'&$expand=FeatureOfInterest"
        told = json.loads(self.gateway.request("GET", path)[2])["value"]
        self.assertEqual({(row["result"], row["FeatureOfInterest"]["name"]) for row in told},
                         {(1, "Lake 1"), (2, "Lake 2"), (3, "Lake 1")})

    def test_datastreams_of_one_name_are_kept_apart_as_they_come(self):
        called = {name: self.thing(name) for name in ("kitchen", "cellar")}
        since = self.gateway.cursor()
        command = [BINARY, "sub", self.url, "Temp", "--since", since, "--count", "3"]
        for number, name in enumerate(called):
            self.gateway.publish(f"{name}/temp", {"value": number})
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as subscriber:
            told = [json.loads(subscriber.stdout.readline())["observations"][0] for _ in called]
            # One that is made meanwhile is told apart, too.
            called["attic"] = self.thing("attic")
            self.gateway.publish("attic/temp", {"value": 2})
            told += json.loads(subscriber.stdout.readline())["observations"]
        self.assertEqual(subscriber.returncode, 0)
        for number, (row, (name, topic)) in enumerate(zip(told, called.items(), strict=True)):
            said = (row["topic"], row["value"], row["sensor"], row["type"], row["unit"], row["feature"])
            wanted = (topic, number, f"urn:s:{name}", "temperature", "Cel", f"The {name}")
            self.assertEqual(said, wanted)
            self.assertEqual((row["lat"], row["lon"]), (51.5, 7.5))



if __name__ == "__main__":
    unittest.main()
