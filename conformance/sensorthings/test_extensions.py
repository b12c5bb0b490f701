"""Fraunhofer's client: arrays of a MultiDatastream, and tasks. It cannot make a MultiDatastream itself (it writes
`unitOfMeasurements` as null), so that is posted as JSON."""

import json
import unittest

import frost_sta_client as frost

from gateway import Gateway

from .test_tasking import LAMP, TASK

OM = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_"
STATION = {
    "name": "Station",
    "description": "on the roof",
    "Locations": [
        {"name": "Roof", "description": "flat", "encodingType": "application/geo+json",
         "location": {"type": "Point", "coordinates": [20.5, 44.8]}}
    ],
    "MultiDatastreams": [
        {
            "name": "Weather",
            "description": "of the roof",
            "observationType": OM + "ComplexObservation",
            "multiObservationDataTypes": [OM + "Measurement", OM + "Measurement"],
            "unitOfMeasurements": [
                {"name": name, "symbol": name, "definition": f"ucum:{name}"} for name in ("Cel", "%")
            ],
            "Sensor": {"name": "WS-1", "description": "a box", "encodingType": "text/html", "metadata": "x"},
            "ObservedProperties": [
                {"name": name, "definition": f"urn:{name}", "description": name} for name in ("temperature", "humidity")
            ],
        }
    ],
}


class Extensions(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.service = frost.SensorThingsService(f"{self.gateway.url}/sta/v1.1")

    def post(self, body):
        headers = {"Content-Type": "application/json"}
        status, _, said = self.gateway.request("POST", "/sta/v1.1/Things", json.dumps(body), headers)
        self.assertEqual(status, 201, said)

    # [STA-A.5.1.1-1] [STA-A.5.1.1-2] [STA-A.5.1.1-3]
    def test_arrays_are_made_and_found_and_are_datastreams_elsewhere(self):
        self.post(STATION)
        multi = self.service.multi_datastreams().query().list().get(0)
        self.assertEqual([unit["symbol"] for unit in multi.unit_of_measurements], ["Cel", "%"])
        link = frost.MultiDatastream()
        link.id = multi.id
        made = frost.Observation(phenomenon_time="2026-01-01T00:00:00Z", result=[21.5, 40], multi_datastream=link)
        self.service.create(made)
        self.gateway.publish("station/weather", {"temperature": 22.5, "humidity": 41})
        found = [observation.result for observation in multi.get_observations().query().list()]
        self.assertEqual(found, [[21.5, 40], [22.5, 41]])
        properties = [found.name for found in multi.get_observed_properties().query().list()]
        self.assertEqual(properties, ["temperature", "humidity"])
        latest = json.loads(self.gateway.request("GET", "/live/station/weather/%23")[2])
        values = {row["topic"]: (row["value"], row["unit"]) for row in latest["observations"]}
        expected = {"station/weather/temperature": (22.5, "Cel"), "station/weather/humidity": (41, "%")}
        self.assertEqual(values, expected)
        self.gateway.restart()
        found = [observation.result for observation in multi.get_observations().query().list()]
        self.assertEqual(found, [[21.5, 40], [22.5, 41]])

    # [TASKING-1-1] [TASKING-2-1] [TASKING-4-1]
    def test_a_task_is_made_and_found(self):
        self.post(LAMP)
        capability = self.service.tasking_capabilities().query().list().get(0)
        self.assertEqual(capability.tasking_parameters["field"][0]["name"], "status")
        link = frost.TaskingCapability()
        link.id = capability.id
        self.service.create(frost.Task(tasking_parameters=TASK, tasking_capability=link))
        tasks = [task.tasking_parameters for task in capability.get_tasks().query().list()]
        self.assertEqual(tasks, [TASK])
