"""Kills between the record of a description and its first observation: what was acknowledged keeps what it means."""

import http.client
import json
import random
import threading
import unittest

from gateway import Gateway

JSON = {"Content-Type": "application/json"}
TOPICS, KILLS = 4, 25


class Publisher(threading.Thread):
    """Publishes at one topic, each observation with a unit of its own or, each second one, with none; until the
    gateway is gone. What was acknowledged stands in `kept`: its value and the unit that it must be told in."""

    def __init__(self, gateway, topic, kept, first):
        super().__init__()
        self.gateway, self.topic, self.kept, self.value = gateway, topic, kept, first

    def run(self):
        try:
            connection = self.gateway.connect()
            while True:
                self.value += 1
                unit = f"{{{self.topic[-1]}{self.value // 2 % 90}}}"
                body = {"value": self.value, "time": f"2026-01-01T{self.value // 3600:02}:{self.value // 60 % 60:02}:{self.value % 60:02}Z"}
                if self.value % 2 == 0:
                    body["unit"] = unit
                answer = self.gateway.request("POST", f"/live/{self.topic}", json.dumps(body), JSON, connection)
                if answer[0] != 204:
                    self.kept.append((self.value, answer[2].decode()))
                    return
                if self.value % 2 == 0:
                    self.kept.append((self.value, unit))
        except (OSError, http.client.HTTPException):
            return


class Described(unittest.TestCase):
    def test_what_was_acknowledged_is_told_in_its_unit_after_kills(self):
        chance = random.Random(36)
        with Gateway(settings={"log.segment_bytes": "1048576"}) as gateway:
            kept = {f"kill/{topic}": [] for topic in range(TOPICS)}
            first = dict.fromkeys(kept, 0)
            for _ in range(KILLS):
                publishers = [Publisher(gateway, topic, kept[topic], first[topic]) for topic in kept]
                for publisher in publishers:
                    publisher.start()
                threading.Event().wait(0.02 + chance.expovariate(20))
                gateway.kill()
                for publisher in publishers:
                    publisher.join()
                    # What was not answered may be there.
                    first[publisher.topic] = publisher.value + publisher.value % 2
                gateway.start()
            self.assertGreater(sum(map(len, kept.values())), KILLS)
            for when in ("after kills", "after a stop"):
                for topic, promised in kept.items():
                    told = [(row["value"], row.get("unit")) for row in gateway.history(topic)]
                    self.assertEqual([pair for pair in promised if pair not in told], [], (when, topic))
                    versions = json.loads(gateway.request("GET", f"/catalog/{topic}?versions")[2])["versions"]
                    said = [version.get("unit") for version in versions]
                    self.assertLessEqual(len(said), 255)
                    self.assertTrue({unit for _, unit in promised} <= set(said), (when, topic))
                gateway.terminate()
                gateway.start()


if __name__ == "__main__":
    unittest.main()
