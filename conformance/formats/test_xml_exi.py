"""EXI: EXIficient reads what weir writes, and weir what EXIficient makes of the same document."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import sensor_web
import skips
from formats.weir import MESSAGE, decoded, encoded

ROWS = MESSAGE["observations"]
FORMS = {"exi": "xml", "exi-c": "xml", "exi-s": "xml", "exi-sc": "xml", "exi-om": "om", "exi-om-c": "om"}


def rows(form, data):
    return decoded(data, form)["observations"]


def needs_exificient(test):
    if not shutil.which("java") or not any(sensor_web.JAVA.glob("exificient-1*.jar")):
        skips.skip(test, "EXIficient is not installed (no Java or Maven)")


def exificient_encodes(document, *options):
    """A document as EXI, with the options in the header."""
    jars = [str(next(sensor_web.JAVA.glob(f"{name}.jar"), name)) for name in sensor_web.JARS]
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in.xml"), pathlib.Path(folder, "out.exi")
        source.write_bytes(document)
        command = ["java", "-cp", ":".join(jars), "com.siemens.ct.exi.main.cmd.EXIficientCMD", "-encode"]
        command += ["-includeOptions", *options, "-i", str(source), "-o", str(target)]
        subprocess.run(command, capture_output=True, check=True)
        return target.read_bytes()


class Streams(unittest.TestCase):
    def test_what_weir_writes_is_read(self):
        needs_exificient(self)
        for form, document in FORMS.items():
            with self.subTest(form):
                found = sensor_web.exi(schema="-s" in form)(encoded(form))
                self.assertEqual(rows(document, found), ROWS)

    def test_what_exificient_writes_is_read(self):
        needs_exificient(self)
        for options in ([], ["-bytePacked"], ["-preCompression"], ["-compression"], ["-preservePrefixes"]):
            with self.subTest(options):
                document = encoded("xml")
                self.assertEqual(rows("exi", exificient_encodes(document, *options)), ROWS)
        schema = ["-schema", str(sensor_web.SCHEMA)]
        for options in (schema, [*schema, "-strict"], [*schema, "-compression"]):
            with self.subTest(options):
                document = encoded("xml")
                self.assertEqual(rows("exi-s", exificient_encodes(document, *options)), ROWS)
