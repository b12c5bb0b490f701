"""samples.parquet of the bench: pyarrow reads every sample, and they are those of the summary."""

import csv
import pathlib
import subprocess
import tempfile
import unittest

import pyarrow.compute as pc
import pyarrow.parquet as pq

from gateway import BINARY

PLAN = """
target = "null"
delivery = "sse"
clients = 2
rate = 200
rounds = 2
seconds = 0.2
warm_up = 0
"""


class Samples(unittest.TestCase):
    def test_every_delivery_is_in_the_sheet_of_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "plan.toml").write_text(PLAN)
            command = [BINARY, "bench", "run", str(folder / "plan.toml"), "--out", str(folder / "run")]
            subprocess.run(command, check=True, capture_output=True)
            sheet = pq.read_table(folder / "run/samples.parquet")
            with open(folder / "run/summary.csv", newline="") as file:
                summary = {row["metric"]: row for row in csv.DictReader(file)}
        delivered = sheet.filter(pc.equal(sheet["metric"], "publish_to_receive"))
        # 200 a second for 0.2 s to 2 subscribers, twice.
        self.assertEqual(pc.sum(delivered["count"]).as_py(), 160)
        self.assertEqual(summary["publish_to_receive"]["n"], "160")
        self.assertEqual(set(delivered["round"].to_pylist()), {0, 1})
        self.assertEqual(set(delivered["unit"].to_pylist()), {"us"})
        # The upper end of a bucket is the sample to three digits.
        longest = float(summary["publish_to_receive"]["max"])
        self.assertAlmostEqual(pc.max(delivered["value"]).as_py(), longest, delta=longest / 500)
