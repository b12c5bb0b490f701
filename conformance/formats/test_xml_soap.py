"""SOAP: zeep, told of a service by a WSDL with weir's schema, reads weir's envelopes as an answer."""

import io
import unittest

import zeep
from lxml import etree

from formats.weir import MESSAGE, ROOT, Refused, decoded, encoded

ROWS = MESSAGE["observations"]


def rows(form, data):
    return decoded(data, form)["observations"]


WSDL = """<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:test"
    xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap12/" targetNamespace="urn:test">
  <w:types>{schema}</w:types>
  <w:message name="in"/>
  <w:message name="out"><w:part name="body" element="observations"/></w:message>
  <w:portType name="port"><w:operation name="latest"><w:input message="t:in"/><w:output message="t:out"/></w:operation></w:portType>
  <w:binding name="binding" type="t:port">
    <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <w:operation name="latest"><soap:operation soapAction="urn:latest"/>
      <w:input><soap:body use="literal"/></w:input><w:output><soap:body use="literal"/></w:output></w:operation>
  </w:binding>
  <w:service name="service"><w:port name="port" binding="t:binding"><soap:address location="http://localhost/"/></w:port></w:service>
</w:definitions>"""


class Answer:
    """A transport that gives one answer."""

    status_code = 200
    encoding = "utf-8"

    def __init__(self, content):
        self.content = content
        self.headers = {"Content-Type": "application/soap+xml"}


class Transport(zeep.Transport):
    def __init__(self, content):
        super().__init__()
        self.answer = Answer(content)

    def post(self, address, message, headers):
        return self.answer


def client(content):
    schema = (ROOT / "crates/codec/schema/weir.xsd").read_text().partition("?>")[2]
    return zeep.Client(io.BytesIO(WSDL.format(schema=schema).encode()), transport=Transport(content))


class Envelopes(unittest.TestCase):
    def test_zeep_reads_the_answer(self):
        answer = client(encoded("soap")).service.latest()
        found = answer if isinstance(answer, list) else answer["observation"]
        self.assertEqual(len(found), len(ROWS))
        self.assertEqual(found[0]["topic"], ROWS[0]["topic"])
        self.assertEqual(found[0]["lat"], 44.8125)
        self.assertEqual(found[0]["time"].isoformat(), "2026-11-20T09:41:00.250000+00:00")

    def test_an_envelope_of_1_1_is_read(self):
        body = encoded("xml").decode()
        uri = "http://schemas.xmlsoap.org/soap/envelope/"
        text = f'<?xml version="1.0"?>\n<s:Envelope xmlns:s="{uri}"><s:Body>{body}</s:Body></s:Envelope>'
        etree.fromstring(text.encode())
        self.assertEqual(rows("soap", text.encode()), ROWS)

    def test_a_fault_is_told(self):
        uri = "http://www.w3.org/2003/05/soap-envelope"
        text = (
            f'<s:Envelope xmlns:s="{uri}"><s:Body><s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code>'
            '<s:Reason><s:Text xml:lang="en">no such offering</s:Text></s:Reason></s:Fault></s:Body></s:Envelope>'
        )
        with self.assertRaisesRegex(Refused, "a fault, s:Sender: no such offering"):
            rows("soap", text)
