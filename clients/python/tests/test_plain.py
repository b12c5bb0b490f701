"""The client without asyncio is the other one, made by `make_plain.py`."""

import unittest

import make_plain


class Plain(unittest.TestCase):
    def test_the_file_is_as_it_is_made(self):
        made = make_plain.plain(make_plain.SOURCE.read_text())
        self.assertEqual(made, make_plain.TARGET.read_text(), "python clients/python/make_plain.py writes it")

    def test_nothing_of_asyncio_is_left(self):
        for word in ("async", "await", "__a"):
            self.assertNotIn(word, make_plain.plain(make_plain.SOURCE.read_text()).split('"""', 2)[2])
