"""The device on an emulated LM3S811, which has 8 KB of RAM: other people's clients reach it over its serial line."""

import asyncio
import json
import os
import subprocess
import unittest

import skips
from board import device
from board.browser import Browser
from gateway import BINARY

CLIENTS = 32
VALUES = 5


# Resolves with all texts that the value had, once there were five.
WATCH = """new Promise(done => {
  const seen = new Set()
  const look = () => {
    const text = document.getElementById('s')?.textContent ?? ''
    if (text.startsWith('number')) seen.add(text + ': ' + document.getElementById('v').value)
    if (seen.size >= 5) done([...seen]); else setTimeout(look, 50)
  }
  look()
})"""


class TestBoard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.image = cls.board = None

    def setUp(self):
        if TestBoard.board is None:
            TestBoard.image = device.build(self)
            TestBoard.board = device.Board(TestBoard.image)

    @classmethod
    def tearDownClass(cls):
        if cls.board:
            cls.board.close()

    def curl(self, path, *arguments):
        command = [skips.program(self, "curl"), "-sS", "--max-time", "20", *arguments, f"{self.board.url}{path}"]
        return subprocess.run(command, capture_output=True, text=True)

    def test_curl_polls_waits_and_streams(self):
        self.assertIn("<title>A sensor</title>", self.curl("/", "--compressed").stdout)
        [record] = json.loads(self.curl("/live/temperature").stdout)
        self.assertEqual(record["u"], "Cel")
        self.assertTrue(18 <= record["v"] <= 26, record)
        [record] = json.loads(self.curl("/live/temperature?wait=5").stdout)
        self.assertEqual(record["n"], "t")
        streamed = self.curl("/live/temperature?stream", "--no-buffer", "--max-time", "3.5")
        self.assertEqual(streamed.returncode, 28, "it ended before it was told to")
        self.assertGreaterEqual(streamed.stdout.count("[{"), 2)

    def test_the_kernels_own_tcp_reaches_it_over_its_line(self):
        script = ('curl -sS --compressed "http://$WEIR_BOARD/"; '
                  'curl -sSN --max-time 3.5 "http://$WEIR_BOARD/live/temperature?stream"; exit 7')
        done = subprocess.run([BINARY, "board", "--image", self.image, "--", "sh", "-c", script],
                              capture_output=True, text=True, timeout=60)
        if "network namespace" in done.stderr or "TUN device" in done.stderr:
            skips.skip(self, f"kernel right: {done.stderr}")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("<title>A sensor</title>", done.stdout)
        self.assertGreaterEqual(done.stdout.count("[{"), 2, done.stdout)
        self.assertRegex(done.stderr, r"from the board: \d+ packets, \d+ bytes of IP")

    def test_every_client_hears_every_value_in_order(self):
        def enough(heard):
            return all(len(values) >= VALUES for values in heard)

        heard = asyncio.run(device.follow(self.board.at, CLIENTS, enough))
        begin = max(values[0][0] for values in heard)
        end = min(values[-1][0] for values in heard)
        self.assertLess(begin, end)
        expected = [value for value in heard[0] if begin <= value[0] <= end]
        # Numbers are the board's: the counters' topic has some of them.
        numbers = [number for number, _ in expected]
        self.assertEqual(numbers, sorted(set(numbers)))
        for values in heard:
            self.assertEqual([value for value in values if begin <= value[0] <= end], expected)

    def test_memory_read_from_outside_is_what_the_board_says(self):
        sizes = device.sections(self.image)
        seen = {}

        def enough(heard):
            listeners = [int(said.split(",")[4]) for values in heard for _, said in values]
            if not any(count >= CLIENTS for count in listeners):
                return False
            seen["ram"] = self.board.memory()
            return True

        heard = asyncio.run(device.follow(self.board.at, CLIENTS, enough, "/live/system"))
        said = [value for values in heard for value in values]
        statics, stack, reserved, connections, _ = map(int, max(said)[1].split(","))
        self.assertGreaterEqual(connections, CLIENTS)
        self.assertEqual(statics, sizes[".bss"])
        self.assertEqual(reserved, device.STACK_BYTES)
        in_use = device.records(self.image, seen["ram"], 256)
        # Of clients of the tests before some may be left, until they are found dead.
        self.assertTrue(CLIENTS <= in_use <= 256, in_use)
        # It may have become deeper since it said so.
        self.assertGreaterEqual(device.stack_used(seen["ram"]), stack)
        self.assertLessEqual(reserved + statics, 7 * 1024)
        beyond = seen["ram"][reserved + statics :]
        self.assertEqual(beyond, bytes(len(beyond)))

    def test_a_browser_shows_the_value_live(self):
        browser = Browser(skips.program(self, "chromium", "chromium-browser", "google-chrome"))
        try:
            browser.open(f"{self.board.url}/")
            seen = browser.value(WATCH)
            points = browser.value("document.getElementById('l').getAttribute('points')")
            if picture := os.environ.get("WEIR_PICTURE"):
                browser.screenshot(picture)
        finally:
            browser.close()
        numbers = [int(text.split()[1].rstrip(":")) for text in seen]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertGreaterEqual(len(points.split()), 5)


class TestSmallest(unittest.TestCase):
    def test_one_client_follows_and_other_requests_close_it(self):
        image = device.build(self, WEIR_FIRMWARE_ARGUMENTS=device.SMALLEST)
        board = device.Board(image)
        curl = [skips.program(self, "curl"), "-sS", "--max-time", "20", f"{board.url}/nothing"]
        try:
            heard = asyncio.run(device.follow(board.at, 1, lambda heard: len(heard[0]) >= VALUES))
            refused = subprocess.run(curl, capture_output=True, text=True)
        finally:
            board.close()
        numbers = [number for number, _ in heard[0]]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        [record] = json.loads(heard[0][0][1])
        self.assertEqual(record["u"], "Cel")
        # Curl: empty reply.
        self.assertEqual(refused.returncode, 52, refused)
