"""Requirements of OGC 12-006 operation by operation and binding by binding, over a real gateway.

The requests that a server must refuse are those of OGC's executable suite of SOS 2.0 (opengeospatial/ets-sos20), whose
own scripts need TEAM Engine and schemas from the Web.
"""

import unittest
import urllib.parse

from owslib.etree import etree

from gateway import Gateway

from . import documents
from .documents import SOS2

NAMESPACES = {
    "sos": "http://www.opengis.net/sos/2.0",
    "swes": "http://www.opengis.net/swes/2.0",
    "ows": "http://www.opengis.net/ows/1.1",
    "om": "http://www.opengis.net/om/2.0",
    "gml": "http://www.opengis.net/gml/3.2",
    "swe": "http://www.opengis.net/swe/2.0",
    "env": "http://www.w3.org/2003/05/soap-envelope",
}
SENSOR = "http://www.opengis.net/sensorml/2.0"
ONE = {"offering": "urn:s:north/observations", "observedProperty": "urn:p:temperature"}
OPERATIONS = {
    "DescribeSensor": {"procedure": "urn:s:north", "procedureDescriptionFormat": SENSOR},
    "GetObservation": {},
    "GetFeatureOfInterest": {},
    "GetObservationById": {"observation": "urn:o:1"},
    "GetResultTemplate": ONE,
    "GetResult": ONE,
    "DeleteSensor": {"procedure": "urn:s:none"},
    "InsertSensor": {},
    "InsertObservation": {},
    "InsertResultTemplate": {},
    "InsertResult": {},
}
SWES = {"DescribeSensor", "InsertSensor", "DeleteSensor"}
AREA = "om:featureOfInterest/*/sams:shape,{},urn:ogc:def:crs:EPSG::4326"


def element(operation, attributes, parameters):
    """A request in XML."""
    prefix = "swes" if operation in SWES else "sos"
    inside = "".join(f"<{prefix}:{name}>{value}</{prefix}:{name}>" for name, value in parameters.items())
    said = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    names = f'xmlns:sos="{NAMESPACES["sos"]}" xmlns:swes="{NAMESPACES["swes"]}"'
    return f"<{prefix}:{operation} {names} {said}>{inside}</{prefix}:{operation}>"


def envelope(inside):
    return f'<e:Envelope xmlns:e="{NAMESPACES["env"]}"><e:Body>{inside}</e:Body></e:Envelope>'


class Requirements(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        for minute in range(3):
            time = f"2026-01-01T00:0{minute}:00Z"
            north = {"sensor": "urn:s:north", "type": "urn:p:temperature", "unit": "Cel", "lat": 50.5, "lon": 7.5}
            cls.gateway.publish("north/t", {"observations": [{**north, "value": minute + 0.5, "time": time}]})
        south = {"sensor": "urn:s:south", "type": "urn:p:open", "value": True, "time": "2026-01-01T00:00:00Z"}
        cls.gateway.publish("south/door", {"observations": [south]})

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def kvp(self, query):
        path = "/sos?" + urllib.parse.urlencode(query)
        status, _, body = self.gateway.request("GET", path)
        return status, etree.fromstring(body)

    def get(self, operation, **parameters):
        asked = {"service": "SOS", "version": "2.0.0", "request": operation, **parameters}
        status, root = self.kvp(asked)
        self.assertEqual(status, 200, etree.tostring(root))
        documents.check(self, SOS2, etree.tostring(root))
        return root

    def post(self, body, media):
        status, _, said = self.gateway.request("POST", "/sos", body, {"Content-Type": media})
        return status, said

    def in_each_binding(self, operation, attributes, parameters):
        """The same request as key-value pairs, as XML and in an envelope: what each is answered with."""
        body = element(operation, attributes, parameters)
        yield "kvp", *self.kvp({"request": operation, **attributes, **parameters})
        for name, text, media in (
            ("pox", body, "application/xml"),
            ("soap", envelope(body), "application/soap+xml"),
        ):
            status, said = self.post(text, media)
            yield name, status, etree.fromstring(said)

    def find(self, root, path):
        return root.findall(f".//{path}", NAMESPACES)

    def texts(self, root, path):
        return [one.text for one in self.find(root, path)]

    # [SOS2-8.0-1] [SOS2-8.0-6]
    def test_each_operation_needs_its_service_and_its_version(self):
        for operation, parameters in OPERATIONS.items():
            for name in ("service", "version"):
                for value, code in ((None, "Missing"), ("", "Missing"), ("no", "Invalid")):
                    attributes = {"service": "SOS", "version": "2.0.0", name: value}
                    attributes = {key: said for key, said in attributes.items() if said is not None}
                    for binding, status, root in self.in_each_binding(operation, attributes, parameters):
                        with self.subTest(operation=operation, binding=binding, name=name, value=value):
                            (exception,) = self.find(root, "ows:Exception") or [root]
                            found = (exception.get("exceptionCode"), exception.get("locator"))
                            self.assertEqual((status, *found), (400, f"{code}ParameterValue", name))
                            if binding == "soap":
                                self.assertEqual(len(self.find(root, "env:Fault")), 1)

    # [SOS2-8.1-12] [SOS2-8.1-13] [SOS2-13.2-2]
    def test_an_offering_says_om_2_0_and_types_of_one_result(self):
        root = self.kvp({"service": "SOS", "request": "GetCapabilities", "AcceptVersions": "2.0.0"})[1]
        documents.check(self, SOS2, etree.tostring(root))
        contents = self.find(root, "sos:Contents")[0]
        own = [one.text for one in contents.findall("sos:responseFormat", NAMESPACES)]
        offerings = self.find(root, "sos:ObservationOffering")
        self.assertEqual(len(offerings), 2)
        types = "http://www.opengis.net/def/observationType/OGC-OM/2.0/"
        for offering in offerings:
            self.assertIn(NAMESPACES["om"], self.texts(offering, "sos:responseFormat") or own)
            (named,) = self.texts(offering, "sos:observationType")
            expected = "Truth" if "south" in self.texts(offering, "swes:identifier")[0] else ""
            self.assertEqual(named, types + ("OM_TruthObservation" if expected else "OM_Measurement"))

    # [SOS2-9.1-3] [SOS2-9.1-4] [SOS2-9.1-5] [SOS2-13.3-1]
    def test_features_are_picked_by_pairs_or_none(self):
        def named(**parameters):
            root = self.get("GetFeatureOfInterest", **parameters)
            self.assertEqual(etree.QName(root).localname, "GetFeatureOfInterestResponse")
            members = root.findall("sos:featureMember", NAMESPACES)
            self.assertEqual(len(members), len(root))
            return len(members)

        self.assertEqual(named(), 2)
        self.assertEqual(named(procedure="urn:s:north"), 1)
        self.assertEqual(named(procedure="urn:s:north,urn:s:south"), 2)
        self.assertEqual(named(procedure="urn:s:north", observedProperty="urn:p:open"), 0)
        self.assertEqual(named(spatialFilter=AREA.format("50,7,51,8")), 1)
        self.assertEqual(named(spatialFilter=AREA.format("1,1,2,2")), 0)

    # [SOS2-9.2-3] [SOS2-9.2-4]
    def test_what_is_found_by_identifier_has_it_or_none(self):
        all_of_them = self.texts(self.get("GetObservation", procedure="urn:s:north"), "gml:identifier")
        self.assertEqual(len(set(all_of_them)), 3)
        asked = all_of_them[::2]
        root = self.get("GetObservationById", observation=",".join(asked))
        self.assertEqual(self.texts(root, "gml:identifier"), asked)
        self.assertEqual({etree.QName(one).localname for one in root}, {"observation"})
        gone = all_of_them[0].replace("2026-01-01", "1990-01-01")
        self.assertEqual(len(self.get("GetObservationById", observation=gone)), 0)

    # [SOS2-11.2-5] [SOS2-13.4-1]
    def test_results_and_their_template_are_asked_for_by_pairs(self):
        root = self.get("GetResultTemplate", **ONE)
        parts = [etree.QName(one).localname for one in root]
        self.assertEqual(parts, ["resultStructure", "resultEncoding"])
        (uom,) = [one.get("code") for one in self.find(root, "swe:Quantity/swe:uom")]
        self.assertEqual(uom, "Cel")
        (encoding,) = self.find(root, "swe:TextEncoding")
        token, block = encoding.get("tokenSeparator"), encoding.get("blockSeparator")

        def values(**parameters):
            (text,) = self.texts(self.get("GetResult", **ONE, **parameters), "sos:resultValues")
            count, *records = (text or "0").strip().split(block)
            self.assertEqual(int(count), len(records))
            return [record.split(token)[1] for record in records]

        self.assertEqual(values(), ["0.5", "1.5", "2.5"])
        period = "om:phenomenonTime,2026-01-01T00:01:00Z/2026-01-01T00:02:00Z"
        self.assertEqual(values(temporalFilter=period), ["1.5", "2.5"])
        self.assertEqual(values(spatialFilter=AREA.format("50,7,51,8")), ["0.5", "1.5", "2.5"])

    # [SOS2-13.2-3] [SOS2-13.2-4]
    def test_observations_and_sensors_are_asked_for_by_pairs(self):
        root = self.get("DescribeSensor", **OPERATIONS["DescribeSensor"])
        self.assertEqual(self.texts(root, "swes:procedureDescriptionFormat"), [SENSOR])

        def count(**parameters):
            return len(self.find(self.get("GetObservation", **parameters), "om:OM_Observation"))

        names = "xmlns(om,http://www.opengis.net/om/2.0)"
        for parameters, expected in (
            ({}, 4),
            ({"offering": "urn:s:north/observations,urn:s:south/observations"}, 4),
            ({"observedProperty": "urn:p:open"}, 1),
            ({"temporalFilter": "om:phenomenonTime,2026-01-01T00:01:00Z"}, 1),
            ({"temporalFilter": "om:phenomenonTime,2026-01-01T00:01:00Z/2026-01-01T00:02:00Z"}, 2),
            ({"namespaces": names, "temporalFilter": "om:phenomenonTime,2026-01-01T00:00:00Z"}, 2),
            ({"spatialFilter": AREA.format("50,7,51,8")}, 3),
        ):
            with self.subTest(parameters):
                self.assertEqual(count(**parameters), expected)
        reversed_period = "om:phenomenonTime,2026-01-01T00:02:00Z/2026-01-01T00:01:00Z"
        for value in (reversed_period, "om:phenomenonTime,yesterday", "om:no,2026-01-01"):
            asked = {"service": "SOS", "version": "2.0.0", "request": "GetObservation", "temporalFilter": value}
            status, root = self.kvp(asked)
            (exception,) = self.find(root, "ows:Exception")
            self.assertEqual((status, exception.get("locator")), (400, "temporalFilter"), value)

    # [SOS2-13.5-3]
    def test_a_property_that_an_offering_lacks_is_a_fault(self):
        attributes = {"service": "SOS", "version": "2.0.0"}
        parameters = {**ONE, "observedProperty": "urn:p:open"}
        body = envelope(element("GetResultTemplate", attributes, parameters))
        root = etree.fromstring(self.post(body, "application/soap+xml")[1])
        code, subcode = self.texts(root, "env:Value")
        self.assertEqual((code.partition(":")[2], subcode), ("Sender", "sos:InvalidPropertyOfferingCombination"))
        (reason,) = self.texts(root, "env:Text")
        self.assertTrue(reason.startswith("Observations for the requested combination of observedProperty"), reason)
        self.assertTrue(reason.endswith("do not use SWE Common encoded results."), reason)
        (exception,) = self.find(root, "ows:Exception")
        self.assertEqual(exception.get("exceptionCode"), "InvalidPropertyOfferingCombination")


if __name__ == "__main__":
    unittest.main()
