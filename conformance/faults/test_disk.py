"""A disk that is full, read-only, slow, broken or lies: what is promised is kept, the rest is refused by its name."""

import unittest

from faults.checker import Writer, faults_of_history
from faults.kill import until
from faults.layer import BROKEN_SYNC, FULL, LYING, NONE, READ_ONLY, SHORT, SLOW, Faulty, Layer

WRITERS = 4


class Disk(unittest.TestCase):
    def setUp(self):
        self.layer = Layer(self)
        self.gateway = Faulty(self.layer, {"log.segment_bytes": "1048576"})
        self.addCleanup(self.gateway.close)
        self.writers = [Writer(self.gateway, str(n)) for n in range(WRITERS)]
        for writer in self.writers:
            writer.start()
        self.goes_on()

    def promised(self):
        return sum(writer.next for writer in self.writers)

    def refused(self):
        return sum(sum(writer.refused.values()) for writer in self.writers)

    def goes_on(self):
        before = self.promised()
        self.assertIsNone(until(lambda: self.promised() > before + 20, "messages are acknowledged"))

    def stop(self):
        for writer in self.writers:
            writer.stopped.set()
        for writer in self.writers:
            writer.join()

    def status(self):
        status, _, said = self.gateway.request("POST", "/live/other/a", '{"value":1}', {"Content-Type": "application/json"})
        return status, said

    def checked(self):
        self.stop()
        self.assertEqual(faults_of_history(self.writers, self.gateway), [])

    def test_the_layer_is_there(self):
        self.layer.set(FULL)
        self.assertIsNone(until(lambda: self.refused() > 0, "something is refused"))

    def test_a_full_disk_refuses_and_a_restart_with_room_goes_on(self):
        for kind in (FULL, READ_ONLY):
            with self.subTest(kind=kind):
                self.layer.set(kind)
                before = self.refused()
                self.assertIsNone(until(lambda before=before: self.refused() > before, "writers are refused"))
                status, said = self.status()
                self.assertIn(status, (503, 507), said)
                self.assertEqual(self.gateway.request("GET", "/live/kept/0")[0], 200, "reading goes on")
                self.layer.set(NONE)
                self.gateway.restart()
                self.goes_on()
        self.checked()

    def test_a_disk_that_cannot_sync_acknowledges_nothing_more(self):
        self.layer.set(BROKEN_SYNC)
        # What one was told before may come to another after the first is refused.
        each = lambda: all(sum(writer.refused.values()) for writer in self.writers)  # noqa: E731
        self.assertIsNone(until(each, "each writer is refused"))
        promised = self.promised()
        self.assertIn(self.status()[0], (503, 507))
        self.assertEqual(self.promised(), promised)
        self.layer.set(NONE)
        self.gateway.restart()
        self.goes_on()
        self.checked()

    def test_a_slow_disk_slows_acknowledgements_and_not_readers(self):
        self.layer.set(SLOW, 300)
        for _ in range(5):
            self.assertEqual(self.gateway.request("GET", "/live/kept/0")[0], 200)
        self.goes_on()
        self.gateway.restart()
        self.layer.set(NONE)
        self.goes_on()
        self.checked()

    def test_short_writes_are_finished(self):
        self.layer.set(SHORT)
        self.goes_on()
        self.gateway.restart()
        self.goes_on()
        self.layer.set(NONE)
        self.checked()

    def test_what_a_lying_disk_left_is_told_and_not_served(self):
        self.layer.set(LYING)
        self.goes_on()
        self.gateway.kill()
        self.layer.set(NONE)
        self.gateway.start()
        self.goes_on()
        self.stop()
        # What it lied about is lost, and nothing can be done; but nothing that is kept is wrong or there twice.
        for writer in self.writers:
            kept = [int(row["value"]) for row in self.gateway.history(writer.topic, limit=10_000)]
            self.assertEqual(kept, sorted(set(kept)))
            self.assertLessEqual(set(kept), set(range(writer.next + 1)))
            self.assertEqual(kept[-1], writer.next - 1)

    def test_a_clock_that_jumps_orders_nothing_anew(self):
        for jump in (3600, -86_400, 0):
            self.layer.set(NONE, clock_s=jump)
            self.goes_on()
        self.gateway.restart()
        self.goes_on()
        self.stop()
        # History is by time, which the clock said: everything is there once, in whatever order.
        for writer in self.writers:
            kept = [int(row["value"]) for row in self.gateway.history(writer.topic, limit=10_000)]
            self.assertEqual(sorted(kept)[: writer.next], list(range(writer.next)))
            self.assertEqual(len(set(kept)), len(kept))
