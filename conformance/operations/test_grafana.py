"""`/grafana` asked as the plug-in simpod-json-datasource asks (its README and its source say how), and, where
Grafana's own library is, read by that: `toDataFrame` of @grafana/data is what the plug-in hands answers to."""

import json
import unittest
import urllib.parse

from gateway import ROOT, Gateway
from operations.frames import Frames

TIMES = [f"2026-01-02T00:00:{second:02}Z" for second in range(60)]
MIDNIGHT = 1767312000000


def panel(*targets, **more):
    """What a panel sends: much of it means nothing to a data source."""
    return {
        "app": "dashboard", "panelId": 1, "requestId": "Q100", "timezone": "browser", "dashboardUID": "x",
        "range": {"from": "2026-01-02T00:00:00.000Z", "to": "2026-01-02T00:01:00.000Z",
                  "raw": {"from": "now-1m", "to": "now"}},
        "rangeRaw": {"from": "now-1m", "to": "now"}, "interval": "10s", "intervalMs": 10000, "maxDataPoints": 100,
        "scopedVars": {"__interval": {"text": "10s", "value": "10s"}}, "startTime": MIDNIGHT,
        "targets": [{"refId": chr(65 + place), "datasource": {"type": "simpod-json-datasource", "uid": "u"},
                     "editorMode": "code", "payload": "", **target} for place, target in enumerate(targets)],
        **more}


class DataSource(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)
        warm = [{"time": time, "value": number, "unit": "Cel"} for number, time in enumerate(TIMES)]
        cls.gateway.publish("hall/warm", warm)
        cls.gateway.publish("hall/cold", [{"time": TIMES[0], "value": -1}])
        cls.gateway.publish("hall/door (old)", [{"time": TIMES[0], "value": "open"}])

    def ask(self, path, body, status=200):
        answer = self.gateway.request("POST", f"/grafana{path}", json.dumps(body), {"Content-Type": "application/json"})
        self.assertEqual(answer[0], status, answer[2])
        return json.loads(answer[2]) if status == 200 else answer[2].decode()

    def test_the_connection_is_tested(self):
        for path in ("/grafana", "/grafana/"):
            self.assertEqual(self.gateway.request("GET", path)[0], 200)

    def test_a_panel_of_several_lines(self):
        first, second = self.ask("/query", panel({"target": "hall/cold"}, {"target": "hall/warm"}))
        self.assertEqual(first, {"target": "hall/cold", "refId": "A", "datapoints": [[-1.0, MIDNIGHT]]})
        self.assertEqual((second["refId"], len(second["datapoints"])), ("B", 60))
        self.assertEqual(second["datapoints"][59], [59.0, MIDNIGHT + 59000])

    def test_a_line_of_more_than_the_panel_shows_is_thinned_out(self):
        line, = self.ask("/query", panel({"target": "hall/warm"}, maxDataPoints=10))
        self.assertEqual(line["datapoints"], [[ten * 10 + 4.5, MIDNIGHT + ten * 10000] for ten in range(6)])

    def test_variables_come_as_regular_expressions(self):
        lines = self.ask("/query", panel({"target": r"(hall\/warm|hall\/cold)"}))
        self.assertEqual([line["target"] for line in lines], ["hall/cold", "hall/warm"])
        table, = self.ask("/query", panel({"target": r"hall\/door \(old\)", "payload": {"type": "table"}}))
        self.assertEqual(table["rows"], [[MIDNIGHT, "hall/door (old)", "open", None]])

    def test_what_was_just_published_is_in_the_next_refresh(self):
        for value in range(20):
            self.gateway.publish("hall/live", [{"time": TIMES[value], "value": value}])
            line, = self.ask("/query", panel({"target": "hall/live"}))
            self.assertEqual(line["datapoints"][-1][0], value)
            latest, = self.ask("/query", panel({"target": "hall/live", "payload": {"type": "latest"}}))
            self.assertEqual(latest["datapoints"], [[value, MIDNIGHT + value * 1000]])

    def test_the_builder_and_variables_are_offered_what_there_is(self):
        topics = [metric["value"] for metric in self.ask("/metrics", {})]
        self.assertLessEqual({"hall/warm", "hall/cold"}, set(topics))
        options = self.ask("/metric-payload-options", {"metric": "hall/warm", "payload": {}, "name": "agg"})
        self.assertIn({"label": "max", "value": "max"}, options)
        values = self.ask("/variable", {"payload": {"target": "hall/+"}, "range": panel()["range"]})
        self.assertIn({"__text": "hall/warm", "__value": "hall/warm"}, values)
        self.assertIn({"text": "Cel"}, self.ask("/tag-values", {"key": "unit"}))
        only = [{"key": "unit", "operator": "=", "value": "Cel"}]
        self.assertEqual([line["target"] for line in self.ask("/query", panel({"target": "#"}, adhocFilters=only))],
                         ["hall/warm"])

    def test_a_mistake_is_told_in_the_panel(self):
        self.assertIn("median", self.ask("/query", panel({"target": "a", "payload": {"agg": "median"}}), 400))

    def test_what_is_provisioned_is_what_is_served(self):
        text = (ROOT / "packaging/grafana/datasource.yml").read_text()
        url = next(line.split("url:")[1].strip() for line in text.splitlines() if "url:" in line)
        path = urllib.parse.urlsplit(url).path
        self.assertEqual(self.gateway.request("GET", path)[0], 200)
        board = json.loads((ROOT / "packaging/grafana/observations.json").read_text())
        for shown in board["panels"]:
            for target in shown["targets"]:
                target = {**target, "target": target["target"].replace("$topic", r"hall\/warm")}
                self.assertTrue(self.ask("/query", panel(target)), shown["title"])


@unittest.skipUnless(Frames.LIBRARY.exists(), "@grafana/data is 180 MB: scripts/peers, but not in CI")
class TheirLibrary(DataSource):
    """The same, every answer to `/query` read by Grafana's own code besides."""

    def ask(self, path, body, status=200):
        answer = super().ask(path, body, status)
        if path == "/query" and status == 200:
            for frame, said in zip(Frames.of(answer), answer, strict=True):
                rows = said.get("rows") or said["datapoints"]
                self.assertEqual({len(field["values"]) for field in frame["fields"]}, {len(rows)})
                times = next(field["values"] for field in frame["fields"] if field["type"] == "time")
                self.assertEqual(times[0], MIDNIGHT if "rows" in said else rows[0][1])
        return answer
