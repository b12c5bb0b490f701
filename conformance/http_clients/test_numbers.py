"""Integers of 64 bits that no double is equal to: in by other people's encoders, out by their decoders, live, from the
past, after a kill, and by every service."""

import json
import unittest

import cbor2
import msgpack
import pyarrow

from gateway import Gateway

DIGITS = (2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**64 - 1, 1234567890123456789)


def arrow(value):
    kind = pyarrow.uint64() if value >= 2**63 else pyarrow.int64()
    table = pyarrow.table({"value": pyarrow.array([value], kind)})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def line(value):
    return f"observation value={value}{'u' if value >= 2**63 else 'i'}"


WAYS = {
    "application/json": lambda value: json.dumps({"value": value}),
    "application/cbor": lambda value: cbor2.dumps({"value": value}),
    "application/msgpack": lambda value: msgpack.packb({"value": value}),
    "application/senml+json": lambda value: json.dumps([{"v": value}]),
    "application/senml+cbor": lambda value: cbor2.dumps([{2: value}]),
    "text/plain": str,
    "text/csv": lambda value: f"value\n{value}\n",
    "text/plain;profile=influx": line,
    "application/vnd.apache.arrow.stream": arrow,
    "application/xml": lambda value: f"<observation><value>{value}</value></observation>",
}


class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def got(self, path, media="application/json"):
        status, _, said = self.gateway.request("GET", path, headers={"Accept": media})
        self.assertEqual(status, 200, (path, said))
        return said

    def test_they_come_back_to_the_last_digit(self):
        for number, (media, encode) in enumerate(WAYS.items()):
            for value in DIGITS:
                topic = f"numbers/{number}"
                self.gateway.publish(topic, encode(value), media)
                with self.subTest(media, value=value):
                    for other in ("application/json", "application/cbor", "application/msgpack"):
                        decode = {"json": json.loads, "cbor": cbor2.loads, "msgpack": msgpack.unpackb}
                        message = decode[other.split("/")[1]](self.got(f"/live/{topic}", other))
                        self.assertEqual(message["observations"][0]["value"], value)
        self.gateway.kill()
        self.gateway.start()
        for number in range(len(WAYS)):
            kept = [row["value"] for row in self.gateway.history(f"numbers/{number}")]
            self.assertEqual(kept, list(DIGITS), list(WAYS)[number])

    def test_services_tell_them(self):
        things = "/sta/v1.1/Datastreams?$expand=Observations($select=result)&$filter=name%20eq%20'services/number'"
        self.gateway.publish("services/number", {"value": DIGITS[0], "unit": "By"})
        [datastream] = json.loads(self.got(things))["value"]
        self.assertEqual([row["result"] for row in datastream["Observations"]], [DIGITS[0]])
        self.assertTrue(datastream["observationType"].endswith("OM_Measurement"))
        body = json.dumps({"result": DIGITS[3], "Datastream": {"@iot.id": datastream["@iot.id"]}})
        kind = {"Content-Type": "application/json"}
        self.assertEqual(self.gateway.request("POST", "/sta/v1.1/Observations", body, kind)[0], 201)
        self.assertEqual([row["value"] for row in self.gateway.history("services/number")], [DIGITS[0], DIGITS[3]])
        sos = self.got("/sos?service=SOS&version=2.0.0&request=GetObservation&observedProperty=number", "application/xml")
        for digits in (DIGITS[0], DIGITS[3]):
            self.assertIn(f">{digits}<", sos.decode())
        self.assertIn(str(DIGITS[3]), self.got("/catalog/services/number").decode())

    def test_they_are_numbers_where_numbers_are_asked_for(self):
        for second, value in enumerate((1, 2**53 + 1)):
            self.gateway.publish("asked/a", {"value": value, "time": f"2026-01-01T00:00:0{second}Z"})
        [most] = json.loads(self.got("/history/asked/a?agg=max:1m"))["observations"]
        self.assertEqual(most["value"], 2.0**53)
        [last] = json.loads(self.got("/history/asked/a?every=1m"))["observations"]
        self.assertEqual(last["value"], 2**53 + 1)

    def test_a_double_stays_one(self):
        for text in ("9007199254740994.0", "1.2345678901234568e+18", "1e300"):
            self.gateway.publish("doubles/a", f'{{"value":{text}}}')
            [row] = json.loads(self.got("/live/doubles/a"))["observations"]
            self.assertEqual((type(row["value"]), row["value"]), (float, float(text)))


if __name__ == "__main__":
    unittest.main()
