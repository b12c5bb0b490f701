"""A thing with a datastream, made over HTTP, for the tests that follow its observations."""

import json
import urllib.parse

from gateway import Gateway

THING = {
    "name": "Kitchen",
    "description": "where one cooks",
    "Locations": [
        {
            "name": "House",
            "description": "on a hill",
            "encodingType": "application/geo+json",
            "location": {"type": "Point", "coordinates": [20.5, 44.8]},
        }
    ],
    "Datastreams": [
        {
            "name": "Air",
            "description": "of the room",
            "observationType": "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement",
            "unitOfMeasurement": {"name": "Celsius", "symbol": "Cel", "definition": "ucum:Cel"},
            "properties": {"topic": "kitchen/air"},
            "Sensor": {
                "name": "DS18B20",
                "description": "on a wire",
                "encodingType": "text/html",
                "metadata": "sheet",
            },
            "ObservedProperty": {"name": "temperature", "definition": "urn:t", "description": "of air"},
        }
    ],
}


class Kitchen:
    """A gateway with the kitchen in it: `thing` and `stream` are paths below the root."""

    def __init__(self, test):
        self.gateway = Gateway()
        test.addCleanup(self.gateway.close)
        self.root = f"{self.gateway.url}/sta/v1.1"
        self.thing = self.post("Things", THING)
        self.stream = f"Datastreams({self.get(f'{self.thing}/Datastreams')['value'][0]['@iot.id']})"

    def post(self, path, body):
        """Where what was made is, below the root."""
        kind = {"Content-Type": "application/json"}
        status, headers, said = self.gateway.request("POST", f"/sta/v1.1/{path}", json.dumps(body), kind)
        assert status == 201, f"{path}: {status} {said!r}"
        return headers["Location"].partition("/sta/v1.1/")[2]

    def patch(self, path, body):
        kind = {"Content-Type": "application/json"}
        status, _, said = self.gateway.request("PATCH", f"/sta/v1.1/{path}", json.dumps(body), kind)
        assert status == 200, f"{path}: {status} {said!r}"

    def get(self, path):
        path = urllib.parse.quote(path, safe="/()'$?=&,;%")
        status, _, said = self.gateway.request("GET", f"/sta/v1.1/{path}")
        assert status == 200, f"{path}: {status} {said!r}"
        return json.loads(said)

    def observe(self, *results):
        for result in results:
            self.post(f"{self.stream}/Observations", {"result": result})

    def results(self):
        return [found["result"] for found in self.get(f"{self.stream}/Observations")["value"]]
