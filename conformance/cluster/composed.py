"""`python -m cluster.composed`: packaging/compose.yaml, run as processes.

No container is made: each service has a network namespace of its own and its name in `/etc/hosts`, and the command that
stands in the file, where paths of the container are folders of this run. What is not tried is what makes a container of
an image. For a process that is alone in its network and has its own mounts (the test enters them).
"""

import contextlib
import http.client
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest

import yaml

from cluster import network
from cluster.database import Database
from cluster.servers import program
from gateway import BINARY, ROOT

PACKAGING = ROOT / "packaging"
FILE = yaml.safe_load((PACKAGING / "compose.yaml").read_text())
SERVICES = FILE["services"]
TEST = unittest.TestCase()
WAIT_S = 60


def entry_point(service):
    """What the image runs: of nats the server, of ours what the Containerfile says."""
    if service["image"].startswith("docker.io/library/nats"):
        return [program(TEST)]
    said = re.search(r"^ENTRYPOINT (.*)$", (PACKAGING / "Containerfile").read_text(), re.M)[1]
    assert json.loads(said) == ["/usr/bin/weir"], said
    return [str(BINARY)]


class Service:
    """A service on its machine, with its volumes and configurations in a folder."""

    def __init__(self, name, machine, folder):
        self.service, self.machine, self.folder = SERVICES[name], machine, pathlib.Path(folder, name)
        self.folder.mkdir()
        self.paths = {}
        for volume in self.service.get("volumes", []):
            kept, inside = volume.split(":")
            assert kept in FILE["volumes"], kept
            self.paths[inside] = self.folder / kept
            self.paths[inside].mkdir()
        for each in self.service.get("configs", []):
            self.paths[each["target"]] = self.folder / each["source"]
            self.paths[each["target"]].write_text(self.here(FILE["configs"][each["source"]]["content"]))
        self.start()

    def here(self, text):
        """With the folders of this run for those of the container."""
        for inside, path in self.paths.items():
            text = re.sub(rf"(^|[\"=]){re.escape(inside)}(?=$|[\"/])", rf"\g<1>{path}", text, flags=re.M)
        return text

    def start(self):
        command = [*entry_point(self.service), *map(self.here, self.service["command"])]
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            [*self.machine.inside(), *command], stdout=self.log, stderr=self.log, cwd=self.folder
        )
        print(shlex.join(command), flush=True)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def ask(self, method, path, body=None):
        """Of the port that the file opens to the host."""
        _, _, port = self.service["ports"][0].rsplit(":", 2)
        connection = http.client.HTTPConnection(self.machine.address, int(port), timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, body=body, headers={"Content-Type": "text/plain"} if body else {})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def is_ready(self):
        if self.process.poll() is not None:
            # `restart: on-failure`
            self.start()
        with contextlib.suppress(OSError):
            return self.ask("GET", "/health/ready")[0] == 200


def hosts(machines, folder):
    """Names as the containers' network gives them."""
    lines = [f"{machine.address} {name}" for name, machine in machines.items()]
    path = pathlib.Path(folder, "hosts")
    path.write_text("\n".join(["127.0.0.1 localhost", *lines]) + "\n")
    network.run("mount", "--bind", str(path), "/etc/hosts")


def until(condition):
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.1)


def values(gateway):
    status, body = gateway.ask("GET", "/history/kitchen/temperature")
    assert status == 200, body
    return [each["value"] for each in json.loads(body)["observations"]]


def main():
    with contextlib.ExitStack() as stack:
        machines = stack.enter_context(network.Network(SERVICES)).machines
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-composed-"))
        hosts(machines, folder)
        secret = SERVICES["db"]["environment"]
        assert secret == {"POSTGRES_USER": "weir", "POSTGRES_PASSWORD": "weir", "POSTGRES_DB": "weir"}, secret
        stack.enter_context(Database(TEST, machines["db"], port=5432))
        running = {}
        for name in SERVICES:
            if name != "db":
                running[name] = Service(name, machines[name], folder)
                stack.callback(running[name].close)
        gateways = [running[name] for name in ("w1", "w2", "w3")]
        until(lambda: all(gateway.is_ready() for gateway in gateways))
        for number, gateway in enumerate(gateways):
            status, said = gateway.ask("POST", "/live/kitchen/temperature", str(number))
            assert status == 204, said
        # Who was asked has taken what it acknowledged; the others take it when it comes to them.
        for gateway in gateways:
            until(lambda gateway=gateway: values(gateway) == [0, 1, 2])
        running["n2"].close()
        until(lambda: gateways[0].ask("POST", "/live/kitchen/temperature", "3")[0] == 204)
        until(lambda: values(gateways[1])[:4] == [0, 1, 2, 3])
        running["n2"].start()
        print("1 passed, 0 failed", flush=True)


if __name__ == "__main__":
    sys.exit(main())
