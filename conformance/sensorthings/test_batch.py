"""Batches: JSON, and `multipart/mixed` written and read by Python's own MIME package."""

import email
import email.policy
import json
import unittest

import httpx

from sensorthings.kitchen import Kitchen

SENSOR = {"name": "SHT31", "description": "on a board", "encodingType": "text/html", "metadata": "sheet"}


def http(line, body, name):
    """A request as a part."""
    part = email.message.Message()
    part["Content-Type"] = "application/http"
    part["Content-ID"] = name
    head = f"{line} HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"
    part.set_payload(head + (json.dumps(body) if body else ""))
    return part


def mixed(boundary, *parts):
    whole = email.message.Message()
    whole["Content-Type"] = f"multipart/mixed; boundary={boundary}"
    for part in parts:
        whole.attach(part)
    return whole


class Batch(unittest.TestCase):
    def setUp(self):
        self.kitchen = Kitchen(self)
        self.url = f"{self.kitchen.root}/$batch"

    def test_a_change_set_of_references_is_done_as_a_whole(self):
        unit = {"name": "percent", "symbol": "%", "definition": "ucum:%"}
        stream = {
            "name": "Humidity", "description": "of the room", "observationType": "OM_Measurement",
            "unitOfMeasurement": unit, "Sensor": {"@iot.id": "$sensor"}, "ObservedProperty": {"@iot.id": "$property"},
        }
        humidity = {"name": "humidity", "definition": "urn:h", "description": "of air"}
        made = mixed(
            "set",
            http("POST Sensors", SENSOR, "sensor"),
            http("POST /v1.1/ObservedProperties", humidity, "property"),
            http(f"POST {self.kitchen.thing}/Datastreams", stream, "stream"),
            http("POST $stream/Observations", {"result": 40}, "first"),
        )
        whole = mixed("all", made, http("GET Observations?$filter=Datastream/name%20eq%20'Humidity'", None, "read"))
        text = whole.as_string(policy=email.policy.compat32.clone(linesep="\r\n", max_line_length=None))
        head, _, body = text.partition("\r\n\r\n")
        self.assertIn("boundary", head)
        said = httpx.post(self.url, content=body, headers={"Content-Type": whole["Content-Type"]})
        answer = email.message_from_string(f"Content-Type: {said.headers['Content-Type']}\r\n\r\n{said.text}")
        changes, read = answer.get_payload()
        lines = [part.get_payload().partition("\r\n")[0] for part in changes.get_payload()]
        self.assertEqual(lines, ["HTTP/1.1 201 Created"] * 4)
        self.assertEqual([part["Content-ID"] for part in changes.get_payload()], ["sensor", "property", "stream", "first"])
        observations = json.loads(read.get_payload().partition("\r\n\r\n")[2])["value"]
        self.assertEqual([found["result"] for found in observations], [40])

    def test_of_a_group_that_fails_nothing_is_done(self):
        group = {"atomicityGroup": "g", "method": "post"}
        requests = [
            {"id": "1", "url": "Sensors", "body": SENSOR, **group},
            {"id": "2", "url": "Sensors", "body": {"name": "alone"}, **group},
        ]
        said = httpx.post(self.url, json={"requests": requests})
        self.assertEqual([response["status"] for response in said.json()["responses"]], [424, 400])
        self.kitchen.gateway.restart()
        self.assertEqual(len(self.kitchen.get("Sensors")["value"]), 1)

    def test_a_hundred_observations_in_one_request(self):
        url = f"{self.kitchen.stream}/Observations"
        requests = [
            {"id": str(number), "method": "post", "url": url, "body": {"result": number}, "atomicityGroup": "g"}
            for number in range(100)
        ]
        said = httpx.post(self.url, json={"requests": requests}, timeout=30)
        self.assertEqual({response["status"] for response in said.json()["responses"]}, {201})
        self.assertEqual(len({response["location"] for response in said.json()["responses"]}), 100)
        self.assertEqual(sorted(self.kitchen.results()), list(range(100)))
