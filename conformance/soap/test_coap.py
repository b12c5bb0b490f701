"""SOAP over CoAP with aiocoap, by datagrams and by TCP: envelopes in XML, and in EXI that EXIficient writes and reads;
EXI by HTTP too."""

import asyncio
import importlib.util
import unittest
import xml.etree.ElementTree as ElementTree

from gateway import Gateway
from sensor_web import exi, exificient_encodes, needs_exificient
from skips import skip

XML, EXI = 41, 47
# `application/soap+xml` has no number of IANA's: one of the range for experiments.
SOAP = 65001
ENVELOPES = {"1.1": "http://schemas.xmlsoap.org/soap/envelope/", "1.2": "http://www.w3.org/2003/05/soap-envelope"}
SERVICE = "{urn:weir:observations}"


def envelope(body, version="1.2"):
    return f'<env:Envelope xmlns:env="{ENVELOPES[version]}"><env:Body>{body}</env:Body></env:Envelope>'.encode()


def publish(topic, number):
    observation = f"<w:observation><w:topic>{topic}/t</w:topic><w:number>{number}</w:number></w:observation>"
    return f'<w:publish xmlns:w="urn:weir:observations"><w:topic>{topic}</w:topic>{observation}</w:publish>'


def latest(topic):
    return f'<w:latest xmlns:w="urn:weir:observations"><w:filter>{topic}/#</w:filter></w:latest>'


class Coap(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        if importlib.util.find_spec("aiocoap") is None:
            skip(cls("test_both_versions_by_datagrams_and_by_tcp"), "no aiocoap")
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    async def asyncSetUp(self):
        from aiocoap import Context

        self.context = await Context.create_client_context()
        self.addAsyncCleanup(self.context.shutdown)

    def urls(self):
        ready = self.gateway.ready
        return {"coap": f"coap://{ready['coap']}", "tcp": f"coap+tcp://{ready['coap+tcp']}"}

    async def post(self, url, payload, content_format=None, query=""):
        from aiocoap import POST, Message

        options = {} if content_format is None else {"content_format": content_format}
        message = Message(code=POST, uri=f"{url}/soap/observations{query}", payload=payload, **options)
        return await asyncio.wait_for(self.context.request(message).response, 30)

    async def test_both_versions_by_datagrams_and_by_tcp(self):
        for name, url in self.urls().items():
            for version, number in (("1.1", XML), ("1.2", SOAP)):
                with self.subTest(f"{name} {version}"):
                    topic = f"soap-coap/{name}/{number}"
                    stored = await self.post(url, envelope(publish(topic, 21.5), version), number)
                    self.assertEqual((stored.code.dotted, stored.opt.content_format), ("2.04", number))
                    self.assertIsNotNone(ElementTree.fromstring(stored.payload).find(f".//{SERVICE}cursor"))
                    read = await self.post(url, envelope(latest(topic), version), number)
                    found = ElementTree.fromstring(read.payload)
                    self.assertEqual(found.tag, f"{{{ENVELOPES[version]}}}Envelope")
                    self.assertEqual(found.find(f".//{SERVICE}number").text, "21.5")
                    self.assertEqual(self.gateway.history(f"{topic}/t")[0]["value"], 21.5)

    async def test_the_format_may_be_named_by_the_query(self):
        topic = "soap-coap/query"
        stored = await self.post(self.urls()["coap"], envelope(publish(topic, 1)), query="?as=soap")
        self.assertEqual(stored.opt.content_format, SOAP)
        self.assertEqual(self.gateway.history(f"{topic}/t")[0]["value"], 1)

    async def test_an_answer_of_many_blocks(self):
        topic = "soap-coap/blocks"
        for number in range(40):
            self.gateway.publish_value(f"{topic}/{number}", number)
        for url in self.urls().values():
            read = await self.post(url, envelope(latest(topic)), SOAP)
            self.assertGreater(len(read.payload), 2048)
            self.assertEqual(len(ElementTree.fromstring(read.payload).findall(f".//{SERVICE}observation")), 40)

    async def test_a_fault_is_an_envelope_with_its_format(self):
        for version, number, code in (("1.1", XML, "5.00"), ("1.2", SOAP, "4.00")):
            body = publish("soap-coap/fault", "warm")
            answer = await self.post(self.urls()["coap"], envelope(body, version), number)
            self.assertEqual((answer.code.dotted, answer.opt.content_format), (code, number))
            self.assertIn(b"`warm` is no number", answer.payload)
            self.assertIsNotNone(ElementTree.fromstring(answer.payload).find(f".//{{{ENVELOPES[version]}}}Fault"))

    async def test_envelopes_in_exi_by_coap_and_by_http(self):
        needs_exificient(self)
        body = exificient_encodes(envelope(publish("soap-exi", 21.5)))
        for name, url in self.urls().items():
            with self.subTest(name):
                stored = await self.post(url, body, EXI)
                self.assertEqual((stored.code.dotted, stored.opt.content_format), ("2.04", EXI))
                self.check_exi(stored.payload)
        status, headers, answer = self.gateway.request(
            "POST", "/soap/observations", body, {"Content-Type": "application/exi"}
        )
        self.assertEqual((status, headers["Content-Type"]), (200, "application/exi"))
        self.check_exi(answer)
        self.assertEqual([one["value"] for one in self.gateway.history("soap-exi/t")], [21.5] * 3)

    def check_exi(self, answer):
        self.assertLess(len(answer), 150)
        found = ElementTree.fromstring(exi()(answer))
        self.assertEqual(found.tag, f"{{{ENVELOPES['1.2']}}}Envelope")
        self.assertIsNotNone(found.find(f".//{SERVICE}cursor"))


if __name__ == "__main__":
    unittest.main()
