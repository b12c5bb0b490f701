"""Apache CXF's tool generates a Java client of the WSDL that a real gateway serves; it calls every operation by SOAP
1.1 and 1.2."""

import pathlib
import subprocess
import tempfile
import unittest

from gateway import Gateway
from skips import program, skip

from .whole import expected

HERE = pathlib.Path(__file__).resolve().parent
JARS = HERE / "java/target/dependency"
WAIT_S = 120


class Cxf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def setUp(self):
        self.java, self.javac = program(self, "java"), program(self, "javac")
        if not list(JARS.glob("cxf-tools-wsdlto-*.jar")):
            skip(self, "no Apache CXF (conformance/soap/java)")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_java(self, *command):
        """What a program printed."""
        path = f"{self.folder}:{JARS}/*"
        ended = subprocess.run(
            [command[0], "-cp", path, *command[1:]], capture_output=True, text=True, check=False, timeout=WAIT_S
        )
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        return ended.stdout

    def generate(self, wsdl):
        """Compiles the client together with the program that uses it."""
        tool = "org.apache.cxf.tools.wsdlto.WSDLToJava"
        self.run_java(self.java, tool, "-d", str(self.folder), "-p", "weir.soap", wsdl)
        sources = map(str, [*self.folder.rglob("*.java"), HERE / "java/src/Peer.java"])
        self.run_java(self.javac, "-d", str(self.folder), *sources)

    def test_a_generated_client_calls_every_operation(self):
        wsdl = f"{self.gateway.url}/soap/observations?wsdl"
        self.generate(wsdl)
        said = self.run_java(self.java, "Peer", wsdl)
        lines = [line.split("\t") for line in said.splitlines()]
        for port in ("Soap11", "Soap12"):
            with self.subTest(port):
                self.check(port, [line[1:] for line in lines if line[0] == port])

    def check(self, port, lines):
        topic = f"cxf/{port}"
        found = {}
        for name, *values in lines:
            found.setdefault(name, []).append(values)
        self.assertRegex(found["publish"][0][0], r"^[0-9a-f]+-[0-9a-f]+$")
        self.assertEqual(found["repeated"], [["true"]])
        whole = (
            f"[{topic}/t, 21.5, null, urn:example:sensor, temperature, Cel, 44.8, 20.4, urn:example:hall, "
            "2026-01-01T00:00:30Z, 2026-01-01T00:01:00Z, 2026-01-01T00:00:00Z/2026-01-02T00:00:00Z, "
            'good & checked, {"depth":1.5}]'
        )
        pages = [values[0] for values in found["history"]]
        self.assertEqual(pages[0], whole)
        self.assertEqual([page.split(", ")[1] for page in pages], ["21.5", "22.0"])
        latest = sorted(values[0].split(", ")[:3] for values in found["latest"])
        self.assertEqual(latest, [[f"[{topic}/door", "null", "true"], [f"[{topic}/t", "22.0", "null"]])
        self.assertEqual(found["describe"], [[f"{topic}/t", "temperature", "Cel", "urn:example:sensor"]])
        code = {"Soap11": "Client", "Soap12": "Sender"}[port]
        [[said, reason]] = found["fault"]
        self.assertEqual(said, code)
        self.assertIn("does not lie at or under", reason)
        self.assertEqual(self.gateway.history(f"{topic}/t")[0], expected(f"{topic}/t"))


if __name__ == "__main__":
    unittest.main()
