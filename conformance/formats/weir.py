"""`weir convert` as a function, and a message that holds everything an observation can carry."""

import json
import os
import pathlib
import subprocess

from carried import SENT

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("WEIR_BIN", str(ROOT / "target/debug/weir"))

MESSAGE = {
    "observations": [
        {"topic": "heating/substation-3/supply/temperature", **SENT},
        {"topic": "a/whole", "value": -300, "time": "2026-11-20T09:41:00Z"},
        {"topic": "a/large", "value": 9007199254740991},
        {"topic": "a/tiny", "value": -1.5e-300},
        {"topic": "a/text", "value": "q\"uote, <&> \\ é 😀\nline", "unit": "°C"},
        {"topic": "a/empty", "value": "", "sensor": "x y,z=1"},
        {"topic": "a/truth", "value": True, "time": "1969-07-20T20:17:40.123456789Z"},
        {"topic": "a/truth", "value": False},
        {"topic": "a/none", "value": None},
        {"topic": "a/tree", "value": {"x": [1, 2.5, None, "y", {}], "": []}},
        {
            "topic": "a/all",
            "value": 1,
            "time": "2026-11-20T09:41:00.000001Z",
            "end": "2026-11-20T09:42:00Z",
            "resultTime": "2026-11-20T09:42:00.500Z",
            "validTime": ["2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"],
            "quality": "good",
            "feature": "urn:f",
            "parameters": {"k": [1, "2"]},
        },
    ]
}


class Refused(Exception):
    """The message was refused; the text is what weir said."""


def convert(data, source, target):
    """Bytes of a message in one format as bytes in another."""
    if isinstance(data, str):
        data = data.encode()
    command = [BINARY, "convert", "--from", source, "--to", target]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise Refused(done.stderr.decode())
    return done.stdout


def encoded(target, message=MESSAGE):
    """A message, given as JSON's objects, in a format."""
    return convert(json.dumps(message), "json", target)


def decoded(data, source):
    """A message in a format, as JSON's objects."""
    return json.loads(convert(data, source, "json"))
