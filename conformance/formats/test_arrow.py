"""arrow: pyarrow reads ours and we read pyarrow's."""

import datetime
import decimal
import io
import json
import unittest

import pyarrow as pa

from formats.weir import MESSAGE, Refused, decoded, encoded


def table(data):
    return pa.ipc.open_stream(io.BytesIO(data)).read_all()


def stream(table, **options):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def rfc3339(nanoseconds):
    seconds, rest = divmod(nanoseconds, 10**9)
    date = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    digits = f"{rest:09d}"
    while digits and digits.endswith("000"):
        digits = digits[:-3]
    return date.strftime("%Y-%m-%dT%H:%M:%S") + (f".{digits}" if digits else "") + "Z"


def observations(table):
    """The rows of a table of ours as JSON's objects."""
    instants = [name for name in table.schema.names if pa.types.is_timestamp(table.schema.field(name).type)]
    for name in instants:
        index = table.schema.get_field_index(name)
        table = table.set_column(index, name, table.column(name).cast(pa.int64()))
    return [observation(row, instants) for row in table.to_pylist()]


def observation(row, instants):
    for name in instants:
        row[name] = row[name] if row[name] is None else rfc3339(row[name])
    values = [row.pop(name, None) for name in ("value", "text", "truth")]
    tree = row.pop("json", None)
    value = next((value for value in values if value is not None), None)
    valid = [row.pop("validFrom", None), row.pop("validTo", None)]
    row = {name: value for name, value in row.items() if value is not None}
    if valid[0]:
        row["validTime"] = valid
    if "parameters" in row:
        row["parameters"] = json.loads(row["parameters"])
    return {**row, "value": json.loads(tree) if tree else value}


class Arrow(unittest.TestCase):
    maxDiff = None

    def test_pyarrow_reads_ours(self):
        ours = table(encoded("arrow"))
        ours.validate(full=True)
        self.assertEqual(observations(ours), MESSAGE["observations"])
        self.assertEqual(ours.schema.field("time").type, pa.timestamp("ns", "UTC"))
        self.assertEqual(ours.schema.field("topic").type, pa.dictionary(pa.int32(), pa.string()))

    def test_columns_that_no_row_needs_are_left_out(self):
        ours = table(encoded("arrow", {"observations": [{"value": 1}]}))
        self.assertEqual(ours.schema.names, ["topic", "time", "value", "unit", "type", "sensor"])
        empty = table(encoded("arrow", {"observations": []}))
        self.assertEqual(empty.num_rows, 0)

    def test_many_rows_and_names_come_through(self):
        rows = [{"topic": f"t/{n % 300}", "value": n / 4, "unit": "m" if n % 3 else "Cel"} for n in range(5000)]
        ours = table(encoded("arrow", {"observations": rows}))
        ours.validate(full=True)
        self.assertEqual(observations(ours), rows)
        self.assertEqual(sorted(ours.column("unit").chunk(0).dictionary.to_pylist()), ["Cel", "m"])

    def test_we_read_pyarrow_reading_ours(self):
        theirs = stream(table(encoded("arrow")))
        self.assertEqual(decoded(theirs, "arrow"), MESSAGE)

    def test_we_read_tables_that_others_make(self):
        times = [0, 1_795_167_660_250, None]
        for unit, scale in (("s", 1000), ("ms", 1), ("us", None), ("ns", None)):
            column = [t if t is None else (t // scale if scale else t) for t in times]
            theirs = pa.table(
                {
                    "extra": pa.array([[{"a": 1}, {"a": 2}], None, []], pa.list_(pa.struct([("a", pa.int8())]))),
                    "value": pa.array([1, -2, None], pa.int16()),
                    "time": pa.array(column, pa.timestamp(unit)),
                    "topic": pa.array(["a", "b", "a"], pa.large_string()),
                    "price": pa.array([decimal.Decimal("1.5")] * 3, pa.decimal128(5, 2)),
                    "unit": pa.array(["m", None, "m"]).dictionary_encode(),
                    "nothing": pa.nulls(3),
                    "text": pa.array([None, None, "open"]),
                }
            ) if unit == "ms" else pa.table(
                {"value": pa.array([1.5, 2, None], pa.float32()), "time": pa.array(column, pa.timestamp(unit))}
            )
            found = decoded(stream(theirs), "arrow")["observations"]
            if unit == "ms":
                first = {"topic": "a", "value": 1, "unit": "m", "time": "1970-01-01T00:00:00Z"}
                self.assertEqual(found[0], first)
                second = {"topic": "b", "value": -2, "time": "2026-11-20T09:41:00.250Z"}
                self.assertEqual(found[1], second)
                self.assertEqual(found[2], {"topic": "a", "value": "open", "unit": "m"})
            else:
                self.assertEqual([one["value"] for one in found], [1.5, 2, None])

    def test_several_batches_and_replaced_dictionaries_read(self):
        first = pa.table({"unit": pa.array(["m", "s"]).dictionary_encode(), "value": [1.0, 2.0]})
        second = pa.table({"unit": pa.array(["K"]).dictionary_encode(), "value": [3.0]})
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, first.schema) as writer:
            writer.write_table(first)
            writer.write_table(second)
        found = decoded(sink.getvalue(), "arrow")["observations"]
        self.assertEqual([(one["unit"], one["value"]) for one in found], [("m", 1), ("s", 2), ("K", 3)])

    def test_values_of_other_types_read(self):
        for column, value in (
            (pa.array([True]), True),
            (pa.array(["x"]), "x"),
            (pa.array(["x"]).dictionary_encode(), "x"),
            (pa.array([2**40], pa.uint64()), 2**40),
            (pa.nulls(1), None),
        ):
            found = decoded(stream(pa.table({"value": column})), "arrow")["observations"]
            self.assertEqual(found, [{"value": value}])

    def test_what_is_not_read_is_refused_by_name(self):
        plain = pa.table({"value": [1.0] * 1000})
        for data, rule in (
            (stream(plain, compression="zstd"), "a body without compression"),
            (stream(pa.table({"x": [1]})), "a column `value`"),
            (stream(pa.table({"value": [[1]]})), "numbers, booleans or text in `value`"),
        ):
            with self.assertRaisesRegex(Refused, rule):
                decoded(data, "arrow")


if __name__ == "__main__":
    unittest.main()
