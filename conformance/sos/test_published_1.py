"""Version 1.0.0 in the shapes that 52North publishes, by POX, SOAP 1.2 and JSON, over a real gateway; each answer is
valid by OGC's schemas. The documents are ours."""

import json
import unittest

from owslib.etree import etree

from gateway import Gateway

from . import documents
from .documents import SOS1, SPECIALIZED
from .published import soap, xml

LAKE = "http://example.org/lake"
SENSOR, LEVEL, FEATURE, OFFERING = (f"{LAKE}/{name}" for name in ("gauge", "level", "shore", "offering"))
NAMES = """service="SOS" version="1.0.0" xmlns="http://www.opengis.net/sos/1.0" xmlns:om="http://www.opengis.net/om/1.0"
 xmlns:sml="http://www.opengis.net/sensorML/1.0.1" xmlns:swe="http://www.opengis.net/swe/1.0.1"
 xmlns:gml="http://www.opengis.net/gml" xmlns:ogc="http://www.opengis.net/ogc"
 xmlns:ows="http://www.opengis.net/ows/1.1"
 xmlns:sa="http://www.opengis.net/sampling/1.0" xmlns:xlink="http://www.w3.org/1999/xlink" """
FORMAT = 'text/xml;subtype="om/1.0.0"'
SML101 = 'text/xml;subtype="sensorML/1.0.1"'
GML = ("http://www.opengis.net/gml", "gml/3.1.1/base/gml.xsd")
FEATURES = (GML, ("http://www.opengis.net/sampling/1.0", "sampling/1.0.0/sampling.xsd"))


def request(operation, inner, attributes=""):
    return f"<{operation} {NAMES}{attributes}>{inner}</{operation}>"


REGISTER = request(
    "RegisterSensor",
    f"""<SensorDescription><sml:SensorML version="1.0.1"><sml:member><sml:System><sml:identification>
      <sml:IdentifierList>
    <sml:identifier><sml:Term definition="urn:ogc:def:identifier:OGC:uniqueID"><sml:value>{SENSOR}
    </sml:value></sml:Term></sml:identifier></sml:IdentifierList></sml:identification>
    <sml:capabilities name="offerings">
    <swe:SimpleDataRecord><swe:field name="The gauge"><swe:Text definition="urn:ogc:def:identifier:OGC:offeringID">
    <swe:value>{OFFERING}</swe:value></swe:Text></swe:field></swe:SimpleDataRecord></sml:capabilities><sml:outputs>
    <sml:OutputList><sml:output name="level"><swe:Quantity definition="{LEVEL}"><swe:uom code="cm"/></swe:Quantity>
    </sml:output></sml:OutputList></sml:outputs></sml:System></sml:member></sml:SensorML></SensorDescription>
    <ObservationTemplate><om:Measurement><om:samplingTime/><om:procedure/><om:observedProperty/><om:featureOfInterest/>
    <om:result uom="">0.0</om:result></om:Measurement></ObservationTemplate>""",
)
INSERT = request(
    "InsertObservation",
    f"""<AssignedSensorId>{SENSOR}</AssignedSensorId><om:Measurement><om:samplingTime><gml:TimeInstant>
    <gml:timePosition>2026-03-01T12:00:00+01:00</gml:timePosition></gml:TimeInstant></om:samplingTime>
    <om:procedure xlink:href="{SENSOR}"/><om:observedProperty xlink:href="{LEVEL}"/><om:featureOfInterest>
    <sa:SamplingPoint gml:id="{FEATURE}"><gml:name>Shore</gml:name><sa:sampledFeature xlink:href=""/><sa:position>
    <gml:Point>
    <gml:pos srsName="urn:ogc:def:crs:EPSG::4326">47.5 7.5</gml:pos></gml:Point></sa:position></sa:SamplingPoint>
    </om:featureOfInterest><om:result uom="cm">10.5</om:result></om:Measurement>""",
)
BOX = """<ogc:BBOX><ogc:PropertyName>urn:ogc:data:location</ogc:PropertyName><gml:Envelope
  srsName="urn:ogc:def:crs:EPSG::4326"><gml:lowerCorner>40.0 7.0</gml:lowerCorner>
  <gml:upperCorner>53.0 10.0</gml:upperCorner>
  </gml:Envelope></ogc:BBOX>"""


def get_observation(feature, model="om:Measurement"):
    inner = f"""<offering>{OFFERING}</offering><eventTime><ogc:TM_During>
      <ogc:PropertyName>om:samplingTime</ogc:PropertyName>
      <gml:TimePeriod><gml:beginPosition>2026-03-01T10:00:00.000Z</gml:beginPosition>
      <gml:endPosition>2026-03-01T12:00:00.000Z</gml:endPosition></gml:TimePeriod></ogc:TM_During></eventTime>
      <procedure>{SENSOR}</procedure><observedProperty>{LEVEL}</observedProperty>
      <featureOfInterest>{feature}</featureOfInterest><responseFormat>{FORMAT.replace('"', "&quot;")}</responseFormat>
      <resultModel>{model}</resultModel><responseMode>inline</responseMode>"""
    return request("GetObservation", inner, 'srsName="urn:ogc:def:crs:EPSG::4326"')


class Version1(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def post(self, body, media):
        headers = {"Content-Type": media, "Accept": media}
        status, _, answer = self.gateway.request("POST", "/sos", body.encode(), headers)
        self.assertEqual(status, 200, answer)
        return answer

    def told(self, operation, imports, by_soap):
        """The answer's root; it is valid."""
        if by_soap:
            root = etree.fromstring(self.post(soap(operation), "application/soap+xml"))[0][0]
        else:
            root = etree.fromstring(self.post(xml(operation), "application/xml"))
        documents.check(self, imports, etree.tostring(root))
        return root

    # [SOS1-11.1-1]
    def test_a_sensors_life_by_pox_and_by_soap(self):
        for by_soap in (False, True):
            with self.subTest(by_soap=by_soap):
                self.life(by_soap)
            self.post(
                f"service=SOS&version=2.0.0&request=DeleteSensor&procedure={SENSOR}", "application/x-www-form-urlencoded"
            )

    def life(self, by_soap):
        self.assertEqual(self.told(REGISTER, SOS1, by_soap)[0].text, SENSOR)
        self.assertTrue(self.told(INSERT, SOS1, by_soap)[0].text.startswith("urn:weir:observation:"))
        for feature in (f"<ObjectID>{FEATURE}</ObjectID>", BOX):
            root = self.told(get_observation(feature), SPECIALIZED, by_soap)
            results = root.findall(".//{http://www.opengis.net/om/1.0}result")
            self.assertEqual([(one.text, one.get("uom")) for one in results], [("10.5", "cm")])
        blocks = self.told(get_observation(BOX, "om:Observation"), SOS1, by_soap)
        (values,) = blocks.iter("{http://www.opengis.net/swe/1.0.1}values")
        self.assertTrue(values.text.startswith("2026-03-01T11:00:00Z,10.5"), values.text)
        for inner in (f"<FeatureOfInterestId>{FEATURE}</FeatureOfInterestId>", f"<location>{BOX}</location>"):
            root = self.told(request("GetFeatureOfInterest", inner), FEATURES, by_soap)
            (name,) = root.iter("{http://www.opengis.net/gml}name")
            self.assertEqual(name.text, FEATURE)
        sections = """<ows:AcceptVersions><ows:Version>1.0.0</ows:Version></ows:AcceptVersions><ows:Sections>
          <ows:Section>All</ows:Section></ows:Sections>"""
        root = self.told(request("GetCapabilities", sections).replace(' version="1.0.0"', "", 1), SOS1, by_soap)
        (offering,) = root.iter("{http://www.opengis.net/sos/1.0}ObservationOffering")
        names = [one.text for one in offering.findall("{http://www.opengis.net/gml}name")]
        self.assertEqual(names, [OFFERING, "The gauge"])
        form = f'outputFormat="{SML101.replace(chr(34), "&quot;")}"'
        describe = request("DescribeSensor", f"<procedure>{SENSOR}</procedure>", form)
        self.assertIn(SENSOR, etree.tostring(self.told(describe, SOS1, by_soap)).decode())

    # [SOS1-11.1-1]
    def test_what_is_there_is_asked_for_in_json(self):
        for body in (REGISTER, INSERT):
            self.post(xml(body), "application/xml")

        def told(operation, **members):
            asked = {"request": operation, "service": "SOS", "version": "1.0.0", **members}
            return json.loads(self.post(json.dumps(asked), "application/json"))

        names = {"offering": OFFERING, "observedProperty": [LEVEL], "responseFormat": FORMAT}
        found = told("GetObservation", **names, resultModel="om:Measurement")
        self.assertEqual(found["member"]["Measurement"]["result"]["value"], "10.5")
        self.assertEqual(found["version"], "1.0.0")
        self.assertIn(SENSOR, json.dumps(told("DescribeSensor", procedure=SENSOR, outputFormat=SML101)))
        self.assertIn("47.5 7.5", json.dumps(told("GetFeatureOfInterest", FeatureOfInterestId=[FEATURE])))
        self.assertIn("The gauge", json.dumps(told("GetCapabilities", AcceptVersions=["1.0.0"])))


if __name__ == "__main__":
    unittest.main()
