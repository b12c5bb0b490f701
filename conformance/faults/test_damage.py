"""A hundred bits that flip in the data of a stopped gateway; `python -m faults.damage 2000 SEED` does more."""

import os
import time
import unittest

from faults.damage import schedule


class Damage(unittest.TestCase):
    def test_a_bit_that_flips_takes_nothing_in_silence(self):
        # Another seed each day; the one that failed is said, and WEIR_SEED takes it again.
        first = int(os.environ.get("WEIR_SEED", time.time() // 86400 * 1000))
        count = int(os.environ.get("WEIR_DAMAGES", 100))
        self.assertEqual(schedule(first, count), {})
