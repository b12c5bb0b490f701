"""`python -m faults.damage [COUNT] [SEED]`: flips a bit in a stopped gateway's data, starts it and checks; prints what was tried.

The data is made twice, by a gateway that was told to stop and by one that was killed; its log has let go of what the
history has. Then, for each seed, in a copy of it, one bit of one file flips: a small file as likely as a large one. A
real gateway must start on it, and

- give every observation back but those that the bit lies in: of the log one message, of the history one chunk;
- tell a client that resumes by cursor of a gap, `damage`, wherever it leaves anything out;
- say so, in `weir_damage_total` and in its log, wherever anything is left out, and keep what it does not use;
- start once more after a kill, with the same.
"""

import json
import pathlib
import random
import shutil
import sys
import tempfile
import time

from gateway import Gateway, NotReady

SETTINGS = {"log.segment_bytes": "8192", "log.retention_bytes": "16384"}
TOPICS, MESSAGES, BEFORE = 3, 460, 400
CHUNK = 200
FILTER = "kept/%23"
# Segments of the log, files of the history: a bit takes what it lies in. All others: nothing.
LOST = {".log": 1, ".dat": CHUNK}


class Data:
    """A data directory as a gateway left it, and what was acknowledged."""

    def __init__(self, folder, is_clean):
        self.folder, self.is_clean = folder, is_clean
        gateway = Gateway(data=folder, settings=SETTINGS)
        self.publish(gateway, range(BEFORE))
        assert gateway.terminate() == 0
        gateway = Gateway(data=folder, settings=SETTINGS)
        thing = json.dumps({"name": "kept", "description": "before all damage"})
        assert gateway.request("POST", "/sta/v1.1/Things", thing, {"Content-Type": "application/json"})[0] == 201
        self.cursor = gateway.cursor()
        self.publish(gateway, range(BEFORE, MESSAGES))
        gateway.terminate() if is_clean else gateway.kill()

    def publish(self, gateway, numbers):
        connection = gateway.connect()
        for number in numbers:
            body = json.dumps({"value": number}) + " " * 80
            gateway.publish(f"kept/{number % TOPICS}", body, connection=connection)
        connection.close()

    def files(self):
        """All but locks and what is empty, small ones as often as large ones."""
        every = sorted(path for path in self.folder.rglob("*") if path.is_file() and path.name != "lock")
        return [path.relative_to(self.folder) for path in every if path.stat().st_size]


def numbers(rows):
    return [int(row["value"]) for row in rows]


def resumed(gateway, cursor):
    """What a client is given that comes back with a cursor: numbers, and the gaps that it is told."""
    came, gaps = [], []
    connection = gateway.connect()
    connection.request("GET", f"/live/{FILTER}?stream&since={cursor}", headers={"Accept": "application/json"})
    response = connection.getresponse()
    gateway.publish("kept/0", {"value": -1})
    while line := response.readline():
        said = json.loads(line) if line.strip() else {}
        control = said.get("weir")
        if control is None:
            came += numbers(said["observations"])
        elif control.get("gap"):
            gaps.append(control["gap"]["reason"])
        if -1 in came:
            break
    connection.close()
    return [number for number in came if number >= 0], gaps


def damages(gateway):
    page = gateway.request("GET", "/metrics")[2].decode()
    lines = [line for line in page.splitlines() if line.startswith("weir_damage_total")]
    return sum(int(line.rsplit(" ", 1)[1]) for line in lines)


def flip(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << (bit % 8)
    path.write_bytes(data)


class Trial:
    """One bit of a copy of the data; `found` says what is wrong, in sentences."""

    def __init__(self, data, name, bit, scratch):
        self.data, self.name, self.found = data, name, []
        self.folder = scratch / "data"
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(data.folder, self.folder)
        flip(self.folder / name, bit)
        self.log = scratch / "data.log"
        self.log.unlink(missing_ok=True)

    def run(self):
        try:
            with Gateway(data=self.folder, settings=SETTINGS) as gateway:
                kept = self.check(gateway)
                gateway.kill()
            with Gateway(data=self.folder, settings=SETTINGS) as gateway:
                again = {number for number in numbers(gateway.history("kept/#", limit=10_000)) if number >= 0}
                if again != kept:
                    self.found.append(f"after another start {len(again)} of {len(kept)} are there")
        except NotReady as refused:
            self.found.append(f"does not start: {refused}")
        except AssertionError as refused:
            self.found.append(f"refuses: {refused}")
        return self.found

    def check(self, gateway):
        kept = numbers(gateway.history("kept/#", limit=10_000))
        lost = set(range(MESSAGES)) - set(kept)
        if len(set(kept)) != len(kept):
            self.found.append("something is there twice")
        if len(lost) > LOST.get(self.name.suffix, 0):
            self.found.append(f"lost: {len(lost)}, {sorted(lost)[:5]}")
        things = json.loads(gateway.request("GET", "/sta/v1.1/Things")[2])["value"]
        came, gaps = resumed(gateway, self.data.cursor)
        missing = set(range(BEFORE, MESSAGES)) - set(came)
        told = damages(gateway)
        said = self.log.read_text(errors="replace")
        is_cut = "were being written" in said
        if missing and not gaps and not (is_cut and missing == {MESSAGES - 1}):
            self.found.append(f"a client was told of no gap and misses {sorted(missing)[:5]}")
        if set(gaps) - {"damage", "foreign"}:
            self.found.append(f"a client was told {gaps}")
        if (lost or missing or gaps or not things) and not (told and "DAMAGED" in said) and not is_cut:
            self.found.append(f"{len(lost) + len(missing)} are missing in silence")
        return set(kept)


def schedule(first, count):
    """So many damages; what is wrong with them by what they were, and how often something was told."""
    wrong = {}
    with tempfile.TemporaryDirectory(prefix="weir-damage-") as scratch:
        scratch = pathlib.Path(scratch)
        made = [Data(scratch / name, name == "clean") for name in ("clean", "killed")]
        for seed in range(first, first + count):
            chance = random.Random(seed)
            data = chance.choice(made)
            name = chance.choice(data.files())
            bit = chance.randrange((data.folder / name).stat().st_size * 8)
            what = f"seed {seed}: {'clean' if data.is_clean else 'killed'}, {name}, bit {bit}"
            found = Trial(data, name, bit, scratch).run()
            if found:
                wrong[what] = found
                print(what, found, flush=True)
    return wrong


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    first = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    wrong = schedule(first, count)
    print(f"{count} damages from seed {first}, {len(wrong)} wrong", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
