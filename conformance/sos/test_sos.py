"""OWSLib's client of either version reads a real gateway; its answers are valid by OGC's schemas."""

import unittest
import urllib.parse

from owslib.etree import etree
from owslib.ows import ExceptionReport
from owslib.sos import SensorObservationService
from owslib.swe.observation.sos200 import SOSGetObservationResponse
from owslib.swe.sensor.sml import SensorML

from gateway import Gateway

from . import documents
from .documents import SOS1, SOS2, SPECIALIZED

SML101 = 'text/xml;subtype="sensorML/1.0.1"'


class Reading(unittest.TestCase):
    """What publishes without configuration, read by OWSLib."""

    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        for minute in range(3):
            time = f"2026-01-01T00:0{minute}:00Z"
            cls.gateway.publish("kitchen/humidity", {"value": 40 + minute, "time": time})
            north = {"sensor": "urn:s:north", "type": "urn:p:temperature", "unit": "Cel", "lat": 50.5, "lon": 7.5}
            cls.gateway.publish("north/t", {"observations": [{**north, "value": minute + 0.5, "time": time}]})
        cls.url = f"{cls.gateway.url}/sos"

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def get(self, **query):
        path = "/sos?" + urllib.parse.urlencode({"service": "SOS", **query})
        status, _, body = self.gateway.request("GET", path)
        return status, body

    def valid(self, imports, **query):
        status, body = self.get(**query)
        self.assertEqual(status, 200, body)
        documents.check(self, imports, body)
        return etree.fromstring(body)

    def test_owslib_reads_2_0(self):
        sos = SensorObservationService(self.url, version="2.0.0")
        offering = sos.contents["urn:s:north/observations"]
        self.assertEqual(offering.procedures, ["urn:s:north"])
        self.assertEqual(offering.observed_properties, ["urn:p:temperature"])
        self.assertEqual(offering.bbox, (7.5, 50.5, 7.5, 50.5))
        self.assertEqual(offering.begin_position.minute, 0)
        self.assertEqual(offering.end_position.minute, 2)
        self.assertIn("urn:weir:procedure:kitchen/observations", sos.contents)
        self.assertEqual(offering.response_formats, ["http://www.opengis.net/om/2.0", "text/plain;profile=swe"])
        self.assertEqual(len(offering.procedure_description_formats), 2)
        body = sos.get_observation(
            offerings=[offering.id],
            observedProperties=offering.observed_properties,
            responseFormat="http://www.opengis.net/om/2.0",
            eventTime="om:phenomenonTime,2026-01-01T00:01:00Z/2026-01-01T00:02:00Z",
        )
        read = SOSGetObservationResponse(etree.fromstring(body)).observations
        self.assertEqual([one.get_result().value for one in read], [1.5, 2.5])
        self.assertEqual({one.get_result().uom for one in read}, {"Cel"})
        self.assertEqual(read[0].procedure, "urn:s:north")
        described = sos.describe_sensor(outputFormat="http://www.opengis.net/sensorml/2.0", procedure="urn:s:north")
        self.assertIn(b"PhysicalSystem", described)
        with self.assertRaises(ExceptionReport):
            raise_report(self.get(version="2.0.0", request="GetObservation", offering="no")[1])

    # [SOS1-8.2-1] [SOS1-8.3-1]
    def test_owslib_reads_1_0(self):
        sos = SensorObservationService(self.url, version="1.0.0")
        offering = next(one for one in sos.offerings if one.name == "urn:s:north/observations")
        self.assertEqual(offering.procedures, ["urn:s:north"])
        self.assertEqual(offering.bbox, (7.5, 50.5, 7.5, 50.5))
        body = sos.get_observation(
            offerings=[offering.id],
            observedProperties=offering.observed_properties,
            responseFormat=offering.response_formats[0],
            eventTime="2026-01-01T00:00:00Z/2026-01-01T00:01:00Z",
        )
        self.assertIn(b"2026-01-01T00:00:00Z,0.5;2026-01-01T00:01:00Z,1.5;", body)
        described = sos.describe_sensor(outputFormat=SML101, procedure="urn:s:north")
        system = SensorML(described).members[0]
        self.assertEqual(system.get_identifiers_by_name("uniqueID")[0].value, "urn:s:north")

    # [SOS2-8.1-5] [SOS2-8.3-5] [SOS2-10.1-1]
    def test_answers_of_2_0_are_valid(self):
        self.valid(SOS2, request="GetCapabilities", AcceptVersions="2.0.0")
        self.valid(SOS2, request="GetCapabilities", AcceptVersions="2.0.0", sections="Contents")
        root = self.valid(SOS2, request="GetObservation", version="2.0.0")
        self.assertEqual(len(root), 6)
        self.valid(SOS2, request="GetObservation", version="2.0.0", temporalFilter="om:phenomenonTime,1990-01-01")
        self.valid(SOS2, request="GetFeatureOfInterest", version="2.0.0")
        sml = "http://www.opengis.net/sensorml/2.0"
        for procedure in ("urn:s:north", "urn:weir:procedure:kitchen"):
            asked = {"request": "DescribeSensor", "version": "2.0.0", "procedure": procedure}
            self.valid(SOS2, **asked, procedureDescriptionFormat=sml)
        names = {"offering": "urn:s:north/observations", "observedProperty": "urn:p:temperature", "version": "2.0.0"}
        self.valid(SOS2, request="GetResultTemplate", **names)
        self.valid(SOS2, request="GetResult", **names)
        status, report = self.get(request="GetObservation", version="2.0.0", offering="no")
        self.assertEqual(status, 400)
        documents.check(self, SOS2, report)

    # [SOS1-8.2-1] [SOS1-8.4-3] [SOS1-10.4-1]
    def test_answers_of_1_0_are_valid(self):
        self.valid(SOS1, request="GetCapabilities", AcceptVersions="1.0.0")
        names = {"offering": "urn:s:north/observations", "observedProperty": "urn:p:temperature", "version": "1.0.0"}
        self.valid(SOS1, request="GetObservation", responseFormat='text/xml;subtype="om/1.0.0"', **names)
        asked = {"request": "DescribeSensor", "version": "1.0.0", "outputFormat": SML101}
        self.valid(SOS1, **asked, procedure="urn:s:north")
        measured = {"responseFormat": 'text/xml;subtype="om/1.0.0"', "resultModel": "om:Measurement", **names}
        root = self.valid(SPECIALIZED, request="GetObservation", **measured)
        results = root.findall(".//{http://www.opengis.net/om/1.0}Measurement/{http://www.opengis.net/om/1.0}result")
        self.assertEqual([(one.text, one.get("uom")) for one in results], [(f"{n}.5", "Cel") for n in range(3)])
        when = {"request": "GetFeatureOfInterestTime", "FeatureOfInterestId": "urn:weir:feature:north/t"}
        period = self.valid((("http://www.opengis.net/gml", "gml/3.1.1/base/gml.xsd"),), version="1.0.0", **when)
        self.assertEqual([end.text for end in period], ["2026-01-01T00:00:00Z", "2026-01-01T00:02:00Z"])


def raise_report(body):
    raise ExceptionReport(etree.fromstring(body))


class Inserting(unittest.TestCase):
    """What a client registers and inserts, by POX and by SOAP, is there after a crash, and live for others."""

    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def post(self, body, media="application/xml", status=200):
        found, headers, answer = self.gateway.request("POST", "/sos", body, {"Content-Type": media})
        self.assertEqual(found, status, answer)
        return answer

    def observations(self):
        path = "/sos?service=SOS&version=2.0.0&request=GetObservation&procedure=urn:s:gauge"
        body = self.gateway.request("GET", path)[2]
        return SOSGetObservationResponse(etree.fromstring(body)).observations

    # [SOS2-10.4-2] [SOS2-8.1-14]
    def test_2700_observations_go_in_and_out_and_survive_a_crash(self):
        documents.check(self, SOS2, documents.INSERT_SENSOR.encode())
        documents.check(self, SOS2, self.post(documents.INSERT_SENSOR))
        request = documents.insert_observations(2700)
        documents.check(self, SOS2, self.post(request))
        self.gateway.restart()
        read = self.observations()
        self.assertEqual([one.get_result().value for one in read], [number / 100 for number in range(2700)])
        self.assertEqual(read[0].featureOfInterest, "urn:f:river")
        path = "/sos?service=SOS&request=GetCapabilities&AcceptVersions=2.0.0"
        listed = self.gateway.request("GET", path)[2]
        documents.check(self, SOS2, listed)
        self.assertIn(b'<swes:target xlink:href="urn:f:river"/>', listed)
        latest = self.gateway.history("sos/urn:s:gauge/urn:p:level", limit=10000)
        self.assertEqual(len(latest), 2700)

    # [SOS2-11.1-2]
    def test_results_go_in_by_soap(self):
        def soap(body):
            return f'<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>{body}</e:Body></e:Envelope>'

        for request in (documents.INSERT_SENSOR, documents.INSERT_TEMPLATE, documents.INSERT_RESULT):
            documents.check(self, SOS2, request.encode())
            answer = etree.fromstring(self.post(soap(request), "application/soap+xml"))
            documents.check(self, SOS2, etree.tostring(answer[0][0]))
        self.assertEqual([one.get_result().value for one in self.observations()], [1.5, 1.75])
        fault = self.post(soap(documents.INSERT_RESULT.replace("urn:t:1", "urn:no")), "application/soap+xml", 400)
        self.assertIn(b"ows:InvalidParameterValue", fault)
