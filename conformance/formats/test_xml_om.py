"""O&M: valid against OGC's schemas, read by OWSLib, and OGC's own examples read by weir."""

import io
import unittest

from lxml import etree
from owslib.swe.observation.sos200 import ObservationDecoder

from formats.weir import MESSAGE, decoded, encoded
from ogc_schemas import archive, schema

ROWS = MESSAGE["observations"]


def rows(form, data):
    return decoded(data, form)["observations"]


OM20 = "{http://www.opengis.net/om/2.0}"
GML32 = "{http://www.opengis.net/gml/3.2}"
XLINK = "{http://www.w3.org/1999/xlink}"


class Valid(unittest.TestCase):
    def check(self, form, *imports):
        archive(self).close()
        for message in (MESSAGE, {"observations": []}):
            document = encoded(form, message).decode()
            schema(*imports).validate(io.StringIO(document))

    def test_om_2_0_is_valid(self):
        self.check("om", ("http://www.opengis.net/om/2.0", "om/2.0/observation.xsd"))

    def test_om_1_0_is_valid(self):
        sampling = ("http://www.opengis.net/sampling/1.0", "sampling/1.0.0/sampling.xsd")
        self.check("om1", ("http://www.opengis.net/om/1.0", "om/1.0.0/om.xsd"), sampling)


class ReadByOthers(unittest.TestCase):
    def test_owslib_reads_a_measurement(self):
        root = etree.fromstring(encoded("om"))
        observation = ObservationDecoder().decode_observation(root.find(f".//{OM20}OM_Observation"))
        result = observation.get_result()
        self.assertEqual((result.value, result.uom), (71.25, "Cel"))
        self.assertEqual(observation.procedure, "urn:dev:mac:0024befffe804ff1")
        self.assertEqual(observation.observedProperty, "temperature")

    def test_owslib_reads_the_times(self):
        row = {"value": 1, "unit": "m", "feature": "urn:f", "resultTime": "2026-11-20T09:42:00.500Z"}
        row |= {"time": "2026-11-20T09:41:00.250Z", "end": "2026-11-20T09:42:00Z"}
        root = etree.fromstring(encoded("om", {"observations": [row]}))
        observation = ObservationDecoder().decode_observation(root.find(f".//{OM20}OM_Observation"))
        self.assertEqual(observation.featureOfInterest, "urn:f")
        self.assertEqual(observation.resultTime.isoformat(), "2026-11-20T09:42:00.500000+00:00")
        self.assertEqual(observation.phenomenonTime.start.isoformat(), "2026-11-20T09:41:00.250000+00:00")
        self.assertEqual(observation.phenomenonTime.end.isoformat(), "2026-11-20T09:42:00+00:00")

    def test_what_lxml_makes_of_it_is_read_back(self):
        for form in ("om", "om1", "xml", "soap"):
            document = etree.fromstring(encoded(form))
            again = etree.tostring(document, pretty_print=True, xml_declaration=True, encoding="utf-8")
            self.assertCountEqual(rows(form, again), ROWS, form)


class OgcsExamples(unittest.TestCase):
    """Documents of OGC, from the archive of its schemas."""

    def example(self, path):
        with archive(self) as jar:
            return jar.read(f"ogc/om/{path}")

    def test_a_collection_of_measurements(self):
        observations = rows("om", self.example("2.0/examples/collection1.xml"))
        self.assertEqual([row["value"] for row in observations], [0.28, 0.34])
        self.assertEqual({row["unit"] for row in observations}, {"kg"})
        self.assertEqual(observations[0]["time"], "2005-01-11T17:22:25Z")
        self.assertEqual(observations[0]["resultTime"], "2005-01-11T17:22:25Z")

    def test_a_truth_a_count_and_a_category(self):
        fruit = "http://en.wikipedia.org/wiki/List_of_fruits#Banana"
        for name, value in [("TruthObservation", False), ("CountObservation", 20), ("CategoryObservation1", fruit)]:
            observations = rows("om", self.example(f"2.0/examples/{name}.xml"))
            self.assertEqual([row["value"] for row in observations], [value], name)

    def test_a_profile_in_a_block_of_values(self):
        observations = rows("om", self.example("2.0/examples/SWEArrayObservation1.xml"))
        self.assertEqual(len(observations), 15)
        depths = [row["value"] for row in observations if row["topic"].endswith("depth")]
        self.assertEqual(depths, [0, 10, 20, 30, 40])
        self.assertEqual({row["unit"] for row in observations}, {"m", "Cel", "[ppth]"})

    def test_measurements_of_1_0(self):
        observations = rows("om1", self.example("1.0.0/examples/collection1.xml"))
        self.assertEqual([row["value"] for row in observations], [0.28, 0.27])
