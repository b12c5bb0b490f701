"""The soak tells growth from what comes and goes, and runs; whether memory is flat takes the hour of `scripts/soak`."""

import unittest

from faults import soak


class Soaking(unittest.TestCase):
    def test_growth_is_what_goes_on_behind_the_first_third(self):
        filling = [(t, min(t, 100) * 1000 + (t % 7) * 50) for t in range(300)]
        self.assertLess(abs(soak.growth(filling)[0]), 100)
        leaking = [(t, 1000 + 10 * t + (5000 if t == 250 else 0)) for t in range(300)]
        grown, usual = soak.growth(leaking)
        self.assertAlmostEqual(grown, 10 * 199, delta=20)
        self.assertAlmostEqual(usual, 1000 + 10 * 199, delta=20)

    def test_a_short_one_goes_through(self):
        run = soak.Soak(6)
        self.addCleanup(run.gateway.close)
        run.run()
        self.assertEqual([part.wrong for part in run.parts], [[] for _ in run.parts])
        self.assertTrue(all(part.done for part in run.parts), [(part, part.done) for part in run.parts])
        self.assertIsNone(run.gateway.process.poll())
