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

    def test_descriptions_and_advice_know_their_keys(self):
        for path in ("/td?limits=3", "/openapi.json?x", "/asyncapi.json?topics=a", "/advise/levels?x", "/advise?lnk=lan"):
            self.refused(path, "is not known here" if "lnk" not in path else "`link`")
        self.assertEqual(self.gateway.request("GET", "/td?limit=3&as=json&as=cbor")[0], 200)

    def test_a_key_or_a_field_that_is_there_twice_is_refused(self):
        self.publish("twice/a", value=1)
        self.refused("/history/twice/a?from=-1h&from=-2h", "`from` is given twice")
        self.refused("/live/twice/a?unit=m&unit=cm", "`unit` is given twice")
        self.assertEqual(len(self.past("/history?topic=twice/a&topic=twice/b")), 1)
        for name, first, second in (
            ("Content-Type", "application/json", "application/cbor"),
            ("Idempotency-Key", "a", "b"),
            ("Authorization", "Bearer a", "Bearer b"),
        ):
            connection = self.gateway.connect()
            self.addCleanup(connection.close)
            connection.putrequest("POST", "/live/twice/a")
            fields = [(name, first), (name, second), ("Content-Length", "11")]
            fields += [] if name == "Content-Type" else [("Content-Type", "application/json")]
            for field in fields:
                connection.putheader(*field)
            connection.endheaders(b'{"value":2}')
            answer = connection.getresponse()
            self.assertEqual(answer.status, 400, name)
            self.assertIn(name.lower(), answer.read().decode())
        self.assertEqual([row["value"] for row in self.past("/history/twice/a")], [1])

    def test_a_condition_on_what_is_no_number_is_refused(self):
        self.publish("odd/a", value=1)
        for constant in ("NaN", "inf", "1e999"):
            self.refused(f"/live/odd/a?stream&where=value%3E{constant}", "no condition")

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
