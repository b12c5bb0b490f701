"""A RabbitMQ of one's own, on ports of its own which it keeps: started, ended as a crash does, started again."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from ports import free_ports
from skips import skip

SCRIPT = pathlib.Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
CONTROL = SCRIPT.with_name("rabbitmqctl")
MAPPER = pathlib.Path("/usr/bin/epmd")
START_S = 180


def answers(at):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", at)) == 0


class RabbitMQ:
    """AMQP 0.9.1 and 1.0, over TCP and, with certificates, over TLS."""

    def __init__(self, test, cleanup, tls=None):
        if not SCRIPT.is_file() or not MAPPER.is_file():
            skip(test, "no RabbitMQ here; `apt-get install rabbitmq-server` brings it")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rabbitmq-"))
        self.port, self.tls_port, self.distribution, self.mapper_port = free_ports(4)
        self.mapper = subprocess.Popen([MAPPER, "-port", str(self.mapper_port), "-address", "127.0.0.1"])
        self.node = None
        cleanup(self.close)
        lines = [
            f"listeners.tcp.1 = 127.0.0.1:{self.port}", "tcp_listen_options.nodelay = true",
            "distribution.listener.interface = 127.0.0.1", "loopback_users = none",
            "log.console = false", "log.file.level = error",
        ]
        if tls:
            certificate, key = tls
            lines += [
                f"listeners.ssl.1 = 127.0.0.1:{self.tls_port}", f"ssl_options.certfile = {certificate}",
                f"ssl_options.keyfile = {key}", f"ssl_options.cacertfile = {certificate}",
                "ssl_options.verify = verify_none",
            ]
        (self.folder / "rabbitmq.conf").write_text("\n".join([*lines, ""]))
        (self.folder / "plugins").write_text("[rabbitmq_amqp1_0].\n")
        self.start()

    def url(self, scheme="amqp091", login="guest:guest"):
        at = self.tls_port if scheme.startswith("amqps") else self.port
        return f"{scheme}://{login}@{'localhost' if scheme.startswith('amqps') else '127.0.0.1'}:{at}"

    def environment(self):
        return os.environ | {
            "HOME": str(self.folder),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_NODENAME": f"t{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(self.distribution),
            "ERL_EPMD_PORT": str(self.mapper_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_CRASH_DUMP_SECONDS": "0",
            "RUNNING_UNDER_SYSTEMD": "true",
        }

    def start(self):
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.node = subprocess.Popen([SCRIPT], env=self.environment(), **silent)
        deadline = time.monotonic() + START_S
        while not answers(self.port):
            assert self.node.poll() is None, "RabbitMQ ended"
            assert time.monotonic() < deadline, "RabbitMQ does not listen"
            time.sleep(0.1)

    def control(self, *command):
        """Has `rabbitmqctl` tell the node something."""
        node = f"t{self.port}@localhost"
        told = {"env": self.environment(), "capture_output": True, "text": True, "timeout": START_S}
        done = subprocess.run([CONTROL, "-n", node, *command], **told)
        assert done.returncode == 0, done.stderr or done.stdout

    def define(self, definitions):
        """Has the node know more users and what they may."""
        file = self.folder / "definitions.json"
        file.write_text(json.dumps(definitions))
        self.control("import_definitions", str(file))

    def stop(self):
        """Ends the node as a crash does."""
        if self.node and self.node.poll() is None:
            self.node.kill()
            self.node.wait(30)

    def close(self):
        self.stop()
        self.mapper.kill()
        self.mapper.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)
