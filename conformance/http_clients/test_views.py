"""The same observations by every service: each as it was made, or in the one unit that the service has for all."""

import json
import unittest
from xml.etree import ElementTree

import sensor_web
from gateway import Gateway

GML = "{http://www.opengis.net/gml/3.2}"
JSON = {"Content-Type": "application/json"}
MADE = [(1.42, "m", "urn:s:old"), (2, "m", "urn:s:old"), (50, "cm", "urn:s:new"), (51, "cm", "urn:s:new")]
IN_CM = [142, 200, 50, 51]


def observed(ask, version, query):
    """Value, unit and sensor of what a service of this version tells, by time."""
    formats = {"1.0.0": "&responseFormat=text/xml;subtype=%22om/1.0.0%22", "2.0.0": ""}
    said = ask("GET", f"/sos?service=SOS&version={version}&request=GetObservation&{query}{formats[version]}")
    read = {"1.0.0": sensor_web.om1, "2.0.0": sensor_web.om}[version]
    told = sorted(read(said), key=lambda found: found["time"])
    return [(found["value"], found["unit"], found["sensor"]) for found in told]


class Views(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)
        cls.before = cls.gateway.cursor()
        for observation in (
            {"value": 1.42, "unit": "m", "sensor": "urn:s:old", "type": "level", "time": "2026-01-01T00:00:00Z"},
            {"value": 50, "unit": "cm", "sensor": "urn:s:new", "time": "2026-01-02T00:00:00Z"},
            {"value": 2, "time": "2026-01-01T01:00:00Z"},
            {"value": 51, "time": "2026-01-02T01:00:00Z"},
        ):
            cls.ask("POST", "/live/river/level", 204, json.dumps(observation), JSON)

    @classmethod
    def ask(cls, method, path, good=200, body=None, fields=None):
        status, _, said = cls.gateway.request(method, path, body, fields)
        assert status == good, (path, said)
        return said

    def each_start(self, check):
        check()
        self.gateway.restart()
        check()

    def test_sos(self):
        def check():
            self.assertEqual(observed(self.ask, "2.0.0", "observedProperty=level"), MADE)
            for version in "1.0.0", "2.0.0":
                for sensor in "urn:s:old", "urn:s:new":
                    told = observed(self.ask, version, f"offering={sensor}/observations&observedProperty=level")
                    self.assertEqual(told, [made for made in MADE if made[2] == sensor], (version, sensor))

        self.each_start(check)

    def test_sensorthings(self):
        def check():
            root = "/sta/v1.1/Datastreams('river%2Flevel')"
            unit = json.loads(self.ask("GET", f"{root}/unitOfMeasurement"))["unitOfMeasurement"]["symbol"]
            told = json.loads(self.ask("GET", f"{root}/Observations?$orderby=phenomenonTime"))["value"]
            self.assertEqual((unit, [found["result"] for found in told]), ("cm", IN_CM))
            over = json.loads(self.ask("GET", f"{root}/Observations?$filter=result%20gt%20100"))["value"]
            self.assertEqual([found["result"] for found in over], IN_CM[:2])

        self.each_start(check)

    def test_soap(self):
        body = """<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:w="urn:weir:observations"><s:Body>
            <w:history><w:filter>river/level</w:filter></w:history></s:Body></s:Envelope>"""
        said = self.ask("POST", "/soap/observations", 200, body, {"Content-Type": "application/soap+xml"}).decode()
        for value, unit, sensor in MADE:
            self.assertIn(sensor, said)
        self.assertEqual([said.count(">m<"), said.count(">cm<")], [2, 2], said)

    def test_grafana(self):
        def check():
            span = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-03T00:00:00Z"}
            target = {"target": "river/level", "refId": "A", "payload": ""}
            asked = {"range": span, "intervalMs": 1, "maxDataPoints": 100, "targets": [target]}
            [line] = json.loads(self.ask("POST", "/grafana/query", 200, json.dumps(asked), JSON))
            self.assertEqual([point[0] for point in line["datapoints"]], IN_CM)

        self.each_start(check)

    def test_what_is_declared_by_sensorthings_is_told_alike(self):
        """A Datastream in degrees Celsius, an observation in kelvin by another protocol."""
        entity = {
            "name": "hall", "description": "", "Datastreams": [{
                "name": "warmth", "description": "", "unitOfMeasurement": {"name": "", "symbol": "Cel", "definition": ""},
                "observationType": "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement",
                "Sensor": {"name": "probe", "description": "", "encodingType": "text/html", "metadata": "m"},
                "ObservedProperty": {"name": "temperature", "definition": "urn:p:t", "description": ""},
                "properties": {"topic": "hall/warmth"}}],
        }
        self.ask("POST", "/sta/v1.1/Things", 201, json.dumps(entity), JSON)
        self.ask("POST", "/live/hall/warmth", 204, '{"value":300,"unit":"K","time":"2026-01-01T00:00:00Z"}', JSON)
        said = self.ask("POST", "/live/hall/warmth", 409, '{"value":3,"unit":"V"}', JSON).decode()
        self.assertTrue("Cel" in said and "V" in said, said)

        def check():
            root = "/sta/v1.1/Datastreams('hall%2Fwarmth')"
            unit = json.loads(self.ask("GET", f"{root}/unitOfMeasurement"))["unitOfMeasurement"]["symbol"]
            [told] = json.loads(self.ask("GET", f"{root}/Observations"))["value"]
            self.assertEqual((told["result"], unit), (26.85, "Cel"))
            [found] = json.loads(self.ask("GET", "/history/hall/warmth"))["observations"]
            self.assertEqual((found["value"], found["unit"]), (300, "K"))
            self.assertEqual(json.loads(self.ask("GET", "/catalog/hall/warmth"))["unit"], "Cel")

            catalog = json.loads(self.ask("GET", "/catalog/hall/warmth"))
            self.assertEqual((catalog["value"], catalog["unit"]), (26.85, "Cel"))

        self.each_start(check)

    def test_an_observation_is_of_where_its_thing_was(self):
        """A thing that moved; observations by two protocols; each service tells the feature of each."""
        made = lambda path, body: self.ask("POST", f"/sta/v1.1/{path}", 201, json.dumps(body), JSON)
        first = lambda path: json.loads(self.ask("GET", f"/sta/v1.1/{path}"))["value"][0]["@iot.id"]
        made("Things", {
            "name": "truck", "description": "", "Datastreams": [{
                "name": "load", "description": "", "unitOfMeasurement": {"name": "", "symbol": "kg", "definition": ""},
                "observationType": "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement",
                "Sensor": {"name": "scale", "description": "", "encodingType": "text/html", "metadata": "m"},
                "ObservedProperty": {"name": "mass", "definition": "urn:p:m", "description": ""},
                "properties": {"topic": "truck/load"}}],
        })
        thing = first("Things?$filter=name%20eq%20%27truck%27")
        for name, day, longitude in ("depot", 5, 7.5), ("harbour", 6, 8.5):
            point = {"type": "Point", "coordinates": [longitude, 50.5]}
            made("Locations", {"name": name, "description": "", "encodingType": "application/geo+json", "location": point})
            place = first(f"Locations?$filter=name%20eq%20%27{name}%27")
            made("HistoricalLocations", {
                "time": f"2026-01-0{day}T00:00:00Z", "Thing": {"@iot.id": thing}, "Locations": [{"@iot.id": place}]})
        live = lambda value, time: self.ask("POST", "/live/truck/load", 204, json.dumps({"value": value, "time": time}), JSON)
        live(1, "2026-01-04T12:00:00Z")
        live(2, "2026-01-05T12:00:00Z")
        root = "Datastreams('truck%2Fload')/Observations"
        made(root, {"result": 3, "phenomenonTime": "2026-01-06T12:00:00Z"})
        made(root, {"result": 4, "phenomenonTime": "2026-01-05T18:00:00Z"})
        expected = {1: "depot", 2: "depot", 3: "harbour", 4: "depot"}
        positions = {"depot": "50.5 7.5", "harbour": "50.5 8.5"}

        def check():
            asked = f"/sta/v1.1/{root}?$expand=FeatureOfInterest"
            told = json.loads(self.ask("GET", asked))["value"]
            names = {found["result"]: found["FeatureOfInterest"]["name"] for found in told}
            self.assertEqual(names, expected)
            ids = {found["FeatureOfInterest"]["name"]: str(found["FeatureOfInterest"]["@iot.id"]) for found in told}
            self.assertEqual(len(ids), 2)
            sos = "/sos?service=SOS&version=2.0.0&request="
            observed = sos + "GetObservation&observedProperty=mass"
            for name, feature in ids.items():
                of_it = {value for value, own in expected.items() if own == name}
                found = json.loads(self.ask("GET", f"/sta/v1.1/FeaturesOfInterest({feature})/Observations"))["value"]
                self.assertEqual({one["result"] for one in found}, of_it)
                found = sensor_web.om(self.ask("GET", f"{observed}&featureOfInterest={feature}"))
                self.assertEqual({one["value"] for one in found}, of_it)
                found = ElementTree.fromstring(self.ask("GET", f"{sos}GetFeatureOfInterest&featureOfInterest={feature}"))
                self.assertEqual([one.text for one in found.iter(f"{GML}pos")], [positions[name]])
            found = {one["value"]: one["feature"] for one in sensor_web.om(self.ask("GET", observed))}
            self.assertEqual(found, {value: ids[name] for value, name in expected.items()})

        self.each_start(check)

    def test_the_catalog_tells_no_number_in_a_unit_that_it_is_not_of(self):
        for value, unit, hour in ((20, "Cel", 2), (3.3, "V", 4), (21, "Cel", 6)):
            observation = {"value": value, "unit": unit, "time": f"2026-01-01T0{hour}:00:00Z"}
            self.ask("POST", "/live/mixed", 204, json.dumps(observation), JSON)

        def check():
            entry = json.loads(self.ask("GET", "/catalog/mixed"))
            told = [entry.get(name) for name in ("unit", "value", "asMade", "time")]
            made = {"value": 21, "unit": "Cel"}
            self.assertEqual(told, ["V", None, made, "2026-01-01T06:00:00Z"])

        self.each_start(check)


class Replaced(unittest.TestCase):
    """A sensor that was replaced by one of another property and unit, with a late observation of the first."""

    OLD = [(1.5, "m", "urn:s:old"), (1.75, "m", "urn:s:old")]
    NEW = [(4, "mm", "urn:s:new"), (5, "mm", "urn:s:new")]
    EACH = ("urn:s:old", "level", OLD, 0, 1), ("urn:s:new", "rain", NEW, 2, 3)

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)
        for observation in (
            {"value": 1.5, "unit": "m", "sensor": "urn:s:old", "type": "level", "time": "2026-01-01T00:00:00Z"},
            {"value": 4, "unit": "mm", "sensor": "urn:s:new", "type": "rain", "time": "2026-01-01T02:00:00Z"},
            {"value": 1.75, "time": "2026-01-01T01:00:00Z"},
            {"value": 5, "time": "2026-01-01T03:00:00Z"},
        ):
            cls.ask("POST", "/live/station/gauge", 204, json.dumps(observation), JSON)

    ask = classmethod(Views.ask.__func__)
    each_start = Views.each_start

    def tree(self, query):
        return ElementTree.fromstring(self.ask("GET", f"/sos?service=SOS&{query}"))

    def test_observations_of_each_procedure(self):
        def check():
            for sensor, level, made, _first, _last in self.EACH:
                for version in "1.0.0", "2.0.0":
                    asked = f"offering={sensor}/observations&procedure={sensor}&observedProperty={level}"
                    self.assertEqual(observed(self.ask, version, asked), made, (version, sensor))
                for asked in f"procedure={sensor}", f"observedProperty={level}", f"offering={sensor}/observations":
                    self.assertEqual(observed(self.ask, "2.0.0", asked), made, asked)
                latest = f"procedure={sensor}&temporalFilter=om:phenomenonTime,latest"
                self.assertEqual(observed(self.ask, "2.0.0", latest), made[1:])

        self.each_start(check)

    def test_capabilities(self):
        def check():
            for version, name in ("1.0.0", "observedProperty"), ("2.0.0", "observableProperty"):
                root = self.tree(f"request=GetCapabilities&acceptVersions={version}")
                offered = [found for found in root.iter() if sensor_web.local(found) == "ObservationOffering"]
                told = []
                for offering in offered:
                    below = offering.iter()
                    of = {sensor_web.local(found): found.get(sensor_web.XLINK) or found.text for found in below}
                    told.append((of["procedure"], of[name], of["beginPosition"][11:13], of["endPosition"][11:13]))
                each = [(sensor, level, f"0{first}", f"0{last}") for sensor, level, _made, first, last in self.EACH]
                self.assertEqual(sorted(told), sorted(each), version)

        self.each_start(check)

    def test_results_by_template(self):
        def check():
            for sensor, level, made, _first, _last in self.EACH:
                asked = f"version=2.0.0&offering={sensor}/observations&observedProperty={level}"
                unit = sensor_web.first(self.tree(f"request=GetResultTemplate&{asked}"), "resultStructure")
                codes = [found.get("code") for found in unit.iter() if found.get("code")]
                self.assertEqual(codes, [made[0][1]], sensor)
                values = sensor_web.first(self.tree(f"request=GetResult&{asked}"), "resultValues").text
                told = [float(line.split(",")[1]) for line in values.splitlines()[1:]]
                self.assertEqual(told, [value for value, _unit, _sensor in made], sensor)

        self.each_start(check)

    def test_availability_and_description(self):
        def check():
            asked = "request=GetDataAvailability&version=2.0.0"
            for sensor, level, made, first, last in self.EACH:
                root = self.tree(f"{asked}&procedure={sensor}")
                ends = [sensor_web.first(root, f"{end}Position").text[11:13] for end in ("begin", "end")]
                self.assertEqual(ends, [f"0{first}", f"0{last}"], sensor)
                described = self.tree(
                    "request=DescribeSensor&version=2.0.0"
                    "&procedureDescriptionFormat=http://www.opengis.net/sensorml/2.0"
                    f"&procedure={sensor}&validTime=2026-01-01T0{last}:00:00Z")
                quantity = sensor_web.first(described, "Quantity")
                self.assertEqual((quantity.get("definition"), quantity[0].get("code")), (level, made[0][1]))
                ends = [sensor_web.first(described, f"{end}Position") for end in ("begin", "end")]
                ends = [end.text or end.get("indeterminatePosition") for end in ends]
                change = "2026-01-01T02:00:00Z"
                self.assertEqual(ends, ["unknown", change] if sensor == "urn:s:old" else [change, "now"])

        self.each_start(check)


if __name__ == "__main__":
    unittest.main()
