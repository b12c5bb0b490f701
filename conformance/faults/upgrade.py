"""What an earlier gateway left in its data directory, packed: `python -m faults.upgrade` makes a new one of today's.

An archive that is in git is never made again: the gateway of any later day must read it. Where what is on disk takes a
new form, one of the day before is added.
"""

import json
import pathlib
import sys
import tarfile
import tempfile
import time

from gateway import Gateway
from mqtt.raw import SESSION_EXPIRY, Client

KEPT = pathlib.Path(__file__).parent / "upgrade"
# Small segments: a few of the log are full, and history has what was in them.
SETTINGS = {"log.segment_bytes": "16384"}
ROWS, AWAY, CLIENT, WEEKS = 600, 5, "away", 1 << 30
BEGIN_S = 1_760_000_000
FIRST_ID = "/sta/v1.1/Things"


def fill(gateway, numbers):
    """Numbers with time and place, texts and truths, a batch of each for ten numbers."""
    for first in range(numbers.start, numbers.stop, 10):
        some = range(first, first + 10)
        times = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(BEGIN_S + n)) for n in some]
        placed = [{"value": n, "time": at, "lat": 44.8, "lon": 20.4} for n, at in zip(some, times, strict=True)]
        gateway.publish("old/number", placed)
        gateway.publish("old/text", [{"value": f"value {n}", "time": at} for n, at in zip(some, times, strict=True)])
        gateway.publish("old/truth", [{"value": n % 2 == 0, "time": at} for n, at in zip(some, times, strict=True)])


def leave_session(gateway):
    """A client goes and leaves its session; another publishes to it, and retains."""
    away = Client.connected(gateway.ready["mqtt"], CLIENT, 5, clean=False, properties=[(SESSION_EXPIRY, WEEKS)])
    away.subscribe(("away/#", 1))
    away.leave()
    here = Client.connected(gateway.ready["mqtt"], "here", 5)
    for number in range(AWAY):
        here.publish(f"away/{number}", str(number), qos=1)
    here.publish("held/last", "7", qos=1, retain=True)
    here.leave()


def make(folder):
    """Fills a data directory: the first half was written to history, the second is in the log; then a kill."""
    gateway = Gateway(data=folder, settings=SETTINGS)
    fill(gateway, range(ROWS // 2))
    thing = json.dumps({"name": "old", "description": "made before"})
    assert gateway.request("POST", FIRST_ID, thing, {"Content-Type": "application/json"})[0] == 201
    assert gateway.terminate() == 0
    gateway = Gateway(data=folder, settings=SETTINGS)
    cursor = gateway.cursor()
    fill(gateway, range(ROWS // 2, ROWS))
    leave_session(gateway)
    gateway.kill()
    return {"cursor": cursor}


def main():
    KEPT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        data = pathlib.Path(scratch) / "data"
        told = make(data)
        (data / "told.json").write_text(json.dumps(told))
        to = KEPT / f"{time.strftime('%Y-%m-%d')}.tar.xz"
        with tarfile.open(to, "w:xz") as archive:
            archive.add(data, "data")
    print(to)


if __name__ == "__main__":
    sys.exit(main())
