"""bson, ubjson and amf3: ours read by other people's libraries, theirs read by ours."""

import datetime
import unittest

import bson
import pyamf
import ubjson

from formats.weir import MESSAGE, decoded, encoded

# Millisecond times become instants of these libraries, in UTC.
TIMES = ("time", "end", "resultTime")


def instant(time):
    """A time as RFC 3339, whatever a library makes of it."""
    if not isinstance(time, datetime.datetime):
        return time
    time = time.replace(tzinfo=None)
    text = time.isoformat(timespec="milliseconds" if time.microsecond else "seconds")
    return text + "Z"


def tree(value):
    """A value of a library; pyamf gives a dictionary of AMF with whether its keys are weak."""
    if isinstance(value, tuple):
        value = value[0]
    if isinstance(value, dict):
        return {name: tree(member) for name, member in value.items()}
    return [tree(item) for item in value] if isinstance(value, list) else value


def plain(observation):
    """An observation of a library as JSON's objects."""
    out = {**observation, "value": tree(observation["value"])}
    for name in TIMES:
        if name in out:
            out[name] = instant(out[name])
    if "validTime" in out:
        out["validTime"] = [instant(time) for time in out["validTime"]]
    return out


def instants(observation):
    """An observation with its times as a library's instants, where they have whole milliseconds."""

    def told(text):
        time = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if len(text) < 25 else text
        return time.replace(tzinfo=None) if isinstance(time, datetime.datetime) else time

    out = dict(observation)
    for name in TIMES:
        if name in out:
            out[name] = told(out[name])
    if "validTime" in out:
        out["validTime"] = [told(time) for time in out["validTime"]]
    return out


class Trees(unittest.TestCase):
    maxDiff = None

    def check(self, observations):
        self.assertEqual([plain(one) for one in observations], MESSAGE["observations"])

    def test_pymongo_reads_ours(self):
        self.check(bson.decode(encoded("bson"))["observations"])

    def test_we_read_pymongo(self):
        theirs = {"observations": [instants(one) for one in MESSAGE["observations"]]}
        self.check(decoded(bson.encode(theirs), "bson")["observations"])

    def test_we_read_what_mongodb_adds(self):
        theirs = {
            "_id": bson.ObjectId(),
            "observations": [{"value": bson.Int64(5), "time": bson.Timestamp(1795167660, 1)}],
            "pattern": bson.Regex("a.*"),
            "decimal": bson.Decimal128("1.5"),
        }
        expected = [{"value": 5, "time": "2026-11-20T09:41:00Z"}]
        self.assertEqual(decoded(bson.encode(theirs), "bson")["observations"], expected)
        decimal = {"value": bson.Decimal128("71.25")}
        self.assertEqual(decoded(bson.encode(decimal), "bson")["observations"], [{"value": 71.25}])

    def test_py_ubjson_reads_ours(self):
        self.check(ubjson.loadb(encoded("ubjson"))["observations"])

    def test_we_read_py_ubjson(self):
        self.check(decoded(ubjson.dumpb(MESSAGE), "ubjson")["observations"])
        # Containers with counts, as its writer makes them on request; decimals of high precision.
        self.check(decoded(ubjson.dumpb(MESSAGE, container_count=True), "ubjson")["observations"])
        import decimal

        high = ubjson.dumpb({"value": decimal.Decimal("71.25000000000000000000000001")})
        self.assertEqual(decoded(high, "ubjson")["observations"], [{"value": 71.25}])

    def test_pyamf_reads_ours(self):
        (message,) = list(pyamf.decode(encoded("amf3"), encoding=pyamf.AMF3))
        self.check(message["observations"])

    def test_we_read_pyamf(self):
        theirs = {"observations": [instants(one) for one in AMF_MESSAGE]}
        data = pyamf.encode(theirs, encoding=pyamf.AMF3).getvalue()
        found = [plain(one) for one in decoded(data, "amf3")["observations"]]
        self.assertEqual(found, AMF_MESSAGE)

    def test_we_read_sealed_classes_and_array_collections(self):
        class Observation:
            def __init__(self, topic="", value=0.0, unit=None):
                self.topic, self.value, self.unit = topic, value, unit

        pyamf.register_class(Observation, "weir.Observation")
        from pyamf.flex import ArrayCollection

        rows = ArrayCollection([Observation("a", 1.5, "m"), Observation("b", 2, None)])
        data = pyamf.encode({"observations": rows}, encoding=pyamf.AMF3).getvalue()
        expected = [{"topic": "a", "value": 1.5, "unit": "m"}, {"topic": "b", "value": 2}]
        self.assertEqual(decoded(data, "amf3")["observations"], expected)


# An object of AMF cannot have a member without a name; ours writes a dictionary then.
AMF_MESSAGE = [
    {**one, "value": {"x": [1, 2.5, None, "y", {}]}} if one["topic"] == "a/tree" else one
    for one in MESSAGE["observations"]
]


if __name__ == "__main__":
    unittest.main()
