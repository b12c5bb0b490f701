"""What SensorThings describes is what SOS tells of, for OWSLib's readers as for its own."""

import json
import unittest
import urllib.parse

from owslib.etree import etree

from gateway import Gateway

from . import documents
from .documents import SOS2

POINT = {"type": "Point", "coordinates": [7.5, 50.5]}
THING = {
    "name": "kitchen",
    "description": "",
    "Locations": [
        {"name": "at home", "description": "", "encodingType": "application/geo+json", "location": POINT}
    ],
    "Datastreams": [
        {
            "name": "warmth",
            "description": "",
            "observationType": "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement",
            "unitOfMeasurement": {"name": "degree", "symbol": "Cel", "definition": "urn:ucum:Cel"},
            "Sensor": {"name": "probe", "description": "", "encodingType": "text/html", "metadata": "m"},
            "ObservedProperty": {"name": "temperature", "definition": "urn:p:t", "description": ""},
            "Observations": [{"phenomenonTime": "2026-01-01T00:00:00Z", "result": 20.5}],
        }
    ],
}
OVEN = {
    "name": "oven",
    "description": "",
    "encodingType": "application/geo+json",
    "feature": {"type": "Point", "coordinates": [8.5, 51.5]},
}


def named(root, local):
    return root.findall(f".//{{*}}{local}")


class OfSensorThings(unittest.TestCase):
    """Features that SensorThings numbered."""

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.create("Things", THING)
        (stream,) = cls.read("Datastreams")
        cls.stream = stream["@iot.id"]
        observation = {"phenomenonTime": "2026-01-01T00:01:00Z", "result": 180, "FeatureOfInterest": OVEN}
        cls.create(f"Datastreams({cls.stream})/Observations", observation)

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    @classmethod
    def create(cls, path, body):
        headers = {"content-type": "application/json"}
        status, _, answer = cls.gateway.request("POST", f"/sta/v1.1/{path}", json.dumps(body).encode(), headers)
        assert status == 201, answer

    @classmethod
    def read(cls, path):
        status, _, answer = cls.gateway.request("GET", f"/sta/v1.1/{path}")
        assert status == 200, answer
        return json.loads(answer)["value"]

    def sos(self, **query):
        query = urllib.parse.urlencode({"service": "SOS", "version": "2.0.0", **query})
        status, _, body = self.gateway.request("GET", f"/sos?{query}")
        self.assertEqual(status, 200, body)
        documents.check(self, SOS2, body)
        return etree.fromstring(body)

    def test_a_feature_has_its_name_its_place_and_its_observations(self):
        features = {feature["name"]: str(feature["@iot.id"]) for feature in self.read("FeaturesOfInterest")}
        told = self.sos(request="GetFeatureOfInterest")
        called = {
            feature.find("{*}identifier").text: (feature.find("{*}name").text, feature.find(".//{*}pos").text)
            for feature in named(told, "SF_SpatialSamplingFeature")
        }
        self.assertEqual(called[features.pop("oven")], ("oven", "51.5 8.5"))
        ((name, default),) = features.items()
        self.assertEqual(called[default], (name, "50.5 7.5"))
        observations = {
            float(observation.find("{*}result").text): observation.find("{*}featureOfInterest")
            for observation in named(self.sos(request="GetObservation"), "OM_Observation")
        }
        link = "{http://www.w3.org/1999/xlink}href"
        told = {result: feature.get(link) for result, feature in observations.items()}
        self.assertEqual(set(told.values()), set(called))
        for result, feature in told.items():
            found = self.sos(request="GetObservation", featureOfInterest=feature)
            self.assertEqual([float(one.text) for one in named(found, "result")], [result])
