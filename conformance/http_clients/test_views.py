"""The same observations by every service: each as it was made, or in the one unit that the service has for all."""

import json
import unittest

import sensor_web
from gateway import Gateway

JSON = {"Content-Type": "application/json"}
MADE = [(1.42, "m", "urn:s:old"), (2, "m", "urn:s:old"), (50, "cm", "urn:s:new"), (51, "cm", "urn:s:new")]
IN_CM = [142, 200, 50, 51]


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
            for version, read in ("2.0.0", sensor_web.om), ("1.0.0", sensor_web.om1):
                query = f"/sos?service=SOS&version={version}&request=GetObservation&observedProperty=level"
                query += "" if version == "2.0.0" else "&offering=urn:s:new/observations&responseFormat=text/xml;subtype=%22om/1.0.0%22"
                told = sorted(read(self.ask("GET", query)), key=lambda found: found["time"])
                made = [(found["value"], found["unit"], found["sensor"]) for found in told]
                self.assertEqual(made, MADE, version)

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

        self.each_start(check)


if __name__ == "__main__":
    unittest.main()
