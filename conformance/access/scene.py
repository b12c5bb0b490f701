"""A scene of what everybody may see, and what is hidden beside it and behind it: shared things, sensors, features.

What is open is made first, so that it has the same numbers whether anything is hidden or not.
"""

import json
import urllib.parse

from sos import documents
from sos.documents import NAMES, TYPES, insert_sensor, insert_template, observation

STA = "/sta/v1.1/"
DAY = "2026-01-01T"
XML = {"Content-Type": "application/xml"}


def named(name):
    return {"name": name, "description": name}


def sensor(name):
    return {**named(name), "encodingType": "text/plain", "metadata": name}


def observed(name):
    return {**named(name), "definition": f"urn:p:{name}"}


def feature(name, place=(7.5, 52.0)):
    return {**named(name), "encodingType": "application/geo+json", "feature": {"type": "Point", "coordinates": place}}


def datastream(name, topic=None, **links):
    """`links` as identifiers of Thing, Sensor, ObservedProperty."""
    unit = {"name": "degree Celsius", "symbol": "Cel", "definition": "ucum:Cel"}
    linked = {name: {"@iot.id": link} for name, link in links.items()}
    return {**named(name), **linked, "observationType": f"{TYPES}/OM_Measurement", "unitOfMeasurement": unit,
            "properties": {"topic": topic} if topic else {}}


def multi_datastream(name, topic, thing, sensor, properties):
    """One of components that are numbers."""
    kind, unit = f"{TYPES}/OM_Measurement", {"name": "metre", "symbol": "m", "definition": "ucum:m"}
    return {**named(name), "properties": {"topic": topic}, "multiObservationDataTypes": [kind for _ in properties],
            "unitOfMeasurements": [unit for _ in properties], "Thing": {"@iot.id": thing}, "Sensor": {"@iot.id": sensor},
            "ObservedProperties": [{"@iot.id": it} for it in properties]}


def capability(topic, thing):
    """One that switches something, whose tasks go to a topic."""
    record = {"type": "DataRecord", "field": [{"name": "open", "label": "open", "type": "Boolean"}]}
    return {**named("valve"), "taskingParameters": record, "properties": {"topic": topic},
            "Thing": {"@iot.id": thing}, "Actuator": sensor("valve")}


def insert_observation(sensor, offering=None, minute=0, observes="urn:p:level"):
    made = observation(60 * minute, sensor, observes)
    return documents.insert_observation(offering or sensor + "/observations", made)


def delete_sensor(sensor):
    return f"<swes:DeleteSensor {NAMES}><swes:procedure>{sensor}</swes:procedure></swes:DeleteSensor>"


class Scene:
    """Made by the user `owner`; `ids` are those of open entities, `hidden` those of others."""

    def __init__(self, world, hides, is_deep):
        self.world, self.ids, self.hidden = world, {}, {}
        self.open()
        if hides:
            self.hide()
            if is_deep:
                self.hide_deep()

    def done(self, path, body, headers=None, method="POST"):
        said = self.world.gateway.request(
            method, path, body if isinstance(body, (str, bytes, type(None))) else json.dumps(body),
            {**self.world.bearer("owner"), **(headers or {"Content-Type": "application/json"})})
        assert said[0] < 300, (method, path, said[0], said[2])
        return said

    def post(self, url, body):
        """The identifier of what is made, as a URL has it."""
        location = self.done(STA + url, body)[1]["Location"]
        return location[location.rindex("(") + 1: -1]

    def live(self, topic, value, minute=0, **more):
        body = {"value": value, "time": f"{DAY}00:{minute:02}:00Z", **more}
        self.done("/live/" + urllib.parse.quote(topic), body)

    def observe(self, stream, minute, result, feature=None):
        link = {"FeatureOfInterest": {"@iot.id": feature}} if feature else {}
        return self.post(f"Datastreams({stream})/Observations", {
            "phenomenonTime": f"{DAY}00:{minute:02}:00Z", "result": result, **link})

    def open(self):
        ids = self.ids
        ids["Locations"] = self.post("Locations", {**named("place"), "encodingType": "application/geo+json",
                                                   "location": {"type": "Point", "coordinates": [7.5, 52.0]}})
        ids["Things"] = self.post("Things", {**named("house"), "Locations": [{"@iot.id": int(ids["Locations"])}]})
        ids["Sensors"] = self.post("Sensors", sensor("probe"))
        ids["ObservedProperties"] = self.post("ObservedProperties", observed("temperature"))
        ids["FeaturesOfInterest"] = self.post("FeaturesOfInterest", feature("room"))
        ids["TaskingCapabilities"] = self.post("TaskingCapabilities", capability("site/closed/valve", int(ids["Things"])))
        ids["Datastreams"] = self.post("Datastreams", datastream("t", "site/open/t", **self.links()))
        for minute in range(4):
            said = self.observe(ids["Datastreams"], minute, 20 + minute, int(ids["FeaturesOfInterest"]))
            ids["Observations"] = said
        for minute in range(3):
            self.live("site/open/a", 300 + minute, minute)
        self.live("shared/open", 1, lat=44.5, lon=20.25)
        self.done("/sos", insert_sensor("urn:s:open"), XML)
        self.done("/sos", insert_observation("urn:s:open"), XML)

    def links(self):
        names = {"Thing": "Things", "Sensor": "Sensors", "ObservedProperty": "ObservedProperties"}
        return {name: int(self.ids[kind]) for name, kind in names.items()}

    def hide(self):
        """What hangs on entities that may be seen."""
        hidden = self.hidden
        hidden["Datastreams"] = self.post("Datastreams", datastream("x", "site/closed/x", **self.links()))
        for minute in range(5):
            said = self.observe(hidden["Datastreams"], minute, 271828.75 + minute, int(self.ids["FeaturesOfInterest"]))
            hidden["Observations"] = said
        corrected = self.observe(hidden["Datastreams"], 9, 1)
        self.done(f"{STA}Observations({corrected})", {"result": 271828.75}, method="PATCH")
        hidden["Observations"] += " " + corrected
        links = self.links()
        multi = multi_datastream("m", "site/closed/m", links["Thing"], links["Sensor"], [links["ObservedProperty"]] * 2)
        hidden["MultiDatastreams"] = self.post("MultiDatastreams", multi)
        rows = {"phenomenonTime": f"{DAY}00:01:00Z", "result": [271828.75, 271828.75],
                "FeatureOfInterest": {"@iot.id": int(self.ids["FeaturesOfInterest"])}}
        said = self.post(f"MultiDatastreams({hidden['MultiDatastreams']})/Observations", rows)
        hidden["Observations"] += " " + said
        for minute in range(3):
            self.live("site/closed/a", 271828.75, minute)
        # A thing that nobody described, of which another datastream says that it is elsewhere.
        self.live("shared/closed", 1, lat=10.5, lon=11.25)
        with self.world.mqtt("owner") as client:
            client.publish("site/closed/kept", json.dumps({"value": 271828.75}), qos=1, retain=True).wait_for_publish(10)

    def hide_deep(self):
        """What may not be seen itself."""
        hidden, shared = self.hidden, self.links()
        hidden["Things"] = self.post("Things", named("vault"))
        hidden["Sensors"] = self.post("Sensors", sensor("mole"))
        hidden["FeaturesOfInterest"] = self.post("FeaturesOfInterest", feature("cellar", (7.6, 52.1)))
        links = {**shared, "Thing": int(hidden["Things"]), "Sensor": int(hidden["Sensors"])}
        vault = self.post("Datastreams", datastream("v", "site/closed/v", **links))
        self.observe(vault, 1, 271828.75, int(hidden["FeaturesOfInterest"]))
        self.done("/sos", insert_sensor("urn:s:closed", "urn:o:closed"), XML)
        self.done("/sos", insert_observation("urn:s:closed", "urn:o:closed"), XML)
        self.done("/sos", insert_sensor("urn:s:mole"), XML)
        self.done("/sos", insert_template("urn:s:mole", "urn:t:closed"), XML)
