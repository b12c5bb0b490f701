"""What was forgotten or deleted is given to nobody any more, not to a client that resumes from before it either."""

import json
import unittest

from gateway import Gateway

JSON = {"Content-Type": "application/json"}
STA = "/sta/v1.1"


class Forgotten(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def done(self, method, path, body=None):
        status, headers, said = self.gateway.request(method, path, body and json.dumps(body), JSON if body else {})
        self.assertLess(status, 300, said)
        return headers

    def missed(self, since, topic="%23"):
        """What a client is given that stood there, by its topics."""
        path, accept = f"/live/{topic}?since={since}", {"Accept": "application/json"}
        status, _, said = self.gateway.request("GET", path, headers=accept)
        if status == 204:
            return []
        self.assertEqual(status, 200, said)
        return [(row["topic"], row["value"]) for row in json.loads(said)["observations"]]

    def everywhen(self, check):
        for again in (lambda: None, self.gateway.restart, self.gateway.terminate):
            again()
            if again == self.gateway.terminate:
                self.gateway.start()
            check()

    def test_a_forgotten_topic_is_not_given(self):
        since = self.gateway.cursor()
        self.gateway.publish_value("a", 1)
        self.gateway.publish_value("b", 2)
        self.gateway.publish("c", {"x": 3, "y": 4})
        self.assertEqual(self.missed(since), [("a", 1), ("b", 2), ("c/x", 3), ("c/y", 4)])
        self.done("DELETE", "/catalog/a")
        self.done("DELETE", "/catalog/c/x")
        self.gateway.publish_value("a", 5)
        self.everywhen(lambda: self.assertEqual(self.missed(since), [("b", 2), ("c/y", 4), ("a", 5)]))

    def test_a_deleted_observation_is_not_given(self):
        since = self.gateway.cursor()
        times = [f"2026-01-01T00:0{minute}:00Z" for minute in range(3)]
        for value, time in zip((1, 2, 3), times, strict=True):
            self.gateway.publish("a", {"value": value, "time": time})
        self.gateway.publish("b", {"value": 1, "time": times[0]})
        found = self.gateway.request("GET", f"{STA}/Observations?$filter=result%20eq%202")[2]
        self.done("DELETE", self.of(found))
        found = self.gateway.request("GET", f"{STA}/Observations?$filter=result%20eq%203")[2]
        self.done("PATCH", self.of(found), {"result": 7})
        self.everywhen(lambda: self.assertEqual(self.missed(since), [("a", 1), ("b", 1), ("a", 7)]))

    def of(self, found):
        [one] = json.loads(found)["value"]
        return STA + one["@iot.selfLink"].partition(STA)[2]

    def test_a_key_is_forgotten_with_its_topic(self):
        self.gateway.publish_value("a", 1, key="k")
        self.done("DELETE", "/catalog/a")
        for _ in range(2):
            self.gateway.publish_value("a", 1, key="k")
            self.assertEqual(len(self.gateway.history("a")), 1)
            self.gateway.restart()
