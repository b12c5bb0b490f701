"""A Qpid Broker-J of one's own, which keeps its messages on disk: started, ended as a crash does, started again."""

import json
import pathlib
import shutil
import subprocess
import tempfile
import time

from amqp.rabbitmq import answers
from gateway import ROOT
from ports import free_ports
from skips import program, skip

INSTALLED = ROOT / "build/qpid-broker"
START_S = 180


class Qpid:
    """AMQP 0.9.1 and 1.0 on one port, 1.0 by WebSocket on another, for the user `guest`."""

    def __init__(self, test, cleanup):
        java, libraries = program(test, "java"), sorted(INSTALLED.glob("*/lib"))
        if not libraries:
            skip(test, "no Qpid Broker-J in build/qpid-broker; `scripts/peers` brings it")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="qpid-"))
        cleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.port, self.websocket), self.process = free_ports(2), None
        (self.folder / "initial.json").write_text(json.dumps(self.configuration()))
        properties = {"QPID_WORK": self.folder, "QPID_HOME": self.folder, "derby.system.home": self.folder}
        self.command = [java, "-Xmx256m", *(f"-D{name}={value}" for name, value in properties.items()),
                        "-cp", f"{libraries[-1]}/*", "org.apache.qpid.server.Main", "-icp", self.folder / "initial.json"]
        cleanup(self.stop)
        self.start()

    def configuration(self):
        aliases = [{"name": name, "type": name} for name in ("nameAlias", "defaultAlias", "hostnameAlias")]
        listener = {"type": "AMQP", "bindingAddress": "127.0.0.1", "tcpNoDelay": True, "authenticationProvider": "plain",
                    "virtualhostaliases": aliases}
        guest = {"name": "guest", "type": "managed", "password": "guest"}
        return {
            "name": "conformance", "modelVersion": "9.0",
            "authenticationproviders": [
                {"name": "plain", "type": "Plain", "secureOnlyMechanisms": [], "users": [guest]},
            ],
            "ports": [
                listener | {"name": "tcp", "port": self.port, "transports": ["TCP"], "protocols": ["AMQP_0_9_1", "AMQP_1_0"]},
                listener | {"name": "ws", "port": self.websocket, "transports": ["WS"], "protocols": ["AMQP_1_0"]},
            ],
            "virtualhostnodes": [{
                "name": "default", "type": "JSON", "defaultVirtualHostNode": True,
                "virtualHostInitialConfiguration": json.dumps({"type": "DERBY"}),
            }],
        }

    def url(self, scheme="amqp091", login="guest:guest"):
        at = f"{self.websocket}/" if scheme.endswith("+ws") else self.port
        return f"{scheme}://{login}@127.0.0.1:{at}"

    def start(self):
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=log, stderr=log)
        log.close()
        deadline = time.monotonic() + START_S
        while not (answers(self.port) and answers(self.websocket)):
            said = (self.folder / "log").read_text(errors="replace")[-2000:]
            assert self.process.poll() is None, f"Qpid ended: {said}"
            assert time.monotonic() < deadline, f"Qpid does not listen: {said}"
            time.sleep(0.1)

    def stop(self):
        """Ends it as a crash does."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)
