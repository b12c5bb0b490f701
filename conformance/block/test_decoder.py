"""What `weir convert --to block` writes, read by a decoder that was written from the text alone."""

import datetime
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import unittest

from .carriages import CARRIAGES, from_swe
from .corpus import corpus
from . import decoder
from .decoder import Damaged, chunks, decode

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("WEIR_BIN", str(ROOT / "target/debug/weir"))
SEED = 20261121


def rfc3339(nanos):
    seconds, rest = divmod(nanos, 10**9)
    time = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return f"{time.isoformat()}.{rest:09}Z"


def as_json(found):
    shown = dict(found)
    for key in ("time", "end", "resultTime"):
        if key in shown:
            shown[key] = rfc3339(shown[key])
    if "validTime" in shown:
        shown["validTime"] = [rfc3339(time) for time in shown["validTime"]]
    return shown


def convert(observations, to="block"):
    message = json.dumps({"observations": [as_json(found) for found in observations]})
    return converted(message.encode(), "json", to)


def converted(message, start, to):
    command = [BINARY, "convert", "--from", start, "--to", to]
    return subprocess.run(command, input=message, capture_output=True, check=True).stdout


def comparable(found):
    """An observation whose numbers are their bits, and whose trees are text."""
    shown = dict(found)
    if "json" in shown:
        shown["value"] = json.loads(shown.pop("json"))
    if isinstance(shown.get("parameters"), str):
        shown["parameters"] = json.loads(shown["parameters"])
    for key in ("value", "lat", "lon"):
        if isinstance(shown.get(key), (int, float)) and not isinstance(shown[key], bool):
            shown[key] = struct.pack("<d", shown[key])
    return shown


class EveryCarriage(unittest.TestCase):
    def test_every_carriage_gives_back_the_block(self):
        sent = dict(corpus(SEED))
        for message in ("mixed 0.3 0.3, 700", "many chunks", "in rounds", "nothing"):
            block = convert(sent[message])
            for name, take in CARRIAGES.items():
                with self.subTest(f"{message} in {name}"):
                    carried = convert(sent[message], name)
                    self.assertEqual(take(carried), block)
                    self.assertEqual(converted(carried, name, "block"), block)

    def test_an_array_of_swe_says_what_is_in_the_block(self):
        sent = [dict(found, sensor="urn:dev:1") for found in dict(corpus(SEED))["in rounds"]]
        block, count, observed, unit = from_swe(convert(sent, "block-swe"))
        self.assertEqual((len(decode(block)), count), (len(sent), len(sent)))
        self.assertEqual((observed, unit), ("air-temperature", "Cel"))


class EveryMessage(unittest.TestCase):
    def test_every_message_of_the_corpus_is_read_as_it_was_sent(self):
        for name, sent in corpus(SEED):
            with self.subTest(name):
                read = decode(convert(sent))
                self.assertEqual(len(read), len(sent))
                for index, pair in enumerate(zip(read, sent)):
                    self.assertEqual(*map(comparable, pair), f"observation {index}")

    def test_the_corpus_has_all_that_the_text_describes(self):
        decoder.met.clear()
        for _name, sent in corpus(SEED):
            decode(convert(sent))
        wanted = {("column", number) for number in range(1, 15)} | {("order", order) for order in range(3)}
        wanted |= {("body", body) for body in range(3)} | {("predictor", number) for number in range(5)}
        wanted |= {(flag, on) for flag in ("divided", "indexed", "texts packed") for on in (0, 1)}
        wanted |= {("way", way) for way in ("decimal", "patched", "near", 32, 33)}
        self.assertEqual(wanted - decoder.met, set())

    def test_chunks_can_be_cut_out_and_joined(self):
        sent = dict(corpus(SEED))
        many = convert(sent["many chunks"])
        self.assertGreater(len(list(chunks(many))), 1)
        joined = convert(sent["in rounds"]) + many + convert(sent["nothing"])
        self.assertEqual(len(decode(joined)), 2100 + 40_000)
        size = 12 + struct.unpack("<I", many[4:8])[0]
        self.assertEqual(decode(many[:size]) + decode(many[size:]), decode(many))

    def test_a_damaged_chunk_is_noticed(self):
        good = convert(dict(corpus(SEED))["mixed 0.3 0.3, 40"])
        rng = random.Random(SEED)
        for _ in range(200):
            bad = bytearray(good)
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            with self.assertRaises(Damaged):
                decode(bytes(bad))
        for size in range(1, len(good)):
            with self.assertRaises(Damaged):
                decode(good[:size])

    def test_series_a_has_less_than_sixteen_and_a_half_kilobytes(self):
        rng = random.Random(SEED)
        sent = [
            {
                "topic": f"sensor-{sensor}/temperature",
                "value": round(15 + 8 * math.sin(step / 144 * math.tau) + rng.gauss(0, 0.15), 2),
                "time": 1_700_000_000_000_000_000 + step * 600_000_000_000,
            }
            for sensor in range(2)
            for step in range(9250)
        ]
        self.assertLess(len(convert(sent)), 16_500)
