"""A board in QEMU behind `weir board`, as a process, and what can be read of its memory from outside."""

import asyncio
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile

import gateway
import skips

RAM = 0x2000_0000
PAINT = bytes.fromhex("dec0dec0")
# Of the mps2 what an image of 1,000 connections takes, and more.
RAM_BYTES = {"lm3s811": 8192, "mps2": 65536, "microbit": 16384}
STACK_BYTES = 1024
RECORD_BYTES = 16
# What lies behind the records: the packets each way, 296 and 576 bytes; of the smallest build one of 104 for both.
PACKETS_BYTES, PACKETS_BYTES_SMALLEST = 872, 104
# What makes the smallest build.
SMALLEST = "--no-default-features --features smallest"


def build(test, board="lm3s811", **settings):
    """The image of a board, built by this project's script; a copy, since the next build writes over it."""
    skips.program(test, "qemu-system-arm")
    environment = {**os.environ, **{name: str(value) for name, value in settings.items()}}
    done = subprocess.run(
        [gateway.ROOT / "scripts/firmware", board], capture_output=True, text=True, env=environment
    )
    if done.returncode == 3:
        return skips.skip(test, "no toolchain for the board")
    test.assertEqual(done.returncode, 0, done.stderr)
    built = gateway.ROOT / re.search(r"firmware: (\S+)$", done.stdout).group(1)
    image = pathlib.Path(tempfile.mkdtemp(prefix="weir-board-")) / board
    image.write_bytes(built.read_bytes())
    return image


class Elf:
    """An image (`readelf` without readelf: ELF32, little-endian)."""

    def __init__(self, image):
        self.data = pathlib.Path(image).read_bytes()
        table, size, count, names = (self.number(*at) for at in ((32, 4), (46, 2), (48, 2), (50, 2)))
        heads = [table + index * size for index in range(count)]
        strings = self.number(heads[names] + 16, 4)
        self.heads = {self.text(strings + self.number(head, 4)): head for head in heads}

    def number(self, place, length):
        return int.from_bytes(self.data[place : place + length], "little")

    def text(self, place):
        return self.data[place : self.data.index(0, place)].decode()

    def section(self, name):
        """Where a section lies in the file, and its bytes."""
        return self.number(self.heads[name] + 16, 4), self.number(self.heads[name] + 20, 4)

    def symbol(self, words):
        """Address and bytes of the symbol that has these words in its name."""
        (table, size), (strings, _) = self.section(".symtab"), self.section(".strtab")
        for entry in range(table, table + size, 16):
            if words in self.text(strings + self.number(entry, 4)):
                return self.number(entry + 4, 4), self.number(entry + 8, 4)
        raise KeyError(words)


def sections(image):
    """Bytes of each section of an image."""
    elf = Elf(image)
    return {name: elf.section(name)[1] for name in elf.heads}


def records(image, ram, connections, behind=PACKETS_BYTES):
    """How many of the records of connections are in use: one that is free is zero."""
    address, size = Elf(image).symbol("3run6DEVICE")
    # Behind the device stands whether it was taken, in a word.
    end = address - RAM + size - 4 - behind
    places = range(end - RECORD_BYTES * connections, end, RECORD_BYTES)
    return sum(1 for place in places if any(ram[place : place + RECORD_BYTES]))


class Board:
    """A running board; ends with `close`."""

    def __init__(self, image, *arguments, board="lm3s811"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-board-"))
        self.monitor = self.folder / "qmp"
        self.ram_bytes = RAM_BYTES[board]
        command = [gateway.BINARY, "board", board, "--image", image, "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(
            [*map(str, command), "--monitor", str(self.monitor), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        ready = json.loads(self.process.stdout.readline())
        self.address = ready["http"]
        host, port = self.address.rsplit(":", 1)
        self.at = (host, int(port))
        self.url = f"http://{self.address}"

    def memory(self):
        """All of its RAM, as it is now and as the processor sees it: the nRF51's is nowhere else."""
        file = self.folder / "ram"
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.monitor))
            lines = connection.makefile("rw")
            lines.readline()
            for command in (
                {"execute": "qmp_capabilities"},
                {"execute": "memsave", "arguments": {"val": RAM, "size": self.ram_bytes, "filename": str(file)}},
            ):
                lines.write(json.dumps(command) + "\n")
                lines.flush()
                while "return" not in json.loads(lines.readline()):
                    pass
        return file.read_bytes()

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=10)
        self.process.stdout.close()


def stack_used(ram):
    """The most that the stack ever was: it lies at the beginning and was painted at the start."""
    painted = 0
    while ram[painted : painted + 4] == PAINT:
        painted += 4
    return STACK_BYTES - painted


async def listen(at, path, heard):
    """Follows a topic as server-sent events: appends the number and the data of each."""
    reader, writer = await asyncio.open_connection(*at)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: board\r\nAccept: text/event-stream\r\n\r\n".encode())
    number = None
    try:
        while line := await reader.readline():
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "id":
                number = int(value)
            elif name == "data" and number is not None:
                heard.append((number, value))
    finally:
        writer.close()


async def listen_again(at, path, heard):
    """As a browser does: whose connection ends connects again after a second. Says in `heard.ends` how often."""
    while True:
        try:
            await listen(at, path, heard)
        except OSError:
            pass
        heard.ends += 1
        await asyncio.sleep(1)


class Heard(list):
    """Numbers and data that a client heard."""

    ends = 0


async def follow(at, count, enough, path="/live/temperature", resumes=False):
    """So many clients at once, until `enough` of what they heard (a list each) says so; what they heard."""
    heard = [Heard() for _ in range(count)]
    listeners = []
    for client in range(count):
        listener = (listen_again if resumes else listen)(at, path, heard[client])
        listeners.append(asyncio.create_task(listener))
        # As the authors' scripts do: 10 ms for each.
        await asyncio.sleep(0.01)
    while not enough(heard):
        ended = [task for task in listeners if task.done()]
        if ended:
            raise AssertionError(f"{len(ended)} of {count} connections ended: {ended[0]}")
        await asyncio.sleep(0.05)
    for task in listeners:
        task.cancel()
    return heard
