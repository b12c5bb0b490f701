"""Observations corrected and deleted at random: each view tells what a model of them tells, at once and after starts."""

import json
import random
import unittest
import urllib.parse

from gateway import Gateway

OBSERVATIONS = "/sta/v1.1/Observations"
DATASTREAMS = 24
STEPS = 10


def at(second):
    return f"2026-01-01T00:00:0{second}Z"


class Model:
    """A datastream's observations as (time, order of arrival, value)."""

    def __init__(self, topic):
        self.topic, self.rows = topic, []

    def put(self, second, value):
        self.rows.append((second, value, value))

    def past(self):
        return [(at(second), value) for second, _, value in sorted(self.rows)]

    def last(self):
        return max(self.rows)[2] if self.rows else None


class Corrections(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.models = []

    def ask(self, method, path, body=None, good=(200, 201, 204)):
        fields = {"Content-Type": "application/json"} if body is not None else {}
        said = json.dumps(body) if body is not None else None
        status, _, answer = self.gateway.request(method, path, said, fields)
        self.assertIn(status, good, (method, path, body, answer))
        return status, answer

    def place(self, topic, value):
        """Where SensorThings has the one observation of this value."""
        asked = urllib.parse.quote(f"result eq {value}")
        found = json.loads(self.ask("GET", f"{OBSERVATIONS}?$filter={asked}")[1])["value"]
        self.assertEqual(len(found), 1, (topic, value))
        name = found[0]["@iot.id"]
        name = name if isinstance(name, int) else "'" + name.replace("'", "''") + "'"
        return f"{OBSERVATIONS}({urllib.parse.quote(str(name), safe=chr(39))})"

    def compare(self, model, when):
        status, answer = self.ask("GET", f"/live/{model.topic}", good=(200, 404))
        live = json.loads(answer)["observations"][0]["value"] if status == 200 else None
        entry = json.loads(self.ask("GET", f"/catalog/{model.topic}", good=(200, 404))[1] or "{}") if live else {}
        past = json.loads(self.ask("GET", f"/history/{model.topic}")[1])["observations"]
        past = [(row["time"], row["value"]) for row in past]
        told = (past, live, entry.get("value"))
        self.assertEqual(told, (model.past(), model.last(), model.last()), when)

    def test_what_is_corrected_or_deleted_stays_so_in_each_view(self):
        for seed in range(DATASTREAMS):
            with self.subTest(seed=seed):
                self.walk(seed)
        for how in (self.gateway.restart, self.stop_and_start):
            how()
            for model in self.models:
                self.compare(model, (how.__name__, model.topic))

    def walk(self, seed):
        draw = random.Random(seed)
        model = Model(f"corrected/{seed}")
        self.models.append(model)
        for step in range(STEPS):
            value = 1000 * (seed + 1) + step
            kind = draw.random()
            if kind < 0.4 or not model.rows:
                second = draw.randrange(3)
                self.ask("POST", f"/live/{model.topic}", {"value": value, "time": at(second)})
                model.put(second, value)
            else:
                row = draw.choice(model.rows)
                place = self.place(model.topic, row[2])
                model.rows.remove(row)
                if kind < 0.75:
                    second = draw.choice([row[0], draw.randrange(3)])
                    self.ask("PATCH", place, {"result": value, "phenomenonTime": at(second)})
                    model.put(second, value)
                else:
                    self.ask("DELETE", place)
            self.compare(model, (seed, step, kind))

    def stop_and_start(self):
        self.gateway.terminate()
        self.gateway.start()


if __name__ == "__main__":
    unittest.main()
