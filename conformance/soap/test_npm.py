"""npm `soap` makes a client of the WSDL that a real gateway serves, and calls every operation by SOAP 1.1 and 1.2."""

import json
import pathlib
import subprocess
import unittest

from gateway import Gateway
from skips import program, skip

from .whole import expected

HERE = pathlib.Path(__file__).resolve().parent.parent
WAIT_S = 60


class Npm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def said(self):
        """What the client printed: for each port and operation its answers."""
        if not (HERE / "node_modules/soap").exists():
            skip(self, "no soap (npm)")
        wsdl = f"{self.gateway.url}/soap/observations?wsdl"
        command = [program(self, "node"), str(HERE / "javascript/soap.mjs"), wsdl]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=WAIT_S)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        found = {}
        for line in map(json.loads, ended.stdout.splitlines()):
            found.setdefault((line["port"], line["what"]), []).append(line["value"])
        return found

    def test_a_client_calls_every_operation_by_both_versions(self):
        found = self.said()
        for port in ("Soap11", "Soap12"):
            with self.subTest(port):
                self.check(port, {what: values for (of, what), values in found.items() if of == port})

    def check(self, port, found):
        topic = f"npm/{port}"
        self.assertRegex(found["publish"][0]["cursor"], r"^[0-9a-f]+-[0-9a-f]+$")
        latest = {one["topic"]: one for one in found["latest"][0]["observation"]}
        self.assertEqual(latest[f"{topic}/t"]["number"], 22)
        self.assertIs(latest[f"{topic}/door"]["boolean"], True)
        first, second = (page["observation"] for page in found["history"])
        self.assertEqual([one["number"] for one in first + second], [21.5, 22])
        self.assertEqual(first[0]["quality"], "good & checked")
        self.assertEqual(first[0]["validTime"]["to"], "2026-01-02T00:00:00.000Z")
        [described] = found["describe"][0]["datastream"]
        self.assertEqual((described["type"], described["unit"]), ("temperature", "Cel"))
        self.assertIn("does not lie at or under", found["fault"][0])
        self.assertEqual(self.gateway.history(f"{topic}/t")[0], expected(f"{topic}/t"))


if __name__ == "__main__":
    unittest.main()
