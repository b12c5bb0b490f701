"""A gateway under a policy that a test may change, and who its users are.

`OPEN` and `CLOSED` are results that nothing else has, so that the bytes of an answer, whatever its format, tell what
it gave away.
"""

import asyncio
import contextlib
import functools
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse

import aiocoap
import paho.mqtt.client as paho

from gateway import BINARY, Gateway

WAIT_S = 30
OPEN, CLOSED = "314159.25", "271828.75"

ROLES = """
[role.writer]
read = ["site/#"]
publish = ["site/#"]
change = ["site/#"]

[role.reader]
read = ["site/open/#"]

[role.narrow]
publish = ["site/open/#"]

[role.monitor]
read = ["$SYS/#"]

[role.slow]
read = ["site/open/#"]
publish = ["site/#"]
rate = 5
"""


@functools.cache
def token(name, role):
    """A token's secret, and what the policy says of it."""
    made = subprocess.run([BINARY, "token", name, "--role", role], capture_output=True, text=True, check=True)
    return made.stderr.strip().rpartition(" ")[2], made.stdout


def until(holds, what):
    """Waits for something that is to come, as long as a test may wait."""
    ends = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > ends:
            raise AssertionError(f"not within {WAIT_S} s: {what}")
        time.sleep(0.02)


class World:
    """`entries` of the policy by name, of those given too with their roles; `secrets` of its tokens."""

    def __init__(self, roles=ROLES, settings=None, more="", entries=None):
        self.folder = tempfile.TemporaryDirectory(prefix="weir-access-")
        self.path = pathlib.Path(self.folder.name)
        self.file, self.audit = self.path / "policy.toml", self.path / "audit.jsonl"
        self.roles, self.more, self.entries, self.secrets = roles, more, {}, {}
        for name, role in (("writer", "writer"), ("reader", "reader"), ("other", "reader"),
                           ("monitor", "monitor"), ("narrow", "narrow"), ("slow", "slow"), *(entries or {}).items()):
            self.secrets[name], self.entries[name] = token(name, role)
        self.write()
        rules = {"access.policy": str(self.file), "access.audit": str(self.audit)}
        self.gateway = Gateway(settings={**rules, **(settings or {})})

    def close(self):
        self.gateway.close()
        self.folder.cleanup()

    def write(self, text=None):
        """Puts the policy in its place at once, as an editor or a deployment does."""
        fresh = self.path / "policy.new"
        fresh.write_text(text or self.roles + self.more + "".join(self.entries.values()))
        os.replace(fresh, self.file)

    def events(self, kind):
        """Lines of the audit log of a kind."""
        with contextlib.suppress(FileNotFoundError):
            lines = [json.loads(line) for line in self.audit.read_text().splitlines()]
            return [line for line in lines if line["event"] == kind]
        return []

    def change(self, kind="policy-read", text=None, told=True):
        """Changes the policy, and waits until the gateway has read it: told so by a signal, or by itself."""
        before = len(self.events(kind))
        self.write(text)
        if told:
            self.gateway.process.send_signal(signal.SIGHUP)
        until(lambda: len(self.events(kind)) > before, f"{kind} in the audit log")

    def bearer(self, who):
        return {"Authorization": f"Bearer {self.secrets[who]}"} if who else {}

    def ask(self, path, who="reader", method="GET", body=None, headers=None):
        """Status and bytes."""
        fields = {**self.bearer(who), **(headers or {})}
        if isinstance(body, (dict, list)):
            body, fields = json.dumps(body), {"Content-Type": "application/json", **fields}
        status, _, said = self.gateway.request(method, path, body, fields)
        return status, said

    def publish(self, topic, value, who="writer"):
        return self.ask("/live/" + urllib.parse.quote(topic), who, "POST", f'{{"value":{value}}}',
                        {"Content-Type": "application/json"})[0]

    def publish_both(self):
        assert self.publish("site/closed/a", CLOSED) == 204
        assert self.publish("site/open/a", OPEN) == 204

    @contextlib.contextmanager
    def mqtt(self, who, transport="tcp", will=None, client_id=""):
        """A paho client, connected; what came and how it went is at `client.seen`."""
        seen = Seen()
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id, protocol=paho.MQTTv5, transport=transport)
        client.seen = seen
        client.on_connect = lambda _client, _data, _flags, code, _properties: seen.connected.append(code.value)
        client.on_disconnect = lambda _client, _data, _flags, code, _properties: seen.ended.append(code.value)
        client.on_message = lambda _client, _data, message: seen.came.append(message)
        client.on_subscribe = lambda _c, _data, number, codes, _p: seen.acknowledged.append([it.value for it in codes])
        client.on_publish = lambda _c, _data, number, code, _p: seen.acknowledged.append(code.value)
        client.reconnect_delay_set(60, 60)
        if who:
            client.username_pw_set(who, self.secrets[who])
        if will:
            client.will_set(will, CLOSED, 1)
        address = self.gateway.ready["mqtt"] if transport == "tcp" else self.gateway.address
        host, port = address.rsplit(":", 1)
        if transport != "tcp":
            client.ws_set_options("/mqtt")
        client.connect(host, int(port))
        client.loop_start()
        try:
            until(lambda: seen.connected, "CONNACK")
            yield client
        finally:
            client.disconnect()
            client.loop_stop()

    def coap(self, path, who="reader", code=aiocoap.GET, payload=b""):
        """Code and payload of an answer of CoAP."""
        return asyncio.run(self.coap_asked(self.coap_message(path, who, code=code, payload=payload)))

    def coap_message(self, path, who, **parts):
        mark = "&" if "?" in path else "?"
        secret = f"{mark}access_token={self.secrets[who]}" if who else ""
        return aiocoap.Message(uri=f"coap://{self.gateway.ready['coap']}{path}{secret}", **parts)

    async def coap_asked(self, message):
        context = await aiocoap.Context.create_client_context()
        try:
            answer = await asyncio.wait_for(context.request(message).response, WAIT_S)
            return str(answer.code), answer.payload
        finally:
            await context.shutdown()

    def coap_observed(self, path, who, enough, then):
        """Payloads of an observation, of which each is told to `enough`; once it has begun, `then` is done."""
        return asyncio.run(asyncio.wait_for(self.observing(path, who, enough, then), WAIT_S))

    async def observing(self, path, who, enough, then):
        context, came = await aiocoap.Context.create_client_context(), []
        try:
            request = context.request(self.coap_message(path, who, code=aiocoap.GET, observe=0))
            came.append((await request.response).payload)
            await asyncio.to_thread(then)
            async for notified in request.observation:
                came.append(notified.payload)
                if enough(notified.payload):
                    return came
        finally:
            await context.shutdown()


class Seen:
    """What a client of MQTT saw."""

    def __init__(self):
        self.connected, self.ended, self.came, self.acknowledged = [], [], [], []

    def topics(self):
        return {message.topic for message in self.came}


class Follower(threading.Thread):
    """Reads a stream of HTTP to its end; `text` is what came."""

    def __init__(self, world, path, who, accept="text/event-stream"):
        super().__init__(daemon=True)
        self.text, self.is_over = b"", False
        self.connection = world.gateway.connect()
        self.connection.request("GET", path, headers={"Accept": accept, **world.bearer(who)})
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def run(self):
        with contextlib.suppress(OSError):
            while piece := self.response.read1():
                self.text += piece
        self.is_over = True
