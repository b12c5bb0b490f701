"""What the device takes: `python -m board.measure` writes docs/results/device.md.

Each row is an image of its own, run on the emulated board with as many clients as it has connections; memory is
read from outside, by QEMU, while all of them listen.
"""

import asyncio
import datetime
import os
import pathlib
import subprocess
import sys
import time
import unittest

import gateway
from board import device

# 256 values of 31 bytes a second, with their headers, are one and a half times what the line carries.
INTERVAL_MS = 4_000
CONNECTIONS = (1, 16, 64, 128, 256)
# More than paper 002 has, on the board that has the memory; at so much longer intervals.
MANY, MANY_INTERVAL_MS = 1_000, 20_000
BOARDS = ("lm3s811", "mps2", "microbit")
# What is heard in so many intervals once all listen.
HEARD_INTERVALS = 3.5
PATIENCE_S, PATIENCE_INTERVALS = 45, 3
WORDS = pathlib.Path(__file__).with_name("measured.md")
RESULT = gateway.ROOT / "docs/results/device.md"


class Case(unittest.TestCase):
    """Skips and failures of the harness want a test."""

    def runTest(self):
        """Nothing."""


def flash(sizes):
    return sum(sizes.get(name, 0) for name in (".vectors", ".text", ".rodata"))


def heard_by(image, board, clients, interval_s):
    """Memory while all listen, how many heard something, and of what was published since how much they heard."""
    run = device.Board(image, board=board)
    state = {}
    patience = max(PATIENCE_S, PATIENCE_INTERVALS * interval_s)

    def enough(heard):
        now = time.monotonic()
        first = state.setdefault("first", now)
        everybody = all(heard)
        if "all" not in state and (everybody or now - first > patience):
            state.update(all=now, begin=max(values[-1][0] for values in heard if values))
        if "all" not in state or now - state["all"] < HEARD_INTERVALS * interval_s:
            return False
        state["ram"] = run.memory()
        return True

    try:
        heard = asyncio.run(device.follow(run.at, clients, enough, resumes=True))
    finally:
        run.close()
    # What is published last is on its way still.
    end = max(values[-1][0] for values in heard if values) - 2
    numbers = {number for values in heard for number, _ in values if state["begin"] < number <= end}
    got = sum(len({number for number, _ in values} & numbers) for values in heard)
    share = 100 * got / max(1, len(numbers) * clients)
    ends = sum(values.ends for values in heard)
    return state["ram"], sum(1 for values in heard if values), ends, share


def row(case, board, connections, interval_ms=INTERVAL_MS, **settings):
    image = device.build(case, board, WEIR_CONNECTIONS=connections, WEIR_INTERVAL_MS=interval_ms, **settings)
    sizes = device.sections(image)
    ram, clients, ends, share = heard_by(image, board, connections, interval_ms / 1000)
    used = sizes[".bss"] + device.stack_used(ram)
    kept = sizes[".bss"] + device.STACK_BYTES
    beyond = sum(1 for byte in ram[kept:] if byte)
    stack = device.stack_used(ram)
    name = f"{board}, smallest" if settings else board
    behind = device.PACKETS_BYTES_SMALLEST if settings else device.PACKETS_BYTES
    live = device.records(image, ram, connections, behind)
    memory = flash(sizes), sizes[".bss"], stack, used, kept, beyond
    cells = name, connections, *memory, live, clients, ends, f"{share:.1f}"
    print(*cells, file=sys.stderr, flush=True)
    return cells


def load():
    return f"{os.getloadavg()[1]:.1f}"


def main():
    case = Case()
    before = load()
    rows = [row(case, "lm3s811", connections) for connections in CONNECTIONS]
    mps2, microbit = (row(case, board, max(CONNECTIONS)) for board in BOARDS[1:])
    rows += [mps2, microbit, row(case, "mps2", MANY, MANY_INTERVAL_MS)]
    rows += [row(case, "lm3s811", 1, WEIR_FIRMWARE_ARGUMENTS=device.SMALLEST)]
    few, many = rows[0], rows[len(CONNECTIONS) - 1]
    slope = (many[3] - few[3]) / (many[1] - few[1])
    version = subprocess.run(["qemu-system-arm", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    words = WORDS.read_text()
    table = "".join("| " + " | ".join(map(str, cells)) + " |\n" for cells in rows)
    RESULT.write_text(
        words.format(
            date=datetime.date.today(),
            before=before,
            after=load(),
            processors=os.cpu_count(),
            qemu=version,
            table=table,
            slope=f"{slope:.2f}",
            fixed=round(few[3] - slope * few[1]),
            used=many[5],
            flash=many[2],
            mps2=mps2[2],
            microbit=microbit[2],
            smallest_flash=rows[-1][2],
            smallest_statics=rows[-1][3],
            smallest_stack=rows[-1][4],
            smallest_used=rows[-1][5],
        )
    )


if __name__ == "__main__":
    main()
