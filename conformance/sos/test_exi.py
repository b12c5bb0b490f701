"""Requests in EXI that EXIficient writes, of either version, and answers that it reads, over a real gateway."""

import unittest

from owslib.etree import etree

from gateway import Gateway
from sensor_web import exi, exificient_encodes, needs_exificient

from . import documents
from . import test_published_1 as version_1

GET = f"""<sos:GetObservation {documents.NAMES}><sos:offering>urn:s:gauge/observations</sos:offering>
</sos:GetObservation>"""


class Exi(unittest.TestCase):
    def setUp(self):
        needs_exificient(self)
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def told(self, document):
        """The answer's root."""
        body = exificient_encodes(document.encode())
        status, headers, answer = self.gateway.request("POST", "/sos", body, {"Content-Type": "application/exi"})
        self.assertEqual((status, headers["Content-Type"]), (200, "application/exi"), answer)
        return etree.fromstring(exi()(answer))

    def results(self, document):
        return [one.text for one in self.told(document).iter("{*}result")]

    # [SOS2-13.1-1]
    def test_observations_of_2_0_go_in_and_out(self):
        self.told(documents.INSERT_SENSOR)
        inserted = self.told(documents.insert_observations(2, first=150))
        self.assertEqual(etree.QName(inserted).localname, "InsertObservationResponse")
        self.assertEqual(self.results(GET), ["1.5", "1.51"])

    # [SOS1-11.1-1]
    def test_observations_of_1_0_go_in_and_out(self):
        self.told(version_1.REGISTER)
        assigned = self.told(version_1.INSERT)[0].text
        self.assertTrue(assigned.startswith("urn:weir:observation:"), assigned)
        asked = version_1.get_observation(f"<ObjectID>{version_1.FEATURE}</ObjectID>")
        self.assertEqual(self.results(asked), ["10.5"])


if __name__ == "__main__":
    unittest.main()
