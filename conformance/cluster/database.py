"""A real PostgreSQL as a process, in a folder of its own: the history that several gateways share."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import skips
from ports import free_port

PROGRAMS = pathlib.Path("/usr/lib/postgresql")
READY_WAIT_S = 60
# The server refuses to be root's.
NOBODY = 65_534


def programs(test):
    """The folder of the newest version's programs, or a skip."""
    found = sorted(PROGRAMS.glob("*/bin/initdb"))
    return found[-1].parent if found else skips.skip(test, "postgresql is not installed (scripts/peers)")


class Database:
    """A server with one database, `weir`, on a machine of its own where one is given; a context."""

    def __init__(self, test, machine=None, port=None):
        self.programs = programs(test)
        self.host = machine.address if machine else "127.0.0.1"
        self.inside = machine.inside() if machine else []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-postgres-"))
        self.port = port or free_port()
        if os.getuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
            self.inside += ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        self.run("initdb", "-D", "data", "-U", "weir", "-E", "UTF8", "--locale=C.UTF-8", "--auth=trust", "--no-sync")
        with open(self.folder / "data/pg_hba.conf", "a") as who:
            who.write("host all all samenet trust\n")
        self.start()
        self.sql("CREATE DATABASE weir", "postgres")

    @property
    def url(self):
        return f"postgres://weir@{self.host}:{self.port}/weir"

    def run(self, name, *arguments):
        command = [*self.inside, self.programs / name, *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self):
        settings = (f"listen_addresses={self.host}", "unix_socket_directories=", "shared_buffers=64MB")
        command = [*self.inside, self.programs / "postgres", "-D", "data", "-p", str(self.port)]
        command += [part for setting in settings for part in ("-c", setting)]
        self.spawn(command)
        until = time.monotonic() + READY_WAIT_S
        while not self.is_ready():
            assert time.monotonic() < until, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.1)
            if self.process.poll() is not None:
                # What was killed has not let go of its memory yet.
                self.spawn(command)

    def spawn(self, command):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)

    def is_ready(self):
        command = [self.programs / "pg_isready", "-q", "-h", self.host, "-p", str(self.port)]
        return subprocess.run(command).returncode == 0

    def sql(self, statement, database="weir"):
        """What psql prints, a line a row."""
        return self.run(
            "psql", "-h", self.host, "-p", str(self.port), "-U", "weir", "-d", database, "-qAtX", "-c", statement
        ).splitlines()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
