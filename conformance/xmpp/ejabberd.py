"""A real ejabberd as a process, with the listener of docs/guides/xmpp.md, a port and folders of its own."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import certificate
from gateway import Gateway
from ports import free_ports
from skips import program
from xmpp.prosody import GUIDE, SECRET, USERS, answers, connected

START_S = 120
LIBRARIES = "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"


def guide_text():
    """The listener that a user is told to paste."""
    return re.search(r"```yaml\nlisten:\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]


class Ejabberd:
    """ejabberd with the users of USERS and a component for weir; its node has no name, and so needs no port mapper."""

    def __init__(self, test):
        program(test, "ejabberdctl")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ejabberd-"))
        test.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.certificate, key = certificate.make(self.folder)
        both = self.folder / "both.pem"
        both.write_text(pathlib.Path(self.certificate).read_text() + pathlib.Path(key).read_text())
        self.c2s, self.component = free_ports(2)
        guide = guide_text().replace("example.org", "localhost").replace("CHANGE-ME", SECRET)
        assert "port: 5347\n" in guide, guide
        (self.folder / "ejabberd.yml").write_text(f"""
hosts: [localhost]
disable_sasl_mechanisms: [plain]
certfiles: ["{both}"]
listen:
  -
    port: {self.c2s}
    ip: "127.0.0.1"
    module: ejabberd_c2s
    starttls_required: true
{guide.replace("5347", str(self.component))}
modules:
  mod_ping: {{}}
  mod_stream_mgmt: {{}}
""")
        self.process = None
        test.addCleanup(self.stop)
        self.start()

    def start(self):
        environment = os.environ | {
            "HOME": str(self.folder),
            "ERL_LIBS": next(filter(os.path.isdir, LIBRARIES)),
            "ERL_CRASH_DUMP_SECONDS": "0",
            "EJABBERD_CONFIG_PATH": str(self.folder / "ejabberd.yml"),
            "EJABBERD_LOG_PATH": str(self.folder / "ejabberd.log"),
        }
        users = ",".join(f'{{<<"{name}">>,<<"{password}">>}}' for name, password in USERS.items())
        register = f'[ejabberd_auth:try_register(N, <<"localhost">>, P) || {{N, P}} <- [{users}]]'
        self.process = subprocess.Popen(
            ["erl", "-noinput", "-mnesia", "dir", f'"{self.folder}/tables"', "-s", "ejabberd", "-eval", register,
             "-eval", f'ok = file:write_file("{self.folder}/registered", "")'],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + START_S
        is_ready = (self.folder / "registered").exists
        while not is_ready() or not all(map(answers, (self.c2s, self.component))):
            assert self.process.poll() is None, "ejabberd ended"
            assert time.monotonic() < deadline, "ejabberd does not listen"
            time.sleep(0.05)

    def stop(self):
        """Without a word, as a crash."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(20)

    def gateway(self, test, password=SECRET):
        own = {"url": f"xmpp://127.0.0.1:{self.component}", "component": "weir.localhost", "password": password,
               "max_retry_seconds": "1"}
        made = Gateway(settings={f"xmpp.{key}": value for key, value in own.items()})
        test.addCleanup(made.close)
        if password == SECRET:
            connected(made)
        return made

    def url(self, port=None):
        return f"xmpp://ann%40localhost:{USERS['ann']}@127.0.0.1:{port or self.c2s}/weir.localhost"
