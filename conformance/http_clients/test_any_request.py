"""Requests put together by chance from the pieces of every service: each is answered, and none breaks anything.

What comes of it is the services' business, so the answer is not judged, but that it is one. Seeded: another seed each
day, and WEIR_SEED takes one again that failed.
"""

import os
import pathlib
import random
import socket
import time
import unittest

from gateway import Gateway

REQUESTS = int(os.environ.get("WEIR_REQUESTS", "5000"))
METHODS = [b"GET"] * 8 + [b"POST", b"PUT", b"DELETE", b"PATCH", b"HEAD", b"OPTIONS"]
RESOURCES = [
    b"/live/", b"/history/", b"/catalog/", b"/catalog", b"/formats", b"/td", b"/openapi.json", b"/dpws", b"/metrics",
    b"/soap/observations", b"/sos?", b"/sta/v1.1/", b"/sta/v1.1/Things", b"/sta/v1.1/Observations?", b"/sta/v1.1/$batch",
]
PIECES = [
    # Topics, and what is asked of them.
    b"%23", b"+", b"kept/w0", b"?since=", b"1-2", b"&every=1s", b"&where=value>80", b"&agg=mean:10s", b"?topic=",
    b"&from=", b"&to=", b"2026-11-20T09:41:00+01:00", b"&limit=", b"&page=", b"&as=json", b"?wait=0",
    # SensorThings.
    b"Things", b"Datastreams", b"Locations", b"(1)", b"('a')", b"/", b"$ref", b"$value", b"$filter=", b"&$expand=",
    b"&$select=", b"&$orderby=", b"&$top=", b"&$skip=", b"&$count=true", b"result gt 5", b"substringof('a',name)",
    b"st_within(location,geography'POINT(1 2)')", b"geography'POLYGON((", b"year(", b"now()", b" and ", b" or not ",
    b"phenomenonTime", b"@iot.id", b"&$resultFormat=dataArray",
    # SOS.
    b"service=SOS", b"&version=2.0.0", b"&request=GetObservation", b"&request=GetCapabilities", b"&temporalFilter=",
    b"om:phenomenonTime,2012-11-19T14:00:00.000+01:00/", b"&observedProperty=", b"&namespaces=xmlns(om,http://a)",
    b"&spatialFilter=om:featureOfInterest/sams:SF_SpatialSamplingFeature/sams:shape,0,0,60,60,",
    # What belongs nowhere.
    b"%D0%95", b"\xd0\x95", b"\xff", b"%ff", b"%00", b"%", b"'", b'"', b"(", b")", b",", b"=", b"&", b"?", b";", b"*", b":",
    b"http://a", b"1e999", b"-", b"9" * 19, b"x" * 50, b"$",
]
MEDIA = [
    b"application/json", b"text/plain", b"application/xml", b"text/xml", b"application/soap+xml", b"application/exi",
    b"application/cbor", b"application/senml+json", b"multipart/mixed;boundary=a", b"application/vnd.weir.block",
    b"application/x-protobuf", b"application/x-amf", b"text/csv", b"text/plain;profile=influx", b"\xd0\x95",
]
BODIES = [
    b"{}", b"[]", b'{"value":1}', b'{"name":"\xd0\x95","description":1}', b'{"a":"\\ud800"}', b"<a/>", b"\xff\xfe",
    b"<s:Envelope xmlns:s='http://www.w3.org/2003/05/soap-envelope'><s:Body><a/></s:Body></s:Envelope>",
    b"--a\r\nContent-Type: application/http\r\n\r\nGET Things HTTP/1.1\r\n\r\n--a--", b"a,b\n1,\xd0\x95",
    b"cpu,host=\xd0\x95 v=1 1", b'{"requests":[{"id":"0","method":"get","url":"Things"}]}', b"$\xd0\x95",
]


class Chance:
    def __init__(self, seed):
        self.chance = random.Random(seed)

    def target(self):
        begin = self.chance.choice(RESOURCES) if self.chance.random() < 0.8 else b"/"
        pieces = [self.chance.choice(PIECES) for _ in range(self.chance.randint(0, 6))]
        return (begin + b"".join(pieces)).replace(b" ", b"%20")

    def body(self):
        if self.chance.random() < 0.5:
            return b""
        body = bytearray(self.chance.choice(BODIES))
        for _ in range(self.chance.choice((0, 0, 1, 3))):
            body[self.chance.randrange(len(body))] = self.chance.randrange(256)
        return bytes(body)

    def request(self):
        body, accept = self.body(), self.chance.choice([*MEDIA, b"*/*"])
        fields = {b"Host": b"a", b"Connection": b"close", b"Accept": accept, b"Content-Type": self.chance.choice(MEDIA)}
        fields[b"Content-Length"] = b"%d" % len(body)
        head = b"".join(b"%s: %s\r\n" % field for field in fields.items())
        return self.chance.choice(METHODS) + b" " + self.target() + b" HTTP/1.1\r\n" + head + b"\r\n" + body


class AnyRequest(unittest.TestCase):
    def test_every_request_is_answered_and_nothing_breaks(self):
        seed = int(os.environ.get("WEIR_SEED", time.time() // 86400))
        chance = Chance(seed)
        with Gateway() as gateway:
            gateway.publish_value("kept/w0", 1)
            for _ in range(REQUESTS):
                request = chance.request()
                with socket.create_connection((gateway.host, gateway.port), timeout=20) as connection:
                    connection.sendall(request)
                    self.assertEqual(connection.recv(5), b"HTTP/", f"WEIR_SEED={seed}: {request}")
            said = pathlib.Path(gateway.log.name).read_text(errors="replace")
            self.assertNotIn("panicked", said, f"WEIR_SEED={seed}")
            self.assertEqual(gateway.request("GET", "/health/ready")[0], 200)
