"""gwt: answers of GWT's own server (gwt-servlet) read by us, and ours the same as its own."""

import functools
import json
import pathlib
import shutil
import subprocess
import unittest

import skips
from decoders import gwt, gwt_tokens
from formats.weir import MESSAGE, ROOT, Refused, decoded, encoded

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = ROOT / "build/java/gwt"


def members(one):
    """An observation as the line that Answer.java reads."""
    value, text = one["value"], None
    out = {name: one[name] for name in ("topic", "sensor", "type", "unit", "lat", "lon", "time") if name in one}
    kinds = {type(None): 0, int: 1, float: 1, bool: 2, str: 3, dict: 4, list: 4}
    out["kind"] = kinds[type(value)]
    if out["kind"] in (1, 2):
        out["number"] = repr(float(value))
    elif out["kind"] > 2:
        out["text"] = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    extra = {name: one[name] for name in ("end", "resultTime", "quality", "feature") if name in one}
    if "validTime" in one:
        extra["validFrom"], extra["validTo"] = one["validTime"]
    if "parameters" in one:
        extra["parameters"] = json.dumps(one["parameters"], separators=(",", ":"))
    out |= {**extra, "extra": 1} if extra else {}
    return "\t".join(f"{name}={value}".replace("\n", "\\n") for name, value in out.items())


@functools.cache
def classpath():
    """The compiled oracle with its library; None where one of them cannot be had."""
    jars = sorted((ROOT / "build/java").glob("*.jar"))
    if not jars or not shutil.which("javac"):
        return None
    CLASSES.mkdir(parents=True, exist_ok=True)
    path = ":".join(map(str, jars))
    sources = [str(path) for path in (HERE / "java").rglob("*.java")]
    subprocess.run(["javac", "-nowarn", "-cp", path, "-d", str(CLASSES), *sources], check=True)
    return f"{CLASSES}:{path}"


class Gwt(unittest.TestCase):
    maxDiff = None

    def answer(self, message=MESSAGE):
        """What GWT's server answers."""
        path = classpath()
        if path is None:
            skips.skip(self, "javac or gwt-servlet is not installed")
        lines = "".join(members(one) + "\n" for one in message["observations"])
        done = subprocess.run(["java", "-cp", path, "Answer"], input=lines.encode(), capture_output=True, check=True)
        return done.stdout.decode()

    def test_we_read_the_answer_of_gwt(self):
        self.assertEqual(decoded(self.answer(), "gwt"), MESSAGE)

    def test_ours_has_the_tokens_of_gwt(self):
        self.assertEqual(gwt_tokens(encoded("gwt").decode()), gwt_tokens(self.answer()))

    def test_we_read_arrays_that_gwt_splits(self):
        # More than 32,768 tokens are joined by `concat`.
        rows = [{"topic": f"t/{n % 7}", "value": n / 8} for n in range(4000)]
        answer = self.answer({"observations": rows})
        self.assertIn("].concat([", answer)
        self.assertEqual(decoded(answer, "gwt")["observations"], rows)

    def test_a_reader_from_the_description_reads_ours(self):
        values = [one["value"] for one in gwt(encoded("gwt")) if "value" in one]
        wanted = [one["value"] for one in MESSAGE["observations"] if one["value"] is not None]
        found = [json.loads(value) if isinstance(value, str) and value.startswith("{") else value for value in values]
        self.assertEqual(found, wanted)

    def test_an_exception_is_named(self):
        answer = '//EX[0,1,["com.google.gwt.user.client.rpc.IncompatibleRemoteServiceException/3936916533","no"],0,7]'
        with self.assertRaisesRegex(Refused, "IncompatibleRemoteServiceException/3936916533: no"):
            decoded(answer, "gwt")


if __name__ == "__main__":
    unittest.main()
