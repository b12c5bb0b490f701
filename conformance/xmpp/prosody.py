"""A real Prosody as a process, configured by the text of docs/guides/xmpp.md with ports and folders of its own."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

import certificate
from gateway import ROOT, Gateway
from ports import free_ports
from skips import program

USERS = {"ann": "pw-ann", "bob": "pw-bob"}
SECRET = "a secret that both share"
GUIDE = ROOT / "docs/guides/xmpp.md"
READY_WAIT_S = 20


def guide_text():
    """The configuration that a user is told to paste."""
    return re.search(r"```lua\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]


class Prosody:
    """Prosody with the users of USERS, a component for weir, and a publish-subscribe service of its own."""

    @classmethod
    def of_class(cls, test):
        """One for all tests of a class, begun by the first."""
        kind = type(test)
        if not hasattr(kind, "shared_prosody"):
            kind.shared_prosody = cls(test, kind.addClassCleanup)
            kind.addClassCleanup(delattr, kind, "shared_prosody")
        return kind.shared_prosody

    def __init__(self, test, clean=None, more=""):
        clean = clean or test.addCleanup
        self.program, self.control = program(test, "prosody"), program(test, "prosodyctl")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prosody-"))
        clean(shutil.rmtree, self.folder, ignore_errors=True)
        self.certificate, key = certificate.make(self.folder)
        self.c2s, self.direct, self.web, self.component = free_ports(4)
        self.config = self.folder / "prosody.cfg.lua"
        guide = guide_text().replace("example.org", "localhost").replace("CHANGE-ME", SECRET)
        (self.folder / "data").mkdir()
        self.config.write_text(f"""
run_as_root = true
consider_websocket_secure = true
pidfile = "{self.folder}/prosody.pid"
data_path = "{self.folder}/data"
log = {{ info = "{self.folder}/log" }}
interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {self.c2s} }}
c2s_direct_tls_ports = {{ {self.direct} }}
s2s_ports = {{ }}
http_ports = {{ {self.web} }}
http_interfaces = {{ "127.0.0.1" }}
https_ports = {{ }}
component_ports = {{ {self.component} }}
ssl = {{ certificate = "{self.certificate}", key = "{key}" }}
admins = {{ "ann@localhost" }}
{more}
{guide}
Component "pubsub.localhost" "pubsub"
    autocreate_on_publish = true
""")
        for name, password in USERS.items():
            self.run_control("register", name, "localhost", password)
        clean(self.stop)
        self.start()

    def command(self, program_path):
        root = ["--root"] if os.geteuid() == 0 else []
        return [program_path, *root, "--config", str(self.config)]

    def run_control(self, *arguments):
        subprocess.run([*self.command(self.control), *arguments], check=True, capture_output=True)

    def start(self):
        self.process = subprocess.Popen(
            [*self.command(self.program), "-F"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + READY_WAIT_S
        while not all(map(answers, (self.c2s, self.component, self.web))):
            ended = self.process.poll() is not None
            assert not ended and time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.05)

    def stop(self):
        """Without a word, as a crash."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(20)

    def settings(self, **more):
        """Keys of a gateway behind it."""
        own = {"url": f"xmpp://127.0.0.1:{self.component}", "component": "weir.localhost", "password": SECRET,
               "max_retry_seconds": "1"}
        return {f"xmpp.{key}": value for key, value in {**own, **more}.items()}

    def gateway(self, test, more=None, **keys):
        made = Gateway(settings={**self.settings(**keys), **(more or {})})
        test.addCleanup(made.close)
        self.await_component(made)
        return made

    def await_component(self, gateway):
        until(lambda: "is connected" in self.log_of(gateway), "the component's stream")

    @staticmethod
    def log_of(gateway):
        return pathlib.Path(f"{gateway.data}.log").read_text()

    def url(self, user="ann", password=None, service="weir.localhost", scheme="xmpp"):
        port = self.direct if scheme == "xmpps" else self.c2s
        return f"{scheme}://{user}%40localhost:{password or USERS[user]}@127.0.0.1:{port}/{service}"


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def metric(gateway, name):
    page = gateway.request("GET", "/metrics")[2].decode()
    values = [line.split()[-1] for line in page.splitlines() if line.startswith(name + "{")]
    return int(float(values[0])) if values else 0


def until(true, what="what was waited for"):
    deadline = time.monotonic() + READY_WAIT_S
    while not true():
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.05)


def connected(gateway, is_so=True):
    until(lambda: metric(gateway, "weir_xmpp_connected") == int(is_so), "the component's stream")
