"""A real `weir serve` as a process: started on free ports, killed, started again on its data and its ports."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import urllib.parse

from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = os.environ.get("WEIR_BIN", str(ROOT / "target/debug/weir"))
READY_WAIT_S = 30
# Every listener that has a port of its own without being asked: suites run side by side.
LISTENERS = {
    f"{name}.{key}": "127.0.0.1:0" for name in ("http", "mqtt", "coap", "amqp") for key in ("listen", "listen_tls")
}


class NotReady(Exception):
    """The gateway ended, or said something else than the line of JSON that was expected."""


def kept(value):
    """A setting, where it is an address at port 0 with a port."""
    return f"{value[:-1]}{free_port()}" if isinstance(value, str) and value.endswith(":0") else value


class Gateway:
    """`settings` are configuration keys, as for `--set`; `arguments` come first. Who is to listen at port 0 gets a port
    that stays its own: started again, it listens where its clients look for it."""

    def __init__(self, data=None, settings=None, arguments=("serve",)):
        self.own = data is None
        self.data = data or tempfile.mkdtemp(prefix="weir-")
        self.settings = {key: kept(value) for key, value in {**LISTENERS, **(settings or {})}.items()}
        self.arguments = list(arguments)
        self.process = None
        self.ready = {}
        self.start()

    def command(self):
        sets = [part for key, value in self.settings.items() for part in ("--set", f"{key}={value}")]
        return [BINARY, *self.arguments, "--data", str(self.data), *sets]

    def start(self):
        self.log = open(pathlib.Path(self.data).parent / f"{pathlib.Path(self.data).name}.log", "ab")
        self.process = subprocess.Popen(
            self.command(), stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL
        )
        line = self.process.stdout.readline()
        try:
            self.ready = json.loads(line)
            self.address = self.ready["http"]
        except (ValueError, KeyError) as reason:
            self.process.kill()
            said = pathlib.Path(self.log.name).read_text(errors="replace")[-2000:]
            raise NotReady(f"no ready line but {line!r}; the log says:\n{said}") from reason
        host, port = self.address.rsplit(":", 1)
        self.host = host.strip("[]")
        self.port = int(port)

    @property
    def url(self):
        return f"http://{self.address}"

    @property
    def ws_url(self):
        return f"ws://{self.address}"

    def kill(self):
        """What a power cut does to the process: no handler runs."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def terminate(self):
        """Asks it to drain and end; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        self.log.close()
        return code

    def restart(self):
        self.kill()
        self.start()

    def close(self):
        if self.process.poll() is None:
            self.kill()
        if self.own:
            shutil.rmtree(self.data, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.unlink(f"{self.data}.log")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # What a device does, with nothing but the standard library.

    def connect(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=30)

    def request(self, method, path, body=None, headers=None, connection=None):
        """Returns status, headers, body."""
        own = connection is None
        connection = connection or self.connect()
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        answer = response.status, response.headers, response.read()
        if own:
            connection.close()
        return answer

    def publish(self, topic, body, content_type="application/json", key=None, connection=None):
        """Publishes; returns once it is acknowledged. Anything but 2xx is an AssertionError."""
        headers = {"Content-Type": content_type}
        if key:
            headers["Idempotency-Key"] = key
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        status, _, said = self.request(
            "POST", "/live/" + urllib.parse.quote(topic), body, headers, connection
        )
        assert 200 <= status < 300, f"{topic}: {status} {said!r}"

    def publish_value(self, topic, value, key=None, connection=None):
        self.publish(topic, {"value": value}, key=key, connection=connection)

    def cursor(self, topic="%23"):
        """Where the log is now, for a reader that is to begin here."""
        _, headers, _ = self.request("GET", f"/live/{topic}", headers={"Accept": "application/json"})
        return headers["Weir-Cursor"]

    def formats(self):
        """The list of formats, as the gateway says it."""
        body = json.loads(self.request("GET", "/formats")[2])
        return body if isinstance(body, list) else body["formats"]

    def history(self, topic, limit=1000):
        """Every observation kept of a topic or filter, oldest first, page by page."""
        query, observations = f"limit={limit}", []
        while True:
            path = f"/history/{urllib.parse.quote(topic)}?{query}"
            status, _, body = self.request("GET", path, headers={"Accept": "application/json"})
            assert status == 200, f"{path}: {status} {body!r}"
            page = json.loads(body)
            observations += page["observations"]
            if not page.get("next"):
                return observations
            query = f"limit={limit}&page=" + urllib.parse.quote(page["next"], safe="")
