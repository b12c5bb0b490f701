"""EXI: EXIficient reads what weir writes, and weir what EXIficient makes of the same document."""

import unittest

import sensor_web
from formats.weir import MESSAGE, decoded, encoded

ROWS = MESSAGE["observations"]
FORMS = {"exi": "xml", "exi-c": "xml", "exi-s": "xml", "exi-sc": "xml", "exi-om": "om", "exi-om-c": "om"}


def rows(form, data):
    return decoded(data, form)["observations"]


class Streams(unittest.TestCase):
    def test_what_weir_writes_is_read(self):
        sensor_web.needs_exificient(self)
        for form, document in FORMS.items():
            with self.subTest(form):
                found = sensor_web.exi(schema="-s" in form)(encoded(form))
                self.assertEqual(rows(document, found), ROWS)

    def test_what_exificient_writes_is_read(self):
        sensor_web.needs_exificient(self)
        for options in ([], ["-bytePacked"], ["-preCompression"], ["-compression"], ["-preservePrefixes"]):
            with self.subTest(options):
                document = encoded("xml")
                self.assertEqual(rows("exi", sensor_web.exificient_encodes(document, *options)), ROWS)
        schema = ["-schema", str(sensor_web.SCHEMA)]
        for options in (schema, [*schema, "-strict"], [*schema, "-compression"]):
            with self.subTest(options):
                document = encoded("xml")
                self.assertEqual(rows("exi-s", sensor_web.exificient_encodes(document, *options)), ROWS)
