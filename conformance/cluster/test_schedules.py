"""A schedule of faults in CI; `make soak` runs 50."""

import os
import subprocess
import sys
import time
import unittest

import skips
from cluster import network
from cluster.database import programs
from cluster.servers import program


class Schedules(unittest.TestCase):
    def test_a_schedule_loses_nothing_and_repeats_nothing(self):
        program(self)
        programs(self)
        if refused := network.unable():
            skips.skip(self, f"{skips.KERNEL}no network namespaces: {refused}")
        # Another seed each day; the one that failed is said, and WEIR_SEED takes it again.
        seed = os.environ.get("WEIR_SEED", str(int(time.time() // 86400)))
        command = [sys.executable, "-m", "cluster.schedules", f"--seed={seed}", "--count=1"]
        done = subprocess.run(command, capture_output=True, text=True)
        print(done.stdout, flush=True)
        self.assertEqual(done.returncode, 0, f"WEIR_SEED={seed}\n{done.stdout[-8000:]}{done.stderr[-2000:]}")
