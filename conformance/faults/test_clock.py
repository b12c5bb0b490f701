"""A clock that is wrong for a run and then right: last values go on, and nothing is dropped for its age."""

import json
import time
import unittest

from faults.layer import NONE, Faulty, Layer

DAY_S = 86_400
AHEAD_S = 400 * DAY_S
# Every age is short of a year, and segments are small, so that a run ahead has many of them past their keeping.
SETTINGS = {"log.segment_bytes": "65536", "log.retention_age": "7d", "history.retention_age": "30d"}
ROUNDS = 40


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Clock(unittest.TestCase):
    def setUp(self):
        self.layer = Layer(self)
        self.gateway = Faulty(self.layer, SETTINGS)
        self.addCleanup(self.gateway.close)
        self.begin = self.gateway.cursor()

    def again(self, clock_s):
        """Stops it, and starts it by another clock."""
        self.assertEqual(self.gateway.terminate(), 0)
        self.layer.set(NONE, clock_s=clock_s)
        self.gateway.start()

    def last(self, topic, query=""):
        status, _, body = self.gateway.request("GET", f"/live/{topic}{query}", headers={"Accept": "application/json"})
        self.assertEqual(status, 200)
        return json.loads(body)["observations"][0]["value"]

    def publish(self, topic, value, before_s=None):
        """With a time of the device's own, so many seconds before the right time, or with none."""
        message = {"value": value}
        if before_s is not None:
            message["time"] = rfc3339(time.time() - before_s)
        self.gateway.publish(topic, message)

    def test_a_value_of_a_run_ahead_gives_way(self):
        topics = ("none", "right", "late", "ahead")
        own = {"none": None, "right": 0, "late": 1, "ahead": -AHEAD_S}
        for topic in topics:
            self.publish(topic, 1, own[topic])
        self.again(AHEAD_S)
        for topic in topics:
            self.publish(topic, 2, None if topic != "ahead" else -AHEAD_S)
            self.assertEqual(self.last(topic), 2)
        self.again(0)
        for topic in topics:
            self.assertEqual(self.last(topic), 2, "nothing is newer")
        # What is late replaces it no more than anything else.
        for topic in topics:
            self.publish(topic, -1, DAY_S)
        for value in (3, 4):
            for topic in topics:
                self.publish(topic, value, own[topic])
            time.sleep(2.1)
        for topic in topics:
            self.assertEqual(self.last(topic), 4, topic)
            self.assertEqual(self.last(topic, "?as=json"), 4, topic)
        # The stores rank as the catalog does.
        self.again(0)
        for topic in topics:
            self.assertEqual(self.last(topic), 4, topic)
            self.publish(topic, 5, own[topic])
            self.assertEqual(self.last(topic), 5, topic)

    def test_a_value_of_a_jump_within_a_run_gives_way(self):
        self.publish("a", 1)
        self.layer.set(NONE, clock_s=AHEAD_S)
        self.publish("a", 2)
        self.layer.set(NONE, clock_s=0)
        self.publish("a", 3)
        self.assertEqual(self.last("a"), 3)
        self.layer.set(NONE, clock_s=-AHEAD_S)
        self.publish("a", 4)
        self.assertEqual(self.last("a"), 4)

    def test_a_device_with_a_wrong_clock_hinders_itself_only_once(self):
        self.publish("a", 1, -10 * 365 * DAY_S)
        self.publish("a", 2, DAY_S)
        self.assertEqual(self.last("a"), 1, "what is late stays behind")
        self.publish("a", 3)
        self.assertEqual(self.last("a"), 3)

    def test_nothing_is_dropped_for_its_age(self):
        text, acknowledged = "x" * 4000, 0
        for clock_s in (0, AHEAD_S, 0, AHEAD_S, 0):
            for _ in range(ROUNDS):
                self.gateway.publish("a", {"value": f"{acknowledged} {text}"})
                acknowledged += 1
            # The upkeep of log and history comes every ten seconds.
            time.sleep(11)
            self.again(clock_s)
        kept = {int(row["value"].split()[0]) for row in self.gateway.history("a", limit=100)}
        self.assertEqual(kept, set(range(acknowledged)))
        status, headers, body = self.gateway.request("GET", f"/live/a?since={self.begin}")
        self.assertEqual(status, 200)
        self.assertNotIn("Weir-Gap", headers, body[:200])


if __name__ == "__main__":
    unittest.main()
