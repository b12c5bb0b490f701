"""The topics of 18-088 section 14 by Mosquitto's and Paho's clients."""

import json
import queue
import subprocess
import unittest

import paho.mqtt.client as paho

from sensorthings.kitchen import Kitchen
from skips import program


class Reader:
    """A client of Paho that has subscribed: messages in `take`."""

    def __init__(self, test, kitchen, topic, qos=0, session=None):
        self.taken, self.codes = queue.Queue(), queue.Queue()
        self.client = paho.Client(
            paho.CallbackAPIVersion.VERSION2, client_id=session or "", clean_session=session is None
        )
        self.client.on_message = lambda _client, _data, message: self.taken.put(message)
        self.client.on_subscribe = lambda _client, _data, _id, codes, _properties: self.codes.put(codes[0])
        host, port = kitchen.gateway.ready["mqtt"].rsplit(":", 1)
        self.client.connect(host, int(port))
        self.client.loop_start()
        test.addCleanup(self.stop)
        self.client.subscribe(topic, qos)
        self.code = self.codes.get(timeout=20)

    def take(self):
        return self.taken.get(timeout=20)

    def body(self):
        return json.loads(self.take().payload)

    def stop(self):
        self.client.disconnect()
        self.client.loop_stop()


class Mqtt(unittest.TestCase):
    def setUp(self):
        self.kitchen = Kitchen(self)

    def mosquitto(self, name, *arguments):
        host, port = self.kitchen.gateway.ready["mqtt"].rsplit(":", 1)
        return [program(self, name), "-h", host, "-p", port, *arguments]

    def publish(self, topic, body, *arguments):
        command = self.mosquitto("mosquitto_pub", "-t", topic, "-m", json.dumps(body), *arguments)
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)

    # [STA-A.7.1.1-1]
    def test_observations_are_created_by_publishing_them(self):
        link = {"@iot.id": int(self.kitchen.stream[12:-1])}
        for topic, body in [
            ("v1.1/Observations", {"result": 1, "Datastream": link}),
            (f"v1.1/{self.kitchen.stream}/Observations", {"result": 2}),
        ]:
            done = self.publish(topic, body, "-q", "1", "-V", "5")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.kitchen.results(), [1, 2])

    def test_what_is_refused_is_refused_with_a_reason(self):
        done = self.publish(f"v1.1/{self.kitchen.stream}/Observations", {"colour": 2}, "-q", "1", "-V", "5", "-d")
        self.assertIn("RC:153", done.stdout + done.stderr)
        done = self.publish("v1.1/Nothings", {"result": 2}, "-q", "1", "-V", "5", "-d")
        self.assertIn("RC:144", done.stdout + done.stderr)
        self.assertEqual(self.kitchen.results(), [])

    # [STA-A.8.1.1-4] [STA-A.8.1.1-5]
    def test_observations_are_told_as_a_get_shows_them(self):
        topic = f"v1.1/{self.kitchen.stream}/Observations"
        every, some = Reader(self, self.kitchen, topic), Reader(self, self.kitchen, f"{topic}?$select=result")
        self.kitchen.observe(21.5)
        message = every.take()
        self.assertEqual(message.topic, topic)
        told, shown = json.loads(message.payload), self.kitchen.get(f"{self.kitchen.stream}/Observations")["value"][0]
        # No Host says by which name the gateway is known here, so that links begin at the root.
        self.assertEqual(told["@iot.selfLink"], shown["@iot.selfLink"][len(self.kitchen.gateway.url):])
        self.assertEqual((told["@iot.id"], told["phenomenonTime"]), (shown["@iot.id"], shown["phenomenonTime"]))
        message = some.take()
        self.assertEqual((message.topic, message.payload), (f"{topic}?$select=result", b'{"result":21.5}'))

    def test_mosquitto_sub_gets_what_a_filter_says(self):
        topic = "v1.1/Observations?$select=result&$filter=result gt 20 and Datastream/name eq 'Air'"
        command = ["stdbuf", "-oL", *self.mosquitto("mosquitto_sub", "-d", "-C", "2", "-W", "20", "-t", topic)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        for line in process.stdout:
            if line.startswith("Subscribed"):
                break
        self.kitchen.observe(10, 30, 31)
        lines = [line.strip() for line in process.stdout if line.startswith("{")]
        self.assertEqual((process.wait(), lines), (0, ['{"result":30}', '{"result":31}']))

    def test_a_kept_session_gets_what_came_while_it_was_away(self):
        topic = f"v1.1/{self.kitchen.stream}/Observations?$select=result"
        away = Reader(self, self.kitchen, topic, qos=1, session="reader")
        self.assertEqual(away.code.value, 1)
        self.kitchen.observe(1)
        self.assertEqual(away.body(), {"result": 1})
        away.stop()
        self.kitchen.observe(2, 3)
        back = Reader(self, self.kitchen, topic, qos=1, session="reader")
        self.assertEqual([back.body(), back.body()], [{"result": 2}, {"result": 3}])

    # [STA-A.8.1.1-1] [STA-A.8.1.1-2] [STA-A.8.1.1-3]
    def test_entities_and_properties_are_told_when_they_change(self):
        stream = self.kitchen.stream
        whole = Reader(self, self.kitchen, f"v1.1/{stream}", qos=1)
        self.assertEqual(whole.code.value, 0)
        name = Reader(self, self.kitchen, f"v1.1/{stream}/name")
        every = Reader(self, self.kitchen, "v1.1/Datastreams?$select=name")
        self.kitchen.patch(stream, {"description": "of the hall"})
        self.assertEqual(whole.body()["description"], "of the hall")
        self.assertEqual(every.body(), {"name": "Air"})
        self.kitchen.patch(stream, {"name": "Hall"})
        self.assertEqual((name.body(), every.body()), ({"name": "Hall"}, {"name": "Hall"}))
        for bad in ["v1.1/Nothings", "v1.1/Things(999)", "v1.1/#", "v1.1/Things?$top=1"]:
            self.assertGreaterEqual(Reader(self, self.kitchen, bad).code.value, 128, bad)
