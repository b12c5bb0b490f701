"""zeep makes a client of the WSDL that a real gateway serves, and calls every operation by SOAP 1.1 and 1.2."""

import datetime
import unittest

import zeep
from zeep.exceptions import Fault

from gateway import Gateway

NAMES = ("Soap11", "Soap12")
TIME = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.client = zeep.Client(f"{cls.gateway.url}/soap/observations?wsdl")

    @classmethod
    def tearDownClass(cls):
        cls.gateway.close()

    def service(self, name):
        return self.client.bind("Observations", name)

    def test_every_operation_by_both_versions(self):
        for name in NAMES:
            service = self.service(name)
            temperature = {"topic": f"{name}/t", "type": "temperature", "number": 21.5, "unit": "Cel", "time": TIME}
            door = {"topic": f"{name}/door", "boolean": True}
            note = {"topic": f"{name}/note", "text": "a < b & c"}
            cursor = service.publish(topic=name, observation=[temperature, door, note])
            self.assertTrue(cursor)
            latest = {one.topic: one for one in service.latest(filter=[f"{name}/#"])}
            self.assertEqual(latest[f"{name}/t"].number, 21.5)
            self.assertEqual(latest[f"{name}/t"].time, TIME)
            self.assertIs(latest[f"{name}/door"].boolean, True)
            self.assertEqual(latest[f"{name}/note"].text, "a < b & c")
            later = TIME + datetime.timedelta(minutes=1)
            service.publish(topic=name, observation=[{**temperature, "number": 22, "time": later}])
            page = service.history(filter=[f"{name}/t"], **{"from": TIME}, limit=1)
            self.assertEqual([one.number for one in page.observation], [21.5])
            page = service.history(filter=[f"{name}/t"], **{"from": TIME}, limit=1, page=page.next)
            self.assertEqual([one.number for one in page.observation], [22])
            described = service.describe(filter=[f"{name}/t"])
            self.assertEqual((described[0].type, described[0].unit), ("temperature", "Cel"))

    def test_what_is_published_is_seen_by_other_protocols(self):
        self.service("Soap12").publish(topic="seen", observation=[{"topic": "seen/x", "number": 7}])
        self.assertEqual(self.gateway.history("seen/x")[0]["value"], 7)

    def test_a_fault_says_what_is_wrong(self):
        for name in NAMES:
            with self.assertRaises(Fault) as caught:
                self.service(name).publish(topic="a", observation=[{"topic": "elsewhere", "number": 1}])
            self.assertIn("does not lie at or under", caught.exception.message)


if __name__ == "__main__":
    unittest.main()
