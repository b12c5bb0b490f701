"""What is asked of the past and of live data: keys that are not known, spans, windows and selections."""

import json
import unittest

from gateway import Gateway

JSON = {"Content-Type": "application/json"}


class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def publish(self, topic, **observation):
        status, _, said = self.gateway.request("POST", f"/live/{topic}", json.dumps(observation), JSON)
        self.assertEqual(status, 204, said)

    def refused(self, path, *named, method="GET", body=None):
        status, _, said = self.gateway.request(method, path, body, JSON)
        self.assertEqual(status, 400, (path, said))
        for name in named:
            self.assertIn(name, said.decode(), path)

    def past(self, path):
        status, _, said = self.gateway.request("GET", path)
        self.assertEqual(status, 200, (path, said))
        return json.loads(said)["observations"]

    def test_a_key_that_is_not_known_is_named_with_the_nearest(self):
        self.publish("keys/a", value=1)
        self.refused("/history/keys/a?form=-1h", "`form`", "`from`")
        self.refused("/history/keys/a?limits=3", "`limits`", "`limit`")
        self.refused("/live/keys/a?snce=1-1", "`snce`", "`since`")
        self.refused("/live/keys/a?nope=1", "`nope`", "policy")
        self.refused("/live/keys/%23?stream&evry=1s", "`evry`", "`every`")
        self.refused("/catalog?nope=1", "`nope`")
        self.refused("/catalog/keys/a?unit=m", "`unit`", method="PUT", body='{"unit":"m"}')
        self.refused("/live/keys/a?retain", "`retain`", method="POST", body='{"value":2}')
        self.refused("/formats?x", "`x`")
        self.assertEqual(self.past("/live/keys/a?compress=0&access_token=x&as=json")[0]["value"], 1)

    def test_a_span_that_ends_before_it_begins_is_refused(self):
        self.refused("/history/keys/a?from=-1h&to=-2h", "from", "to")
        self.assertEqual(self.past("/history/keys/none?from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z"), [])

    def test_a_window_may_stand_beside_its_function(self):
        for minute in range(6):
            self.publish("window/a", value=minute, time=f"2026-01-01T00:0{minute}:00Z")
        whole = self.past("/history/window/a?agg=mean:2m")
        self.assertEqual([row["value"] for row in whole], [0.5, 2.5, 4.5])
        self.assertEqual(self.past("/history/window/a?agg=mean&every=2m"), whole)
        self.refused("/history/window/a?agg=mean:2m&every=2m", "every")
        self.refused("/history/window/a?agg=mean", "WINDOW")

    def test_what_is_selected_is_told_as_it_was_observed(self):
        rows = [
            {"value": 1, "time": "2026-01-01T00:10:00Z"},
            {"value": "shut", "time": "2026-01-01T00:20:00Z", "quality": "good"},
            {"value": 3, "time": "2026-01-01T01:30:00Z", "lat": 44.5, "lon": 20.25},
            {"value": True, "time": "2026-01-01T02:40:00Z"},
            {"value": [1, 2], "time": "2026-01-01T03:50:00Z"},
        ]
        for row in rows:
            self.publish("picked/a", **row)
        whole = self.past("/history/picked/a")
        for asked in ("every=1h", "agg=last:1h", "agg=last&every=1h"):
            self.assertEqual(self.past(f"/history/picked/a?{asked}"), whole[1:], asked)
        first = self.past("/history/picked/a?every=1h&limit=2")
        self.assertEqual(first, whole[1:3])


if __name__ == "__main__":
    unittest.main()
