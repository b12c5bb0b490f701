"""Fraunhofer's client: what it makes is found, changed and deleted by it, and is one with what other
protocols publish and see."""

import json
import subprocess
import unittest

import frost_sta_client as frost
import httpx
from frost_sta_client.model.ext.data_array_document import DataArrayDocument
from frost_sta_client.model.ext.data_array_value import DataArrayValue
from frost_sta_client.model.ext.entity_list import EntityList
from geojson import Point

from gateway import Gateway
from skips import program

MEASUREMENT = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement"


def list_of(kind, *entities):
    return EntityList(f"frost_sta_client.model.{kind}", list(entities))


def datastream(**links):
    celsius = frost.UnitOfMeasurement(name="degree Celsius", symbol="Cel", definition="ucum:Cel")
    sensor = frost.Sensor(name="DS18B20", description="on a wire", encoding_type="text/html", metadata="sheet")
    temperature = frost.ObservedProperty(name="temperature", definition="urn:temperature", description="of air")
    return frost.Datastream(
        name="Air temperature", description="of the room", observation_type=MEASUREMENT,
        unit_of_measurement=celsius, sensor=sensor, observed_property=temperature, **links,
    )


def kitchen():
    """A thing with its place and a datastream of two observations: a deep insert."""
    place = frost.Location(
        name="House", description="on a hill", encoding_type="application/geo+json", location=Point((20.5, 44.8))
    )
    observations = [
        frost.Observation(phenomenon_time=f"2026-01-01T00:0{minute}:00Z", result=20 + minute) for minute in range(2)
    ]
    stream = datastream(observations=list_of("observation.Observation", *observations))
    return frost.Thing(
        name="Kitchen", description="where one cooks", properties={"floor": 2},
        locations=list_of("location.Location", place), datastreams=list_of("datastream.Datastream", stream),
    )


class Client(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.service = frost.SensorThingsService(f"{self.gateway.url}/sta/v1.1")

    def made(self):
        thing = kitchen()
        self.service.create(thing)
        return thing, thing.get_datastreams().query().list().get(0)

    def results(self, query):
        return [observation.result for observation in query.list()]

    def test_a_thing_is_made_with_all_of_it_and_survives_a_crash(self):
        thing, stream = self.made()
        self.gateway.restart()
        found = self.service.things().find(thing.id)
        self.assertEqual((found.name, found.properties), ("Kitchen", {"floor": 2}))
        self.assertEqual(found.get_locations().query().list().get(0).location["coordinates"], [20.5, 44.8])
        self.assertEqual(self.results(stream.get_observations().query()), [20, 21])

    def test_observations_are_made_filtered_and_expanded(self):
        thing, stream = self.made()
        for minute in range(2, 12):
            made = frost.Observation(
                phenomenon_time=f"2026-01-01T00:{minute:02}:00Z", result=20 + minute, datastream=stream,
                parameters={"window": "open" if minute % 2 else "shut"},
            )
            self.service.create(made)
            self.assertEqual(self.service.observations().find(made.id).result, 20 + minute)
        query = self.service.observations().query
        self.assertEqual(self.results(query().top(5)), list(range(20, 32)), "page by page")
        self.assertEqual(self.results(query().filter("result gt 29").orderby("result")), [31, 30])
        self.assertEqual(self.results(query().filter("parameters/window eq 'open' and result lt 26")), [23, 25])
        self.assertEqual(query().count().top(1).list().count, 12)
        things = self.service.things().query()
        things.filter("Datastreams/ObservedProperty/name eq 'temperature'")
        things.expand("Datastreams($expand=Observations($top=2;$orderby=phenomenonTime desc),Sensor),Locations")
        read = things.list().get(0)
        self.assertEqual(read.id, thing.id)
        self.assertEqual([one.result for one in read.datastreams.get(0).observations.entities], [31, 30])
        self.assertEqual(read.datastreams.get(0).sensor.name, "DS18B20")
        self.assertEqual(read.locations.get(0).name, "House")

    def test_entities_are_changed_and_deleted_with_dependents(self):
        thing, stream = self.made()
        found = self.service.things().find(thing.id)
        found.name = "Hall"
        self.service.update(found)
        self.service.patch(found, [{"op": "replace", "path": "/properties/floor", "value": 3}])
        again = self.service.things().find(thing.id)
        self.assertEqual((again.name, again.properties), ("Hall", {"floor": 3}))
        first = stream.get_observations().query().list().get(0)
        self.service.patch(first, [{"op": "add", "path": "/result", "value": 19.5}])
        self.assertEqual(self.service.observations().find(first.id).result, 19.5)
        self.service.delete(first)
        self.assertEqual(self.results(stream.get_observations().query()), [21])
        self.service.delete(thing)
        for left in (self.service.things(), self.service.datastreams(), self.service.observations()):
            self.assertEqual(left.query().list().entities, [])
        self.assertEqual(len(self.service.sensors().query().list().entities), 1)

    def test_arrays_of_observations(self):
        _, stream = self.made()
        values = DataArrayValue()
        values.datastream = stream
        values.components = {DataArrayValue.Property.PHENOMENON_TIME, DataArrayValue.Property.RESULT}
        for second in range(50):
            values.add_observation(
                frost.Observation(phenomenon_time=f"2026-01-02T00:00:{second:02}Z", result=second)
            )
        made = self.service.observations().create(DataArrayDocument(value=[values]))
        self.assertEqual(len(made), 50)
        last = httpx.get(made[-1].self_link).json()
        self.assertEqual((last["result"], last["phenomenonTime"]), (49, "2026-01-02T00:00:49.000Z"))

    def test_what_is_posted_is_seen_live_and_in_the_history_by_topic(self):
        _, stream = self.made()
        self.assertEqual([one["value"] for one in self.gateway.history("kitchen/air-temperature")], [20, 21])
        url = f"{self.gateway.url}/live/kitchen/air-temperature?stream&bare"
        with httpx.stream("GET", url, headers={"accept": "application/json"}, timeout=20) as live:
            self.service.create(frost.Observation(result=22.5, datastream=stream))
            seen = json.loads(next(live.iter_lines()))["observations"]
        self.assertEqual([(one["value"], one["unit"]) for one in seen], [(22.5, "Cel")])
        self.assertEqual([one["value"] for one in self.gateway.history("kitchen/air-temperature")], [20, 21, 22.5])

    def test_what_mqtt_publishes_is_an_observation_of_a_datastream(self):
        _, stream = self.made()
        host, port = self.gateway.ready["mqtt"].rsplit(":", 1)
        publish = [program(self, "mosquitto_pub"), "-h", host, "-p", port, "-q", "1"]
        subprocess.run([*publish, "-t", "kitchen/air-temperature", "-m", "23.5"], check=True, timeout=20)
        subprocess.run([*publish, "-t", "cellar/pressure", "-m", "1.5"], check=True, timeout=20)
        self.assertEqual(self.results(stream.get_observations().query()), [20, 21, 23.5])
        cellar = self.service.datastreams().query().filter("Thing/name eq 'cellar'").list().get(0)
        self.assertEqual(self.results(cellar.get_observations().query()), [1.5])
        self.service.create(frost.Observation(result=1.75, datastream=cellar))
        self.assertEqual([one["value"] for one in self.gateway.history("cellar/pressure")], [1.5, 1.75])


if __name__ == "__main__":
    unittest.main()
