"""Real nats-servers with JetStream as processes: one, or three that replicate."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import skips
from ports import free_ports

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "build/tools/bin"
NEEDED = (2, 11)
READY_WAIT_S = 30


def program(test):
    """A nats-server that is new enough, or a skip: Debian 12 has 2.9."""
    for candidate in (TOOLS / "nats-server", shutil.which("nats-server")):
        if candidate and pathlib.Path(candidate).exists():
            said = subprocess.run([candidate, "--version"], capture_output=True, text=True).stdout
            version = re.search(r"v(\d+)\.(\d+)", said)
            if version and (int(version[1]), int(version[2])) >= NEEDED:
                return str(candidate)
    return skips.skip(test, "nats-server 2.11 or later is not installed (scripts/peers)")


class Server:
    """One nats-server at `host`; `routes` are the `host:port` of all, where it is one of several; `more` are lines of
    its configuration."""

    def __init__(self, binary, folder, name, ports, routes=(), host="127.0.0.1", inside=(), more=(), sync="always"):
        self.binary, self.folder, self.name = binary, pathlib.Path(folder) / name, name
        self.port, self.route, self.monitor = ports
        self.host, self.inside = host, inside
        self.folder.mkdir(parents=True)
        lines = [
            f'server_name: "{name}"',
            f'listen: "{host}:{self.port}"',
            f'http: "{host}:{self.monitor}"',
            f'jetstream {{ store_dir: "{self.folder}", sync_interval: {sync} }}',
            *more,
        ]
        if routes:
            peers = ", ".join(f'"nats://{route}"' for route in routes)
            lines.append(f'cluster {{ name: "weir", listen: "{host}:{self.route}", routes: [{peers}] }}')
        (self.folder / "nats.conf").write_text("\n".join(lines) + "\n")
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.inside, self.binary, "-c", str(self.folder / "nats.conf")], stdout=log, stderr=log
            )

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.kill()

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://{self.host}:{self.monitor}/healthz", timeout=1) as answer:
                return json.load(answer).get("status") == "ok"
        except (OSError, ValueError):
            return False


def request(server, subject, body=b""):
    """The answer of JSON to a request by core NATS, as anybody with a socket makes it."""
    with socket.create_connection((server.host, server.port), timeout=READY_WAIT_S) as wire:
        lines = wire.makefile("rb")
        connect = b'CONNECT {"verbose":false,"headers":true}\r\nSUB answer 1\r\n'
        wire.sendall(connect + f"PUB {subject} answer {len(body)}\r\n".encode() + body + b"\r\n")
        while True:
            words = lines.readline().split()
            assert words and words[0] != b"-ERR", words
            if words[0] == b"PING":
                wire.sendall(b"PONG\r\n")
            elif words[0] == b"MSG":
                return json.loads(lines.read(int(words[-1])))


class Servers:
    """One server or three, each on a machine of `machines` where there are such; a context."""

    def __init__(self, test, count, machines=(), sync="always"):
        self.folder = tempfile.mkdtemp(prefix="weir-nats-")
        binary = program(test)
        ports = free_ports(3 * count)
        of = [ports[3 * at : 3 * at + 3] for at in range(count)]
        hosts = [machine.address for machine in machines] or ["127.0.0.1"] * count
        inside = [machine.inside() for machine in machines] or [()] * count
        routes = [f"{host}:{route}" for host, (_, route, _) in zip(hosts, of)] if count > 1 else ()
        self.all = [
            Server(binary, self.folder, f"n{at}", of[at], routes, hosts[at], inside[at], sync=sync)
            for at in range(count)
        ]
        self.wait()

    @property
    def url(self):
        return ",".join(f"nats://{server.host}:{server.port}" for server in self.all)

    def wait(self):
        until = time.monotonic() + READY_WAIT_S
        while not all(server.is_ready() for server in self.all):
            assert time.monotonic() < until, "the nats-servers do not become ready"
            time.sleep(0.1)

    def mark(self, stream="weir"):
        """Which version of weir's records a stream says that it has; None where it says nothing."""
        found = request(self.all[0], f"$JS.API.STREAM.INFO.{stream}")
        return found["config"].get("metadata", {}).get("weir.records")

    def set_mark(self, version, stream="weir"):
        """As a weir of another version leaves it, or one that has no marks (None)."""
        config = request(self.all[0], f"$JS.API.STREAM.INFO.{stream}")["config"]
        kept = {name: text for name, text in config["metadata"].items() if name.startswith("weir.")}
        kept.pop("weir.records", None)
        config["metadata"] = {**kept, **({"weir.records": version} if version else {})}
        done = request(self.all[0], f"$JS.API.STREAM.UPDATE.{stream}", json.dumps(config).encode())
        assert "error" not in done, done

    def kill_all(self):
        for server in self.all:
            server.process.send_signal(signal.SIGKILL)
        for server in self.all:
            server.process.wait()

    def start_all(self):
        for server in self.all:
            server.start()
        self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.all:
            server.close()
        shutil.rmtree(self.folder, ignore_errors=True)
