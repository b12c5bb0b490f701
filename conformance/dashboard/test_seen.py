"""What clients of the sensor Web and of web services write is seen on the dashboard, in Chromium, while they write it."""

import json
import os
import queue
import subprocess
import threading
import unittest

import frost_sta_client as frost
import zeep
from owslib.etree import etree

import skips
from gateway import ROOT, Gateway
from sensorthings.test_client import kitchen
from sos import documents
from sos import test_published_1 as version_1

WAIT_S = 60
LEVEL = "sos/urn:s:gauge/urn:p:level"


class Page:
    """A dashboard in a browser, and what it shows, by topic."""

    def __init__(self, test, url):
        skips.program(test, os.environ.get("CHROMIUM", "chromium"), "google-chrome", "google-chrome-stable", "chrome")
        if not (ROOT / "web/node_modules/playwright-core").exists():
            skips.skip(test, "the dashboard's packages are not installed (make web)")
        command = [skips.program(test, "node"), "e2e/rows.mjs", url]
        self.process = subprocess.Popen(
            command, cwd=ROOT / "web", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.shown, self.lines = {}, queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def wait(self, topic, number, unit):
        """Until this is what the row of a topic reads, of numbers between one and a hundred."""
        words = f"{number:.2f} {unit}"
        while self.shown.get(topic) != words:
            try:
                self.shown = self.lines.get(timeout=WAIT_S)
            except queue.Empty:
                raise AssertionError(f"{topic} did not come to read {words!r}: {self.shown}") from None
            assert self.shown is not None, "the page is gone"

    def close(self):
        """The page must have gone through all of it without an error."""
        self.process.stdin.close()
        status = self.process.wait(timeout=WAIT_S)
        self.process.stdout.close()
        assert status == 0, f"the page ended with {status}"


class Seen(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway(settings={"dpws.discovery": "false"})
        self.addCleanup(self.gateway.close)
        self.page = Page(self, f"{self.gateway.url}/")
        self.addCleanup(self.page.close)

    def sos(self, path, body):
        status, _, answer = self.gateway.request("POST", path, body, {"Content-Type": "application/xml"})
        self.assertEqual(status, 200, answer)
        return etree.fromstring(answer)

    def topic(self, name):
        """The topic that ends so, which the gateway chose."""
        described = json.loads(self.gateway.request("GET", "/catalog")[2])
        topics = [one["topic"] for one in described["datastreams"]]
        (found,) = [topic for topic in topics if topic.lower().endswith(name)]
        return found

    def test_sensorthings(self):
        service = frost.SensorThingsService(f"{self.gateway.url}/sta/v1.1")
        thing = kitchen()
        service.create(thing)
        stream = thing.get_datastreams().query().list().get(0)
        topic = self.topic("temperature")
        self.page.wait(topic, 21, "°C")
        for result in (22.5, 23.25):
            service.create(frost.Observation(phenomenon_time="2026-01-01T00:05:00Z", result=result, datastream=stream))
            self.page.wait(topic, result, "°C")

    def test_sos_2_0(self):
        self.sos("/sos", documents.INSERT_SENSOR)
        for number in (150, 175):
            self.sos("/sos", documents.insert_observations(1, first=number))
            self.page.wait(LEVEL, number / 100, "m")
        self.sos("/sos", documents.INSERT_TEMPLATE)
        self.sos("/sos", documents.INSERT_RESULT.replace("1.75", "2.25"))
        self.page.wait(LEVEL, 2.25, "m")

    def test_sos_1_0(self):
        self.sos("/sos", version_1.REGISTER)
        topic = self.topic("level")
        for minute, level in ((0, 10.5), (5, 12.25)):
            one = version_1.INSERT.replace("12:00:00+", f"12:0{minute}:00+").replace(">10.5<", f">{level}<")
            self.sos("/sos", one)
            self.page.wait(topic, level, "cm")

    def test_soap_and_the_service_that_the_device_hosts(self):
        for path, binding in (("soap", ("Observations", "Soap11")), ("dpws", ("Device", "Observations12"))):
            client = zeep.Client(f"{self.gateway.url}/{path}/observations?wsdl")
            service = client.bind(*binding)
            for number in (7.5, 8.25):
                service.publish(topic=path, observation=[{"topic": f"{path}/t", "number": number, "unit": "Cel"}])
                self.page.wait(f"{path}/t", number, "°C")


if __name__ == "__main__":
    unittest.main()
