"""The checker finds what it is there to find."""

import types
import unittest

from faults.checker import faults_of_history, faults_of_reader


def history(numbers, promised):
    """What is wrong with a topic that keeps these, of which so many were acknowledged."""
    gateway = types.SimpleNamespace(history=lambda _topic, limit: [{"value": number} for number in numbers])
    return faults_of_history([types.SimpleNamespace(topic="kept/0", next=promised)], gateway)


def reader(*events, first=3):
    """What is wrong with a reader to whom these came, where None is a gap."""
    events = [None if it is None else ("kept/0", it) for it in events]
    return faults_of_reader(types.SimpleNamespace(events=events), {"kept/0": first})


class Checker(unittest.TestCase):
    def test_what_is_lost_or_repeated_is_found_in_history(self):
        self.assertEqual(history([0, 1, 2], 3), [])
        self.assertEqual(history([0, 1, 2, 3], 3), [], "the one under way may be there")
        for numbers in ([0, 2], [0, 1], [0, 1, 1, 2], [1, 0, 2], [0, 1, 2, 3, 4]):
            self.assertTrue(history(numbers, 3), numbers)

    def test_a_reader_may_miss_or_repeat_only_behind_a_gap(self):
        for events in ((0, 1, 2), (0, None, 2), (0, 1, None, 1, 2), (0, 1, None)):
            self.assertEqual(reader(*events), [], events)
        for events in ((0, 2), (0, 1, 1, 2), (0, 1), (1, 0, 2), (None, 0, 2), ()):
            self.assertTrue(reader(*events), events)
