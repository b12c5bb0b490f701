"""Publishing, latest values, history, the catalog, access: `Gateway` and `AsyncGateway` by the same assertions."""

import asyncio
import hashlib
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock
from datetime import UTC, datetime
from decimal import Decimal

import gateway as process
import numpy
import pandas
from weir import AsyncGateway, Gateway, Observation, Refused, Unanswered

WHEN = datetime(2026, 11, 20, 9, 41, 0, 250_000, tzinfo=UTC)


class Requests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.process = cls.enterClassContext(process.Gateway())
        cls.gateway = cls.enterClassContext(Gateway(cls.process.url))

    def test_what_is_published_is_the_latest_and_the_past(self):
        self.gateway.publish("a/here", 21.5, unit="Cel", time=WHEN, lat=44.8125, lon=20.4612)
        expected = Observation("a/here", 21.5, WHEN, unit="Cel", lat=44.8125, lon=20.4612)
        self.assertEqual(self.gateway.latest("a/#"), [expected])
        self.assertEqual(list(self.gateway.history("a/here")), [expected])
        [entry] = self.gateway.catalog("a/#")
        self.assertEqual((entry.topic, entry.unit, entry.more["status"]), ("a/here", "Cel", "online"))

    def test_all_that_an_observation_carries_comes_back(self):
        times = {"end": "2026-11-20T09:42:00Z", "resultTime": "2026-11-20T09:43:00Z"}
        valid = ["2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"]
        rare = {**times, "validTime": valid, "quality": "bad", "feature": "urn:f", "parameters": {"k": [1, "2"]}}
        row = Observation("rare/a", 1.5, WHEN, unit="m", more=rare)
        self.gateway.publish_all("rare/a", [row])
        self.assertEqual(self.gateway.latest("rare/a"), [row])
        self.assertEqual(list(self.gateway.history("rare/a")), [row])
        [entry] = self.gateway.catalog("rare/a")
        self.assertEqual({name: entry.more[name] for name in rare}, rare)
        with self.gateway.subscribe("rare/a", snapshot=True, format="arrow") as events:
            [told] = next(events).observations
        when = [datetime.fromisoformat(text) for text in (*times.values(), *valid)]
        more = [told.more[name] for name in times] + told.more["validTime"]
        self.assertEqual([datetime.fromisoformat(text) for text in more], when)
        self.assertEqual({name: told.more[name] for name in ("quality", "feature", "parameters")},
                         {name: rare[name] for name in ("quality", "feature", "parameters")})

    def test_results_of_every_type_come_back(self):
        for value in (1, 2.5, True, "open", None, [1, 2], {"by": "hand"}):
            self.gateway.publish("b/any", value)
        kept = [observation.value for observation in self.gateway.history("b/any")]
        self.assertEqual(kept, [1, 2.5, True, "open", None, [1, 2], {"by": "hand"}])

    def test_a_key_with_another_message_is_refused(self):
        first = self.gateway.publish("c/once", 1, key="k")
        self.assertEqual(self.gateway.publish("c/once", 1, key="k"), first)
        self.assertEqual(len(list(self.gateway.history("c/once"))), 1)
        with self.assertRaises(Refused) as refused:
            self.gateway.publish("c/once", 2, key="k")
        self.assertEqual(refused.exception.status, 422)

    def test_history_comes_page_by_page_in_order(self):
        rows = [Observation("d/many", n, datetime.fromtimestamp(1_790_000_000 + n, UTC)) for n in range(25)]
        self.gateway.publish_all("d/many", rows)
        self.assertEqual(list(self.gateway.history("d/#", page_size=10)), rows)
        begin, end = rows[5].time, rows[10].time
        self.assertEqual(list(self.gateway.history("d/#", begin, end))[0], rows[5])
        minutes = list(self.gateway.history("d/#", agg="max:10s"))
        self.assertEqual([row.value for row in minutes][-1], 24)
        self.assertLess(len(minutes), 5)

    def test_each_unit_is_told_and_one_can_be_asked_for(self):
        for day, value, unit, sensor in ((1, 1.42, "m", "urn:s:old"), (2, 50, "cm", "urn:s:new")):
            self.gateway.publish("u/level", value, unit=unit, sensor=sensor, time=datetime(2026, 1, day, tzinfo=UTC))
        told = [(row.value, row.unit, row.sensor) for row in self.gateway.history("u/level")]
        self.assertEqual(told, [(1.42, "m", "urn:s:old"), (50, "cm", "urn:s:new")])
        told = [(row.value, row.unit) for row in self.gateway.history("u/level", unit="m")]
        self.assertEqual(told, [(1.42, "m"), (0.5, "m")])
        self.assertEqual([row.value for row in self.gateway.history("u/level", agg="sum:10d", unit="")], [192])
        frame = self.gateway.history_frame("u/level")
        self.assertEqual(list(zip(frame["value"], frame["unit"])), [(1.42, "m"), (50, "cm")])
        with self.assertRaisesRegex(Refused, "cannot be given in `s`"):
            list(self.gateway.history("u/level", unit="s"))

    def test_a_table_has_all_pages_and_columns_that_some_lack(self):
        self.gateway.publish("e/number", 1.5, time="2026-11-20T09:41:00.123456789Z", unit="m")
        self.gateway.publish("e/word", "open", time="2026-11-20T09:42:00Z")
        table = self.gateway.history_table("e/#", page_size=1)
        self.assertEqual(table.num_rows, 2)
        self.assertEqual(table["topic"].to_pylist(), ["e/number", "e/word"])
        self.assertEqual(table["text"].to_pylist(), [None, "open"])
        frame = self.gateway.history_frame("e/#")
        self.assertEqual(frame["time"][0].nanosecond, 789)
        self.assertEqual(list(frame["value"])[0], 1.5)

    def test_a_data_frame_that_was_read_can_be_published_again(self):
        self.gateway.publish("f/from", 3.25, unit="m", time=WHEN)
        frame = self.gateway.history_frame("f/from")
        frame["topic"] = "f/to"
        self.gateway.publish_table("f/to", frame)
        self.assertEqual(list(self.gateway.history("f/to")), [Observation("f/to", 3.25, WHEN, unit="m")])

    def test_an_index_of_times_is_the_time(self):
        times = pandas.to_datetime(["2026-11-20T09:41:00Z", "2026-11-20T09:42:00.000000001Z"], format="ISO8601")
        for number, index in enumerate((times, times.rename("time"), times.tz_localize(None).rename("at"))):
            topic = f"h/index{number}"
            self.gateway.publish_table(topic, pandas.DataFrame({"value": [1, 2**53 + 1]}, index=index))
            table = self.gateway.history_table(topic)
            self.assertEqual([time.value for time in table["time"]], [time.value for time in times])
            self.assertEqual([row.value for row in self.gateway.history(topic)], [1, 2**53 + 1])
        both = pandas.DataFrame({"topic": ["h/a", "h/b"], "time": times, "value": [1.0, 2.0]})
        self.gateway.publish_table("h", both.set_index(["topic", "time"]))
        for topic, time in zip(("h/a", "h/b"), times, strict=True):
            [told] = self.gateway.history_table(topic)["time"]
            self.assertEqual(told.value, time.value)

    def test_times_of_pandas_and_of_python_are_the_same(self):
        naive, aware = datetime(2026, 11, 20, 9, 41), datetime(2026, 11, 20, 9, 41, tzinfo=UTC)
        for number, time in enumerate((naive, aware, pandas.Timestamp(naive), pandas.Timestamp(aware))):
            self.gateway.publish(f"k/{number}", number, time=time)
        past = [row.time for row in self.gateway.history("k/+", pandas.Timestamp("2026-11-19"))]
        self.assertEqual(set(past), {naive.astimezone(UTC), aware})
        self.assertEqual(len(past), 4)

    def test_a_frame_that_would_lose_its_times_is_refused(self):
        frame = pandas.DataFrame({"value": [1.0, 2.0], "time": pandas.to_datetime(["2026-11-20T09:41:00Z", None])})
        for refused in (frame, frame.set_index("time"), pandas.DataFrame({"value": [1.0]}, index=["kitchen"])):
            with self.assertRaises(ValueError):
                self.gateway.publish_table("i/x", refused)
        with self.assertRaises(ValueError):
            self.gateway.publish("i/x", 1, time=pandas.NaT)
        self.assertEqual(self.gateway.catalog("i/#"), [])

    def test_numbers_of_other_libraries_are_numbers_or_refused(self):
        given = [numpy.int64(7), numpy.uint64(2**64 - 1), numpy.float32(0.5), Decimal("21.25"), Decimal(2**60 + 1)]
        for value in (*given, numpy.bool_(True)):
            self.gateway.publish("j/numbers", value)
        kept = [observation.value for observation in self.gateway.history("j/numbers")]
        self.assertEqual(kept, [7, 2**64 - 1, 0.5, 21.25, 2**60 + 1, True])
        for value in (float("nan"), float("inf"), numpy.float64("nan"), Decimal("NaN"), [1, float("nan")]):
            with self.assertRaises(ValueError):
                self.gateway.publish("j/none", value)
        self.assertEqual(self.gateway.latest("j/none"), [])

    def test_a_topic_is_as_it_is(self):
        for topic in ("x/../y", "x/./y", "../x", "x/..", "x//b", "/x", "x?b/c%2Fd", "\u00e4 b"):
            self.gateway.publish(topic, 1)
            self.assertEqual([row.topic for row in self.gateway.latest(topic)], [topic])
        self.assertEqual(self.gateway.latest("y"), [])
        for topic in (".", ".."):
            with self.assertRaises(ValueError):
                self.gateway.publish(topic, 1)

    def test_nothing_there_is_nothing_and_no_error(self):
        self.assertEqual(self.gateway.latest("nobody/was/here"), [])
        self.assertEqual(list(self.gateway.history("nobody/#")), [])
        self.assertEqual(self.gateway.history_table("nobody/#").num_rows, 0)

    def test_a_refusal_has_the_gateways_sentence(self):
        with self.assertRaisesRegex(Refused, "^403: .*gateway's own"):
            self.gateway.publish("$SYS/mine", 1)
        with self.assertRaises(Refused):
            list(self.gateway.history("a/#", "yesterday"))

    def test_asyncio_gives_the_same(self):
        async def ask():
            async with AsyncGateway(self.process.url) as gateway:
                await gateway.publish("g/x", 1, time=WHEN)
                await gateway.publish_all("g", [Observation("g/y", 2, WHEN)])
                rows = [row async for row in gateway.history("g/#", page_size=1)]
                frame = await gateway.history_frame("g/#")
                return await gateway.latest("g/x", "g/y"), rows, list(frame["value"]), await gateway.catalog("g/#")

        latest, rows, values, catalog = asyncio.run(ask())
        self.assertEqual(latest, [Observation("g/x", 1, WHEN), Observation("g/y", 2, WHEN)])
        self.assertEqual(rows, latest)
        self.assertEqual(values, [1, 2])
        self.assertEqual([entry.topic for entry in catalog], ["g/x", "g/y"])


class Access(unittest.TestCase):
    def test_who_has_a_token_may_read_and_who_has_not_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            policy = pathlib.Path(folder) / "policy.toml"
            sha256 = hashlib.sha256(b"secret").hexdigest()
            command = (process.BINARY, "user", "me", "--role", "reader")
            user = subprocess.run(command, input="secret", capture_output=True, text=True, check=True).stdout
            token = f'[token.mine]\nsha256 = "{sha256}"\nrole = "reader"\n'
            policy.write_text(f'[role.reader]\nread = ["#"]\n{token}{user}')
            with process.Gateway(settings={"access.policy": policy}) as running:
                self.assertEqual(Gateway(running.url, token="secret").catalog(), [])
                self.assertEqual(Gateway(running.url, user="me", password="secret").catalog(), [])
                for delivery in ("sse", "websocket", "longpoll"):
                    with self.subTest(delivery), self.assertRaises(Refused) as refused:
                        next(Gateway(running.url, token="wrong").subscribe("#", delivery=delivery))
                    self.assertEqual(refused.exception.status, 401)

    def test_nobody_there_is_unanswered(self):
        with process.Gateway() as running:
            url = running.url
        with unittest.mock.patch("weir.operations.pause_s", return_value=0), self.assertRaises(Unanswered):
            Gateway(url).catalog()
