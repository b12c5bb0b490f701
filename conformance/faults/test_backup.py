"""`weir backup` of a gateway under load, and what `weir restore` makes of it."""

import json
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import unittest

import skips
from faults.checker import FILTER, Writer
from gateway import BINARY, Gateway

# Segments are begun and dropped all the time, and files of the history with them.
BUSY = {"log.segment_bytes": "1048576", "log.retention_bytes": "2097152"}
WRITERS, BACKUPS = 4, 5


class Filler(threading.Thread):
    """Publishes bodies that fill segments."""

    def __init__(self, gateway):
        super().__init__(daemon=True)
        self.gateway, self.stopped = gateway, threading.Event()

    def run(self):
        connection, body = self.gateway.connect(), json.dumps({"value": "x" * 30_000})
        while not self.stopped.is_set():
            self.gateway.publish("filler", body, connection=connection)


def weir(*arguments, **options):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, timeout=60, **options)


class Backup(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def restored(self, archive, name):
        data = self.folder / name
        done = weir("restore", archive, "--data", data)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.enterContext(Gateway(data=data, settings=BUSY))

    def assert_is_whole(self, gateway, promised):
        """Everything that was acknowledged before, all that followed without a hole, nothing twice."""
        for topic, least in promised.items():
            kept = [int(row["value"]) for row in gateway.history(topic, limit=10_000)]
            self.assertEqual(kept, list(range(len(kept))), topic)
            self.assertGreaterEqual(len(kept), least, topic)

    def first_kept(self):
        """Sequence of the first record that the log has."""
        return min(int(file.stem.split("-")[1], 16) for file in (self.folder / "data/log").glob("*.log"))

    def test_a_backup_under_load_holds_all_acknowledged_before(self):
        gateway = self.enterContext(Gateway(data=self.folder / "data", settings=BUSY))
        entry = json.dumps({"unit": "Cel", "type": "temperature"})
        gateway.request("PUT", "/catalog/kept/w0", entry, {"Content-Type": "application/json"})
        writers, filler = [Writer(gateway, f"w{at}") for at in range(WRITERS)], Filler(gateway)
        saved = []
        for thread in [*writers, filler]:
            thread.start()
        until = time.monotonic() + 60
        while len(saved) < BACKUPS or self.first_kept() == 1:
            self.assertLess(time.monotonic(), until, "no segment was dropped: copies were not tried")
            before = [writer.next for writer in writers]
            while any(writer.next < first + 100 for writer, first in zip(writers, before)):
                threading.Event().wait(0.02)
            promised, archive = {writer.topic: writer.next for writer in writers}, self.folder / f"{len(saved)}.tar"
            done = weir("backup", archive, "--data", self.folder / "data")
            self.assertEqual(done.returncode, 0, done.stderr)
            saved.append((promised, archive))
        for thread in [*writers, filler]:
            thread.stopped.set()
            thread.join()
        late = gateway.cursor()
        gateway.terminate()
        for at, (promised, archive) in enumerate(saved[-BACKUPS:]):
            again = self.restored(archive, f"again{at}")
            self.assert_is_whole(again, promised)
            known = json.loads(again.request("GET", "/catalog/kept/w0")[2])
            self.assertEqual(known["unit"], "Cel")
        # A client that saw more than was saved learns that it is gone; what comes now is not skipped.
        again.publish_value("kept/w0", -1)
        status, headers, _ = again.request(
            "GET", f"/live/{FILTER}?wait=5&since={late}", headers={"Accept": "application/json"}
        )
        self.assertIn(status, (200, 204))
        gap = json.loads(headers["Weir-Gap"])
        self.assertEqual(gap["reason"], "rollback")
        self.assertGreater(gap["count"], 0)

    def on_a_small_disk(self, kilobytes, script, *arguments):
        """Runs lines of a shell where `$1` is the folder of a disk of its own."""
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        mount = f'mount -t tmpfs -o size={kilobytes}k tmpfs "$1" || exit 99\n'
        command = ["unshare", "-m", "sh", "-c", mount + script, "sh", disk, *arguments]
        try:
            done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60)
        except OSError as error:
            skips.skip(self, f"kernel right: {error}")
        if done.returncode == 99 or "unshare:" in done.stderr:
            skips.skip(self, f"kernel right: {done.stderr.strip()}")
        return done

    def test_a_full_disk_is_told_and_leaves_no_half(self):
        data = self.folder / "data"
        with Gateway(data=data) as gateway:
            gateway.publish("kept/w0", {"value": "x" * 300_000})
            weir = 'weir=$2; data=$3\n"$weir" backup '
            to_a_file = weir + '"$1/a.tar" --data "$data"; code=$?; ls -A "$1"; exit $code'
            # Only who reads to the end has a copy: the list of what is in it comes last.
            to_a_pipe = weir + '- --data "$data" >"$1/a.tar"; code=$?; "$weir" restore "$1/a.tar" --data "$data.again" && exit 98\nexit $code'
            for script, named in ((to_a_file, "disk/a.tar: "), (to_a_pipe, "standard output: ")):
                done = self.on_a_small_disk(128, script, BINARY, data)
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                said = rf"{named}No space left on device .*needs about (\d+) bytes, and \d+ were written; it is no copy"
                needed = re.search(said, done.stderr)
                self.assertTrue(needed, done.stderr)
                files = [file for file in data.rglob("*") if file.is_file()]
                self.assertGreaterEqual(int(needed[1]), sum(file.stat().st_size for file in files))
            self.assertFalse(pathlib.Path(f"{data}.again").exists())
            done = self.on_a_small_disk(100_000, to_a_file, BINARY, data)
            self.assertEqual((done.returncode, done.stdout), (0, "a.tar\n"), done.stderr)

    def test_by_pipe_and_what_is_refused(self):
        with Gateway(data=self.folder / "data") as gateway:
            gateway.publish_value("kept/w0", 0)
            piped = weir("backup", "-", "--data", self.folder / "data")
            self.assertEqual(piped.returncode, 0, piped.stderr)
        done = weir("restore", "-", "--data", self.folder / "again", input=piped.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        with Gateway(data=self.folder / "again") as gateway:
            self.assert_is_whole(gateway, {"kept/w0": 1})
        for arguments, given, expected in (
            (("restore", "-", "--data", self.folder / "again"), piped.stdout, b"is not empty"),
            (("restore", "-", "--data", self.folder / "cut"), piped.stdout[:-2000], b"not the whole of it"),
            (("restore", "-", "--data", self.folder / "cut"), b"stranger" * 1000, b"this is no backup"),
            (("restore", self.folder / "absent.tar"), b"", b"absent.tar"),
            (("backup", "-", "--data", self.folder / "absent"), b"", b"absent"),
        ):
            refused = weir(*arguments, input=given)
            self.assertEqual(refused.returncode, 1, arguments)
            self.assertIn(expected, refused.stderr)
        self.assertFalse((self.folder / "cut").exists())
