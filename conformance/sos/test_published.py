"""What 52North publishes as example requests goes through here, shape by shape and binding by binding, or is refused by
the exception that the standard names."""

import unittest
import urllib.parse

from owslib.etree import etree

from gateway import Gateway

from . import documents
from . import published as shape
from .documents import SOS2
from .published import FEATURE, LAKE, OFFERING, SENSOR, SHAPE, SML, SML101
from .test_requirements import NAMESPACES

REQUESTS = (
    *SOS2,
    ("http://www.opengis.net/om/2.0", "om/2.0/observation.xsd"),
)
SPACES = "xmlns(sams,http://www.opengis.net/samplingSpatial/2.0),xmlns(om,http://www.opengis.net/om/2.0)"
DELETE = f"<swes:DeleteSensor {shape.NAMES}><swes:procedure>{SENSOR}</swes:procedure></swes:DeleteSensor>"
KVP_BOX = "om:featureOfInterest/*/sams:shape,0.0,0.0,60.0,60.0,{}"


class Shapes(unittest.TestCase):
    """A gateway, and how it is asked."""

    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def post(self, request, media="application/xml", status=200):
        found, _, answer = self.gateway.request("POST", "/sos", request, {"Content-Type": media, "Accept": media})
        self.assertEqual(found, status, answer)
        return answer

    def pox(self, request, valid=True):
        """The answer's root; the answer is valid, and the request is what clients of others send."""
        if valid:
            documents.check(self, REQUESTS, request.encode())
        answer = self.post(shape.xml(request).encode())
        documents.check(self, SOS2, answer)
        return etree.fromstring(answer)

    def soap(self, request):
        answer = etree.fromstring(self.post(shape.soap(request).encode(), "application/soap+xml"))
        inner = answer[0][0]
        documents.check(self, SOS2, etree.tostring(inner))
        return inner

    def get(self, operation, **parameters):
        query = {"service": "SOS", "version": "2.0.0", "request": operation, **parameters}
        status, _, body = self.gateway.request("GET", "/sos?" + urllib.parse.urlencode(query))
        self.assertEqual(status, 200, body)
        return etree.fromstring(body)

    def texts(self, root, path):
        return [one.text for one in root.findall(f".//{path}", NAMESPACES)]

    def results(self, name):
        root = self.get("GetObservation", offering=OFFERING, observedProperty=f"{LAKE}/{name}")
        documents.check(self, SOS2, etree.tostring(root))
        return self.texts(root, "om:result")

    def refused(self, request, code, locator):
        """By POX and in an envelope."""
        for body, media, status in (
            (shape.xml(request), "application/xml", (400, 501)),
            (shape.soap(request), "application/soap+xml", (400, 500)),
        ):
            found, _, answer = self.gateway.request("POST", "/sos", body.encode(), {"Content-Type": media})
            (exception,) = etree.fromstring(answer).findall(".//ows:Exception", NAMESPACES)
            self.assertIn(found, status)
            self.assertEqual((exception.get("exceptionCode"), exception.get("locator")), (code, locator), answer)


class Sensors(Shapes):
    # [SOS2-10.2-4]
    def test_a_sensor_with_an_offering_is_inserted_in_both(self):
        old = shape.insert_sensor(shape.old_description(), SML101, shape.OLD_NAMES)
        for send, request in ((self.pox, shape.insert_sensor()), (self.soap, shape.insert_sensor()), (self.soap, old)):
            root = send(request)
            self.assertEqual([one.text for one in root], [SENSOR, OFFERING])
            capabilities = self.get("GetCapabilities", Sections="Contents")
            documents.check(self, SOS2, etree.tostring(capabilities))
            (offering,) = capabilities.findall(".//sos:ObservationOffering", NAMESPACES)
            named = [self.texts(offering, f"swes:{name}") for name in ("identifier", "name", "procedure")]
            self.assertEqual(named, [[OFFERING], ["Lake #1"], [SENSOR]])
            form = SML101 if request is old else SML
            for asked in (SML, SML101):
                described = self.get("DescribeSensor", procedure=SENSOR, procedureDescriptionFormat=asked)
                self.assertIn(OFFERING, etree.tostring(described).decode(), (form, asked))
            self.gateway.restart()
            self.get("GetObservation", offering=OFFERING)
            self.pox(DELETE)

    # [SOS2-10.2-3]
    def test_a_description_is_replaced_and_offerings_with_it(self):
        self.pox(shape.insert_sensor())
        for send in (self.pox, self.soap):
            self.assertEqual([one.text for one in send(shape.UPDATE)], [SENSOR])
        capabilities = self.get("GetCapabilities", Sections="Contents")
        self.assertEqual(self.texts(capabilities, "swes:name"), ["Lake, renamed", "Lake #2"])
        second = f"{LAKE}/offering/2"
        both = shape.insert(shape.observation(1, "Measurement", "height", shape.MEASURE), offerings=(OFFERING, second))
        self.pox(both)
        self.assertEqual(len(self.get("GetObservation", offering=second)), 1)
        self.assertEqual([one.text for one in self.pox(DELETE)], [SENSOR])

    def test_a_component_observes_for_the_offering_of_its_system(self):
        system = shape.description(shape.MAST, ((shape.SYSTEM, "The system"),))
        self.pox(shape.insert_sensor(system))
        cup = self.pox(shape.insert_sensor(shape.component()))
        self.assertEqual(cup[1].text, f"{LAKE}/procedure/cup/observations")
        one = shape.observation(1, "Measurement", "height", shape.MEASURE, procedure=f"{LAKE}/procedure/cup")
        self.pox(shape.insert(one, offerings=(shape.SYSTEM,)))
        self.assertEqual(self.texts(self.get("GetObservation", offering=shape.SYSTEM), "om:result"), ["0.28"])

    # [SOS2-8.0-4]
    def test_what_others_add_to_the_standard_is_not_there(self):
        for name, space in (
            ("DeleteObservation", "http://www.opengis.net/sosdo/2.0"),
            ("InsertFeatureOfInterest", "http://www.opengis.net/ifoi/1.0"),
            ("DeleteResultTemplate", "http://www.opengis.net/drt/1.0"),
            ("UpdateResultTemplate", "http://www.opengis.net/sosurt/1.0"),
        ):
            request = f'<x:{name} xmlns:x="{space}" service="SOS" version="2.0.0"><x:any>urn:x</x:any></x:{name}>'
            self.refused(request, "OperationNotSupported", name)
        water = "http://www.opengis.net/waterml/2.0/observationProcess"
        insert = shape.insert_sensor(form=water)
        self.refused(insert, "InvalidParameterValue", "procedureDescriptionFormat")


class Observations(Shapes):
    def setUp(self):
        super().setUp()
        self.pox(shape.insert_sensor())

    # [SOS2-10.4-2]
    def test_an_observation_of_each_type_goes_in_and_out(self):
        for number, (kind, name, result, expected) in enumerate(
            (
                ("CategoryObservation", "condition", shape.CATEGORY, "calm"),
                ("CountObservation", "count", shape.COUNT, "15"),
                ("Measurement", "height", shape.MEASURE, "0.28"),
                ("TextObservation", "note", shape.TEXT, "a note"),
                ("TruthObservation", "frozen", shape.TRUTH, "true"),
                ("ReferenceObservation", "link", shape.REFERENCE, "urn:x:link"),
            ),
            1,
        ):
            with self.subTest(kind):
                self.pox(shape.insert(shape.observation(number, kind, name, result)))
                self.soap(shape.insert(shape.observation(number + 1, kind, name, result)))
                self.assertEqual(self.results(name), [expected] * 2)

    def test_several_in_one_refer_to_what_the_first_says(self):
        self.pox(shape.multiple())
        root = self.get("GetObservation", offering=OFFERING, featureOfInterest=FEATURE)
        self.assertEqual(sorted(self.texts(root, "om:result")), ["0.28", "15", "a note", "calm", "true"])
        self.assertEqual(set(self.texts(root, "gml:timePosition")), {"2026-03-01T12:00:00Z"})
        self.assertEqual(set(self.texts(root, "gml:pos")), {"47.5 7.5"})

    def test_parameters_and_the_place_of_an_observation_are_kept(self):
        inner = shape.PARAMETERS + shape.DEPTH + shape.HERE
        self.pox(shape.insert(shape.observation(1, "Measurement", "height", shape.MEASURE, inner)))
        (row,) = self.gateway.history("sos/#")
        self.assertEqual((row["lat"], row["lon"]), (47.9, 7.9))
        depth = "http://www.opengis.net/def/param-name/OGC-OM/2.0/depth"
        expected = {"quantity": 5, "truth": True, "category": "calm", "count": 3, "text": "words", depth: 5}
        self.assertEqual(row["parameters"], expected)

    def test_arrays_and_records_are_observations_by_themselves(self):
        array = shape.observation(7, "SWEArrayObservation", "waves", shape.ARRAY, times=shape.PERIOD)
        for extension in ("", shape.SPLIT):
            self.pox(shape.insert(array, extension=extension))
        self.assertEqual(self.results("waves"), ["0.5", "0.5", "0.75", "0.75", "1.25", "1.25"])
        self.pox(shape.insert(shape.observation(8, "ComplexObservation", "weather", shape.COMPLEX)))
        expected = {"air": "18.5", "sky": "sunny", "birds": "35", "said": "by hand", "freezing": "false"}
        for name, result in expected.items():
            self.assertEqual(self.results(name), [result], name)

    # [SOS2-12.0-3]
    def test_geometries_and_other_reference_systems_are_refused(self):
        geometry = shape.observation(1, "GeometryObservation", "place", shape.GEOMETRY)
        self.refused(shape.insert(geometry), "InvalidParameterValue", "observation")
        far = shape.place(1, "http://www.opengis.net/def/crs/EPSG/0/31467", "5756540.788 3407364.580")
        elsewhere = shape.observation(1, "Measurement", "height", shape.MEASURE, feature=far)
        self.refused(shape.insert(elsewhere), "InvalidParameterValue", "observation")


class Questions(Shapes):
    """Five observations of a lake, and those of another; every filter that the examples have."""

    def setUp(self):
        super().setUp()
        self.pox(shape.insert_sensor())
        self.pox(shape.multiple())
        self.gateway.publish_value("other/t", 1)

    # [SOS2-8.3-1] [SOS2-8.3-3] [SOS2-8.3-4]
    def test_every_filter_in_xml(self):
        who = f"<sos:procedure>{SENSOR}</sos:procedure>"
        where = f"<sos:offering>{OFFERING}</sos:offering>"
        what = f"<sos:observedProperty>{LAKE}/height</sos:observedProperty>"
        merge = """<swes:extension><swe:Boolean definition="MergeObservationsIntoDataArray"><swe:value>true</swe:value>
          </swe:Boolean></swes:extension>"""
        whom = f"<sos:featureOfInterest>{FEATURE}</sos:featureOfInterest>"
        form = "<sos:responseFormat>http://www.opengis.net/om/2.0</sos:responseFormat>"
        day = shape.during("2026-03-01T12:00:00.000+01:00", "2026-03-01T15:00:00.000+01:00")
        area = shape.box(SHAPE, "0 0", "60 60")
        sampled = shape.box("http://www.opengis.net/req/omxml/2.0/data/samplingGeometry", "0 0", "60 60")
        for inner, expected in (
            (who + where + what + day + whom + area + form, 1),
            (merge + who, 5),
            (where + what + f"<sos:observedProperty>{LAKE}/count</sos:observedProperty>", 2),
            (who + shape.equals("2026-03-01T13:00:00.000+01:00"), 5),
            (who + shape.equals("2026-03-01T14:00:00.000+01:00"), 0),
            (who + shape.equals("first"), 5),
            (who + shape.equals("latest"), 5),
            (who + shape.during("2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z", "resultTime"), 5),
            (who + shape.equals("2026-03-01T13:00:00.000+01:00", "resultTime"), 5),
            (who + sampled, 5),
            (who + shape.box(SHAPE, "0 0", "1 1"), 0),
            (shape.result_filter("15") + who, 1),
            ("", 6),
        ):
            with self.subTest(inner):
                for send in (self.pox, self.soap):
                    self.assertEqual(len(send(shape.get_observation(inner))), expected)

    # [SOS2-13.2-4]
    def test_every_filter_in_pairs(self):
        both = f"{LAKE}/height,{LAKE}/count"
        for parameters, expected in (
            ({"MergeObservationsIntoDataArray": "true", "procedure": SENSOR}, 5),
            ({"featureOfInterest": FEATURE}, 5),
            ({"featureOfInterest": f"{FEATURE},{FEATURE}2"}, 5),
            ({"observedProperty": both}, 2),
            ({"offering": OFFERING, "language": "ger", "crs": "EPSG::4258"}, 5),
            ({"offering": f"{OFFERING},urn:weir:procedure:other/observations"}, 6),
            ({"namespaces": SPACES, "spatialFilter": KVP_BOX.format(shape.WGS84)}, 5),
            ({"namespaces": SPACES, "spatialFilter": KVP_BOX.format("urn:ogc:def:crs:EPSG::4326")}, 5),
            ({"temporalFilter": "om:phenomenonTime,2026-03-01T14:00:00+02:00/2026-03-01T14:15:00+02:00"}, 5),
            ({"temporalFilter": "om:phenomenonTime,2026-03-01T11:00:00.000-01:00"}, 5),
            ({"temporalFilter": "om:phenomenonTime,2026-03-01"}, 5),
            ({"temporalFilter": "om:phenomenonTime,2026-03-02"}, 0),
            ({"temporalFilter": "om:phenomenonTime,first"}, 6),
            ({"temporalFilter": "om:phenomenonTime,latest"}, 6),
        ):
            with self.subTest(parameters):
                root = self.get("GetObservation", **parameters)
                documents.check(self, SOS2, etree.tostring(root))
                self.assertEqual(len(root), expected)
        (one,) = self.texts(self.get("GetObservation", observedProperty=f"{LAKE}/height"), "gml:identifier")
        self.assertEqual(len(self.get("GetObservationById", observation=one, crs="EPSG::4258", language="ger")), 1)

    # [SOS2-9.1-1]
    def test_features_are_asked_for_in_each_binding(self):
        spaces = {"namespaces": SPACES, "spatialFilter": KVP_BOX.format("urn:ogc:def:crs:EPSG::4326")}
        for parameters in (
            {"featureOfInterest": FEATURE},
            {"procedure": SENSOR},
            spaces,
            {"crs": "EPSG::4258"},
            {"observedProperty": f"{LAKE}/height"},
        ):
            root = self.get("GetFeatureOfInterest", **parameters)
            documents.check(self, SOS2, etree.tostring(root))
            self.assertIn(FEATURE, self.texts(root, "gml:identifier"), parameters)
        inner = f"<sos:procedure>{SENSOR}</sos:procedure>{shape.box(SHAPE, '0 0', '60 60')}"
        for send in (self.pox, self.soap):
            root = send(f"<sos:GetFeatureOfInterest {shape.NAMES}>{inner}</sos:GetFeatureOfInterest>")
            self.assertEqual(self.texts(root, "gml:identifier"), [FEATURE])

    def test_what_there_is_data_of_is_told_in_either_version_of_it(self):
        for space in ("http://www.opengis.net/sosgda/1.0", "http://www.opengis.net/sosgda/2.0"):
            request = f"""<gda:GetDataAvailability xmlns:gda="{space}" service="SOS" version="2.0.0">
              <gda:procedure>{SENSOR}</gda:procedure><gda:observedProperty>{LAKE}/height</gda:observedProperty>
              <gda:featureOfInterest>{FEATURE}</gda:featureOfInterest></gda:GetDataAvailability>"""
            root = etree.fromstring(self.post(shape.xml(request).encode()))
            href = root[0][2].get("{http://www.w3.org/1999/xlink}href")
            self.assertEqual((len(root), href), (1, FEATURE))
            names = [etree.QName(one).localname for one in root[0]]
            expected = ["procedure", "observedProperty", "featureOfInterest", "phenomenonTime"]
            if space.endswith("2.0"):
                expected += ["offering", "formatDescriptor"]
                (offering,) = root.iter(f"{{{space}}}offering")
                href = offering.get("{http://www.w3.org/1999/xlink}href")
                title = offering.get("{http://www.w3.org/1999/xlink}title")
                self.assertEqual((href, title), (OFFERING, "Lake #1"))
            self.assertEqual(names, expected)
            self.assertEqual(etree.QName(root).namespace, space)


class Results(Shapes):
    # [SOS2-11.1-1] [SOS2-11.1-2] [SOS2-11.2-2]
    def test_results_of_every_structure_go_in(self):
        self.pox(shape.insert_sensor())
        metres = shape.field("height", "Quantity", shape.METRES)
        plain = shape.time_field() + metres
        dated = shape.time_field("TimeRange") + shape.time_field("Time", "ResultTime") + shape.field("count", "Count")
        placed = shape.time_field() + shape.field("waves", "Quantity", shape.METRES) + shape.GEOMETRY_FIELD
        parts = shape.field("air", "Quantity", '<swe:uom code="Cel"/>') + shape.field("sky", "Category")
        record = f'<swe:DataRecord definition="{LAKE}/weather">{parts}</swe:DataRecord>'
        nested = f'<swe:field name="weather">{record}</swe:field>'
        span = "2026-03-01T13:30:00+02:00/2026-03-01T13:30:59+02:00#2026-03-01T13:31:01+02:00#{}"
        for number, (name, fields, kind, values, expected) in enumerate(
            (
                (
                    "height",
                    plain,
                    "Measurement",
                    "2@2026-03-01T13:30:00+02:00#159.15@2026-03-01T13:31:00+02:00#160@",
                    2,
                ),
                ("count", dated, "CountObservation", f"1@{span.format(159)}@", 1),
                ("waves", placed, "Measurement", "1@2026-03-01T13:30:00+02:00#0.5#47.9#7.9@", 1),
                (
                    "weather",
                    shape.time_field() + nested,
                    "ComplexObservation",
                    "1@2026-03-01T13:30:00+02:00#18.5#sunny@",
                    0,
                ),
            ),
            1,
        ):
            with self.subTest(name):
                send = self.pox if number % 2 else self.soap
                self.assertEqual(send(shape.template(number, name, fields, kind))[0].text, f"{LAKE}/template/{number}")
                send(shape.insert_result(number, values))
                self.assertEqual(len(self.results(name)), expected)
        self.assertEqual((self.results("air"), self.results("sky")), (["18.5"], ["sunny"]))
        counted = self.get("GetObservation", observedProperty=f"{LAKE}/count")
        self.assertEqual(self.texts(counted, "gml:endPosition"), ["2026-03-01T11:30:59Z"])
        self.assertEqual(self.texts(counted, "gml:timePosition")[-1], "2026-03-01T11:31:01Z")
        placed = self.get("GetObservation", observedProperty=f"{LAKE}/waves")
        self.assertEqual(self.texts(placed, "gml:pos"), ["47.9 7.9"])
        asked = {"offering": OFFERING, "observedProperty": f"{LAKE}/height"}
        for operation, expected in (("GetResult", "2\n"), ("GetResultTemplate", "")):
            inner = "".join(f"<sos:{name}>{value}</sos:{name}>" for name, value in asked.items())
            request = f"<sos:{operation} {shape.NAMES}>{inner}</sos:{operation}>"
            for root in (self.get(operation, **asked), self.pox(request), self.soap(request)):
                documents.check(self, SOS2, etree.tostring(root))
                self.assertTrue((root[0].text or "").startswith(expected))


if __name__ == "__main__":
    unittest.main()
