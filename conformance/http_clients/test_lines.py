"""Line protocol of which a part cannot be taken, as Telegraf sends it: again and again until it is answered with 2xx."""

import json
import re
import unittest

from gateway import Gateway

TIME = 1795167660250000000


class Lines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)

    def post(self, topic, body, media="text/plain; charset=utf-8", key=None):
        headers = {"Content-Type": media, **({"Idempotency-Key": key} if key else {})}
        status, headers, said = self.gateway.request("POST", f"/live/{topic}", body, headers)
        return status, headers, said.decode()

    def topics(self, filter):
        return {row["topic"] for row in self.gateway.history(filter, limit=10_000)}

    def test_a_batch_of_thousands_of_new_series_is_taken_whole(self):
        lines = "".join(f"m,host=h{n} a={n}i,b={n}.5 {TIME}\n" for n in range(5000))
        status, headers, said = self.post("many", lines)
        self.assertEqual((status, said), (204, ""))
        self.assertTrue(headers["Weir-Cursor"])
        self.assertEqual(len(self.topics("many/#")), 10_000)
        self.gateway.kill()
        self.gateway.start()
        self.assertEqual(len(self.gateway.history("many/#", limit=10_000)), 10_000)

    def test_a_repeat_under_its_key_is_kept_once_in_parts_too(self):
        lines = "".join(f"m,host=k{n} a={n}i {TIME}\n" for n in range(6000)) + "m a=x\n"
        for _ in range(2):
            status, _, said = self.post("keyed", lines, key="once")
            self.assertEqual(status, 200, said)
        self.assertEqual(len(self.gateway.history("keyed/#", limit=10_000)), 6000)
        self.assertEqual(self.post("keyed", "m a=7i 1795167660250000000\n", key="once")[0], 422)

    def test_a_line_that_cannot_be_read_costs_itself_and_is_told(self):
        good = f"m a=1 {TIME}\n".encode()
        for bad, place in (
            (b"m a=\xff 1\n", "line 2, column 5"),
            (b"m a= 1\n", "line 2, column 5"),
            (b'm s="open\n', "line 2"),
            (b"m\n", "line 2"),
        ):
            status, headers, said = self.post("bad", good + bad + good)
            self.assertEqual(status, 200, (bad, said))
            self.assertIn("1 line of 3 is not taken", said)
            self.assertIn(place, said)
            self.assertTrue(headers["Weir-Cursor"])
        self.assertEqual(len(self.gateway.history("bad/m/a")), 8)
        # The first line may be the bad one, too.
        self.assertEqual(self.post("first", b"m a=\xff 1\n" + good)[0], 200)
        self.assertEqual(self.topics("first/#"), {"first/m/a"})

    def refused(self):
        text = self.gateway.request("GET", "/metrics")[2].decode()
        counts = re.findall(r'^weir_refused_messages_total\{(?:cause|kind)="([a-z-]+)"\} (\d+)$', text, re.M)
        return {cause: int(count) for cause, count in counts}

    def declare(self, topic, **entry):
        status, _, said = self.gateway.request("PUT", f"/catalog/{topic}", json.dumps(entry))
        self.assertEqual(status, 204, said)

    def grown(self, before):
        return {cause: count - before[cause] for cause, count in self.refused().items() if count > before[cause]}

    def test_a_line_that_contradicts_a_declaration_costs_itself(self):
        self.declare("declared/b", unit="m", sensor="urn:s:a")
        before = self.refused()
        lines = [f"observation,topic=declared/{name},unit={unit} value={n} {TIME + n}" for n, (name, unit) in
                 enumerate([("a", "K"), ("b", "m"), ("b", "Cel"), ("c", "K"), ("b", "cm"), ("b", "s"), ("d", "K")])]
        lines.insert(1, "m a=x")
        status, headers, said = self.post("declared", "\n".join(lines) + "\n# a comment\n")
        self.assertEqual(status, 200, said)
        self.assertIn("3 lines of 8 are not taken", said)
        self.assertIn("(line 2, column 5)", said)
        self.assertTrue(headers["Weir-Cursor"])
        rows = [(row["topic"], row["value"]) for row in self.gateway.history("declared/#")]
        self.assertEqual(sorted(rows), [("declared/a", 0), ("declared/b", 1), ("declared/b", 4), ("declared/c", 3), ("declared/d", 6)])
        self.assertEqual(self.grown(before), {"format": 1, "content": 2})
        # Of lines that can be read, the first that contradicts is named.
        status, _, said = self.post("declared", "\n".join([lines[0], lines[3], lines[4]]) + "\n")
        self.assertEqual(status, 200)
        self.assertIn("1 line of 3 is not taken", said)
        self.assertIn("declared to be `m`", said)
        self.assertIn("(line 2, column 1)", said)
        self.assertEqual(self.post("declared", lines[3] + "\n")[0], 409)
        self.assertEqual(self.grown(before), {"format": 1, "content": 4})

    def test_a_batch_that_is_taken_in_parts_is_not_refused(self):
        before = self.refused()
        lines = "".join(f"m,host=p{n} a={n}i {TIME}\n" for n in range(5000))
        self.assertEqual(self.post("parts", lines)[0], 204)
        self.assertEqual(self.grown(before), {})
        self.assertEqual(self.post("parts", lines + "m a=x\nm b=y\n")[0], 200)
        self.assertEqual(self.grown(before), {"format": 2})

    def test_a_repeat_of_a_contradicting_batch_is_kept_once(self):
        self.declare("again/b", unit="m")
        lines = "".join(
            f"observation,topic=again/{name},unit={unit} value={n} {TIME + n}\n"
            for n, (name, unit) in enumerate([("b", "s"), ("a", "K"), ("b", "m"), ("b", "s"), ("c", "K")])
        )
        for _ in range(3):
            status, _, said = self.post("again", lines, key="again")
            self.assertEqual(status, 200, said)
            self.assertIn("2 lines of 5 are not taken", said)
        self.assertEqual(len(self.gateway.history("again/#")), 3)

    def test_where_nothing_can_be_taken_that_is_said(self):
        status, _, said = self.post("none", "m a=x\nm b=y\n", "text/plain;profile=influx")
        self.assertEqual(status, 400)
        self.assertIn("line 1, column 5", said)
        self.assertEqual(json.loads(self.gateway.request("GET", "/catalog/none/%23")[2])["datastreams"], [])


if __name__ == "__main__":
    unittest.main()
