"""What an observation means stays with it: unit, sensor and property are those that it was made under."""

import contextlib
import http.client
import json
import pathlib
import unittest

from gateway import Gateway

JSON = {"Content-Type": "application/json"}


def day(number, hour=0):
    return f"2026-01-{number:02}T{hour:02}:00:00Z"


class Descriptions(unittest.TestCase):
    def setUp(self):
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)

    def publish(self, topic, good=204, **observation):
        status, _, said = self.gateway.request("POST", f"/live/{topic}", json.dumps(observation), JSON)
        self.assertEqual(status, good, said)
        return said.decode()

    def told(self, path, *members):
        status, _, said = self.gateway.request("GET", path)
        self.assertEqual(status, 200, (path, said))
        return [tuple(row.get(member) for member in members) for row in json.loads(said)["observations"]]

    def stop_and_start(self):
        self.gateway.terminate()
        self.gateway.start()

    def each_start(self, check):
        check("at once")
        for how in (self.gateway.restart, self.stop_and_start):
            how()
            check(how.__name__)

    def test_metres_then_centimetres(self):
        before = self.gateway.cursor()
        self.publish("river/level", value=1.42, unit="m", time=day(1))
        self.publish("river/level", value=1.5, time=day(1, 1))
        self.publish("river/level", value=50, unit="cm", time=day(2))
        self.publish("river/level", value=51, time=day(2, 1))
        self.publish("river/level", value=1.2, time=day(1, 2))
        self.publish("river/level", value=3, unit="m", time=day(2, 2))
        self.publish("river/level", value=52, time=day(2, 3))
        whole = [(1.42, "m"), (1.5, "m"), (1.2, "m"), (50, "cm"), (51, "cm"), (3, "m"), (52, "cm")]

        def check(when):
            self.assertEqual(self.told("/history/river/level", "value", "unit"), whole, when)
            self.assertEqual(self.told("/live/river/level", "value", "unit"), [(52, "cm")], when)
            resumed = self.told(f"/live/river/level?since={before}", "value", "unit")
            self.assertEqual(sorted(resumed), sorted(whole), when)

        self.each_start(check)

    def test_a_blank_name_says_nothing(self):
        self.publish("blank/level", value=1, unit="m", sensor="urn:s:a", type="urn:p:level", time=day(1))
        for number, body in enumerate(
            (
                {"value": 2, "unit": "", "sensor": "", "type": "", "time": day(2)},
                {"value": 2, "unit": "  ", "sensor": "\t", "quality": "", "feature": " ", "time": day(3)},
            )
        ):
            self.publish("blank/level", **body)
            said = self.told("/history/blank/level", "value", "unit", "sensor", "type", "quality", "feature")
            self.assertEqual(said[number + 1], (2, "m", "urn:s:a", "urn:p:level", None, None))
        for lines in (b'[{"n":"","v":3,"u":"","t":1767571200}]', b"value,unit,time\n4,,2026-01-06T00:00:00Z\n"):
            media = "application/senml+json" if lines.startswith(b"[") else "text/csv"
            status, _, said = self.gateway.request("POST", "/live/blank/level", lines, {"Content-Type": media})
            self.assertEqual(status, 204, said)
        self.assertEqual(len(self.entry("blank/level")["versions"]), 1)
        status, _, said = self.gateway.request("PUT", "/catalog/blank/level", '{"unit":"m","sensor":" "}', JSON)
        self.assertEqual(status, 400, said)

    def entry(self, topic):
        return json.loads(self.gateway.request("GET", f"/catalog/{topic}?versions")[2])

    def test_a_replaced_sensor_leaves_late_data_to_the_one_before(self):
        self.publish("mast/wind", value=1, sensor="urn:s:old", type="urn:p:wind", unit="m/s", time=day(1))
        self.publish("mast/wind", value=2, sensor="urn:s:new", time=day(5))
        self.publish("mast/wind", value=3, time=day(3))
        self.publish("mast/wind", value=4, time=day(6))

        def check(when):
            old, new = ("urn:s:old", "urn:p:wind", "m/s"), ("urn:s:new", "urn:p:wind", "m/s")
            said = self.told("/history/mast/wind", "value", "sensor", "type", "unit")
            self.assertEqual(said, [(1, *old), (3, *old), (2, *new), (4, *new)], when)

        self.each_start(check)

    def test_late_data_do_not_move_a_station_back(self):
        self.publish("buoy/t", value=1, lat=10, lon=10, time=day(1))
        self.publish("buoy/t", value=2, lat=20, lon=20, time=day(5))
        self.publish("buoy/t", value=3, lat=10, lon=10, time=day(2))

        def check(when):
            told = self.told("/history/buoy/t", "value", "lat")
            self.assertEqual(told, [(1, 10), (3, 10), (2, 20)], when)
            self.assertEqual(self.told("/live/buoy/t", "value", "lat"), [(2, 20)], when)
            _, _, said = self.gateway.request("GET", "/catalog/buoy/t")
            self.assertEqual(json.loads(said)["lat"], 20, when)

        self.each_start(check)

    def test_two_units_in_one_message(self):
        rows = [{"n": "x", "u": "Cel", "v": 21, "t": 1767225600}, {"n": "x", "u": "K", "v": 294, "t": 1767225660}]
        fields = {"Content-Type": "application/senml+json"}
        status, _, said = self.gateway.request("POST", "/live/pack", json.dumps(rows), fields)
        self.assertEqual(status, 204, said)
        self.each_start(lambda when: self.assertEqual(
            self.told("/history/pack/x", "value", "unit"), [(21, "Cel"), (294, "K")], when))

    def test_what_a_datastream_is_and_was_can_be_asked(self):
        self.publish("river/level", value=1.42, unit="m", time=day(1))
        self.publish("river/level", value=50, unit="cm", time=day(2))
        status, _, said = self.gateway.request("GET", "/catalog/river/level?versions")
        entry = json.loads(said)
        self.assertEqual((status, entry["unit"]), (200, "cm"))
        self.assertEqual(entry["versions"], [{"unit": "m"}, {"from": "2026-01-02T00:00:00Z", "unit": "cm"}])
        _, _, said = self.gateway.request("GET", "/catalog/river/level")
        self.assertNotIn("versions", json.loads(said))

    def refused(self, path, status, *words):
        got, _, said = self.gateway.request("GET", path)
        self.assertEqual(got, status, (path, said))
        for word in words:
            self.assertIn(word, said.decode())

    def test_a_query_works_in_one_unit(self):
        self.publish("river/level", value=1.42, unit="m", time=day(1))
        self.publish("river/level", value=50, unit="cm", time=day(2))
        self.publish("river/level", value=2, time=day(1, 1))
        self.publish("river/ice", value=True, time=day(1))
        self.publish("air/t", value=300, unit="K", time=day(1))
        self.publish("air/t", value=21.5, unit="Cel", time=day(2))

        def check(when):
            of = "/history/river/level?agg="
            self.assertEqual(self.told(of + "max:10d", "value", "unit"), [(200, "cm")], when)
            self.assertEqual(self.told(of + "sum:10d&unit=m", "value", "unit"), [(3.92, "m")], when)
            self.assertEqual(self.told(of + "count:10d", "value"), [(3,)], when)
            self.assertEqual(self.told(of + "last:10d", "value", "unit"), [(50, "cm")], when)
            self.assertEqual(self.told("/history/river/%23?unit=mm", "value", "unit"),
                             [(True, None), (1420, "mm"), (2000, "mm"), (500, "mm")], when)
            self.assertEqual(self.told("/history/air/t?unit=", "value", "unit"), [(26.85, "Cel"), (21.5, "Cel")], when)
            self.assertEqual(self.told("/live/air/t?unit=[degF]", "value", "unit"), [(70.7, "[degF]")], when)
            for path in ("/history/river/level?unit=s", of + "mean:1h&unit=Cel", "/live/river/level?unit=kg",
                         "/live/river/level?stream&unit=kg"):
                self.refused(path, 400, "river/level", "cannot be given in")

        self.each_start(check)

    def test_what_cannot_be_compared_is_not_counted_together(self):
        self.publish("mixed", value=20, unit="Cel", time=day(1))
        self.publish("mixed", value=3.3, unit="V", time=day(2))
        for function in ("mean", "min", "max", "sum", "first"):
            self.refused(f"/history/mixed?agg={function}:10d", 400, "mixed", "Cel", "V")
        self.assertEqual(self.told("/history/mixed?agg=count:10d", "value"), [(2,)])
        self.assertEqual(self.told("/history/mixed?agg=mean:1d&from=2026-01-02T00:00:00Z", "value", "unit"), [(3.3, "V")])
        self.assertEqual(self.told("/history/mixed?unit=", "value", "unit"), [(20, "Cel"), (3.3, "V")])

    def test_conditions_and_windows_look_at_one_unit(self):
        self.publish("lake", value=50, unit="cm", time=day(2))
        before = self.gateway.cursor()
        self.publish("lake", value=1.42, unit="m", time=day(1))
        self.publish("lake", value=0.4, unit="m", time=day(1, 1))
        self.publish("lake", value=7, unit="kg", time=day(1, 2))
        self.publish("lake", value=45, time=day(3))
        resumed = f"/live/lake?since={before}"
        self.assertEqual(self.told(resumed + "&where=value%3E42", "value", "unit"), [(1.42, "m"), (45, "cm")])
        self.assertEqual(self.told(resumed + "&where=value%3C1&unit=m", "value", "unit"), [(0.4, "m"), (0.45, "m")])

    def test_a_count_is_of_no_unit(self):
        self.publish("count/a", value=1, unit="m", sensor="urn:s:1", time=day(1))
        self.publish("count/a", value=200, unit="cm", time=day(2))
        for unit in ("", "&unit=s", "&unit=", "&unit=cm"):
            path = f"/history/count/a?agg=count:3650d{unit}"
            self.assertEqual(self.told(path, "value", "unit", "sensor"), [(2, None, "urn:s:1")], unit)
        self.assertEqual(self.told("/history/count/a?agg=max:3650d", "value", "unit"), [(200, "cm")])
        # Live, too.
        for unit in ("", "&unit=cm"):
            with contextlib.closing(http.client.HTTPConnection(self.gateway.address, timeout=60)) as connection:
                connection.request("GET", f"/live/count/a?agg=count:100ms{unit}", headers={"Accept": "text/event-stream"})
                answer = connection.getresponse()
                self.publish("count/a", value=3, unit="m")
                lines = iter(answer.readline, b"")
                line = next(line for line in lines if line.startswith(b"data:"))
                [row] = json.loads(line[5:])["observations"]
                self.assertEqual((row["value"], row.get("unit")), (1, None), row)

    def test_a_window_at_the_first_of_all_times_has_a_time(self):
        self.publish("first/a", value=1, time="1677-09-21T00:12:44Z")
        for window in ("1d", "36500d"):
            [(value, time)] = self.told(f"/history/first/a?agg=mean:{window}", "value", "time")
            self.assertEqual((value, time[:10]), (1, "1677-09-21"))

    def test_a_number_too_large_in_a_unit_is_refused_or_says_so(self):
        self.publish("far/a", value=2, unit="km", time=day(1))
        self.publish("far/a", value=1e308, time=day(2))
        for query in ("unit=m", "agg=mean:10d&unit=m"):
            status, _, said = self.gateway.request("GET", f"/history/far/a?{query}")
            self.assertEqual(status, 400, said)
            for word in (b"far/a", b"`km`", b"`m`", b"1e308"):
                self.assertIn(word, said)
        self.assertEqual(self.told("/history/far/a?unit=Mm", "value"), [(0.002,), (1e305,)])
        self.publish("far/a", value=5, unit="m", time=day(3))
        told = self.told("/history/far/a?unit=", "value", "unit", "quality")
        self.assertEqual([row[:2] for row in told], [(2000, "m"), (None, "m"), (5, "m")])
        self.assertIn("too large", told[1][2])

    def test_what_is_declared_is_not_contradicted(self):
        entry = '{"unit":"Cel","sensor":"urn:s:1"}'
        status, _, said = self.gateway.request("PUT", "/catalog/hall/t", entry, JSON)
        self.assertEqual(status, 204, said)

        def check(when):
            self.publish("hall/t", value=20, time=day(1))
            self.publish("hall/t", value=300, unit="K", time=day(1, 1))
            said = self.publish("hall/t", good=409, value=3, unit="V", time=day(1, 2))
            self.assertTrue("Cel" in said and "V" in said and "hall/t" in said, said)
            self.assertIn("urn:s:2", self.publish("hall/t", good=409, value=3, sensor="urn:s:2"))
            # Who says no Content-Type is answered, too.
            self.assertEqual(self.gateway.request("POST", "/live/hall/t", '{"value":3,"unit":"V"}')[0], 409)
            self.publish("hall/t", value=21, time=day(1, 3))
            rows = [(20, "Cel"), (300, "K"), (21, "Cel")]
            self.assertEqual(self.told("/history/hall/t", "value", "unit")[-3:], rows, when)
            _, _, said = self.gateway.request("GET", "/catalog/hall/t")
            told = json.loads(said)
            self.assertEqual((told["unit"], told["sensor"], told["declared"]), ("Cel", "urn:s:1", True), when)

        check("at once")
        self.gateway.restart()
        status, _, said = self.gateway.request("GET", "/history/hall/t?agg=mean:10d")
        self.assertAlmostEqual(json.loads(said)["observations"][0]["value"], 22.6166666667)

    def test_an_entry_that_says_what_is_not_its_to_say_is_refused(self):
        for body, word in (
            ("[]", "an object"),
            ('["a","b"]', "an object"),
            ('{"number":7}', "`number`"),
            ('{"declared":true}', "`declared`"),
            ('{"descriptions":[{"from":0,"learned":0}]}', "descriptions"),
            ('{"unit":""}', "says nothing"),
            ('{"units":"m"}', "`units`"),
        ):
            status, _, said = self.gateway.request("PUT", "/catalog/odd/a", body, JSON)
            self.assertEqual(status, 400, (body, said))
            self.assertIn(word, said.decode())

    def test_there_is_an_end_of_descriptions_that_says_so(self):
        for number in range(255):
            self.publish("many/a", value=number, unit=f"u{number}", time=day(1, number % 24))
        self.assertIn("descriptions", self.publish("many/a", good=413, value=1, unit="one-more", time=day(2)))
        self.publish("many/a", value=1, unit="u7", time=day(2))
        self.publish("many/a", value=2, time=day(2, 1))
        rows = self.told("/history/many/a?from=2026-01-02T00:00:00Z", "value", "unit")
        self.assertEqual(rows[0], (1, "u7"))

    def declare(self, topic, **said):
        status, _, answer = self.gateway.request("PUT", f"/catalog/{topic}", json.dumps(said), JSON)
        self.assertEqual(status, 204, answer)

    def all_told(self, topic, whole):
        """By history and by the log, before and after starts."""
        def check(when):
            for path in (f"/history/{topic}", f"/live/{topic}?since={self.begin}"):
                self.assertEqual(sorted(self.told(path, "value", "unit")), whole, (path, when))
        self.each_start(check)

    def test_who_may_change_says_what_it_is_now(self):
        self.begin = self.gateway.cursor()
        self.publish("fix/a", value=1, unit="m", time=day(1))
        self.publish("fix/a", value=2, unit="cm", time=day(2))
        self.declare("fix/a", unit="mm")
        self.publish("fix/a", value=3)
        self.all_told("fix/a", [(1, "m"), (2, "cm"), (3, "mm")])
        self.declare("fix/a", name="of another name")
        self.publish("fix/a", value=4)
        self.all_told("fix/a", [(1, "m"), (2, "cm"), (3, "mm"), (4, "mm")])
        self.declare("fix/a?correct", unit="dm")
        self.all_told("fix/a", [(1, "m"), (2, "cm"), (3, "dm"), (4, "dm")])
        mean = self.told("/history/fix/a?agg=mean:36500d", "value", "unit")
        self.assertEqual(mean, [((10 + 0.2 + 3 + 4) / 4, "dm")])

    def test_what_is_declared_stays_where_a_message_differs(self):
        self.declare("fix/b", unit="m")
        self.publish("fix/b", value=1, time=day(1))
        self.publish("fix/b", value=200, unit="cm", time=day(2))
        self.publish("fix/b", value=3, time=day(3))
        self.declare("fix/b", name="x")
        self.begin = "0-0"
        self.publish("fix/b", value=4)
        self.assertEqual(self.told("/history/fix/b", "value", "unit"), [(1, "m"), (200, "cm"), (3, "m"), (4, "m")])
        self.assertEqual(self.told("/history/fix/b?agg=mean:36500d", "value", "unit"), [(2.5, "m")])

    def test_what_was_not_known_is_known_of_all(self):
        self.publish("fix/c", value=1, time=day(1))
        self.declare("fix/c", unit="Cel")
        self.publish("fix/c", value=2)
        self.each_start(lambda when: self.assertEqual(
            self.told("/history/fix/c", "value", "unit"), [(1, "Cel"), (2, "Cel")], when))

    def test_a_clock_that_is_ahead_decides_of_its_own_observation(self):
        self.begin = self.gateway.cursor()
        self.publish("fix/d", value=1, unit="Cel", time=day(1))
        self.publish("fix/d", value=300, unit="K", time="2099-01-01T00:00:00Z")
        self.declare("fix/d", unit="Cel")
        self.publish("fix/d", value=20)
        self.all_told("fix/d", [(1, "Cel"), (20, "Cel"), (300, "K")])

    def test_a_replaced_sensor_leaves_what_the_old_one_observed(self):
        self.declare("fix/e", sensor="urn:old", unit="m")
        self.publish("fix/e", value=1, time=day(1))
        self.declare("fix/e", sensor="urn:new")
        self.publish("fix/e", value=2)
        told = lambda when: self.assertEqual(
            self.told("/history/fix/e", "value", "sensor", "unit"), [(1, "urn:old", "m"), (2, "urn:new", "m")], when)
        self.each_start(told)

    def log_bytes(self):
        return sum(file.stat().st_size for file in pathlib.Path(self.gateway.data, "log").iterdir())

    def test_a_period_that_ends_before_it_begins_is_refused(self):
        said = self.publish("per/a", 400, value=1, time=day(2), end=day(1))
        self.assertIn("per/a", said)
        self.assertIn(day(1), said)
        self.publish("per/a", value=1, time=day(1), end=day(1))
        self.publish("per/a", value=1, time=day(1), end=day(2))

    def test_a_refused_message_makes_nothing_known(self):
        for number in range(3):
            self.publish(f"amp/{number}", value=1, unit="m", sensor="s" * 1000, type="t" * 1000, time=day(1))
        rows = [
            {"topic": f"amp/{number}", "value": unit, "unit": f"u{unit}", "time": day(2)}
            for number in range(3)
            for unit in range(254)
        ]
        log = self.log_bytes()
        self.publish("amp", 204, observations=rows)
        self.assertLess(self.log_bytes() - log, 4 << 20)
        again = [{**row, "unit": f"v{row['unit']}"} for row in rows]
        said = self.publish("amp", 413, observations=again)
        self.assertIn("descriptions", said)
        versions = json.loads(self.gateway.request("GET", "/catalog/amp/0?versions")[2])["versions"]
        self.assertEqual(len(versions), 255)


if __name__ == "__main__":
    unittest.main()
