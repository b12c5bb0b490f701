"""OSCORE with aiocoap, TLS with libcoap: what is secret, what is refused, what a restart and a new address do."""

import asyncio
import contextlib
import http.client
import importlib.util
import json
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import tomllib
import unittest

import certificate
from gateway import BINARY
from skips import program, skip

from . import server

POLICY = """
[role.device]
publish = ["device/#"]
read = ["device/#"]
[role.viewer]
read = ["device/#"]
[role.public]
read = ["#"]
publish = ["open/#"]
[anonymous]
role = "public"
"""


class Wire(asyncio.DatagramProtocol):
    """Stands between a device and the gateway: records, and goes on from another address."""

    def __init__(self, gateway):
        host, port = gateway.rsplit(":", 1)
        self.gateway = (host, int(port))
        self.device = None
        self.sent = []
        self.received = []
        self.outer = None

    async def start(self):
        loop = asyncio.get_running_loop()
        self.inner, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.inner.get_extra_info("sockname")[1]
        await self.move()

    async def move(self):
        """What an address translation does when it forgot."""
        loop = asyncio.get_running_loop()
        if self.outer:
            self.outer.close()
        self.outer, _ = await loop.create_datagram_endpoint(lambda: Outer(self), remote_addr=self.gateway)

    def datagram_received(self, data, addr):
        self.device = addr
        self.sent.append(data)
        self.outer.sendto(data)

    def close(self):
        self.inner.close()
        self.outer.close()


class Outer(asyncio.DatagramProtocol):
    def __init__(self, wire):
        self.wire = wire

    def datagram_received(self, data, addr):
        self.wire.received.append(data)
        self.wire.inner.sendto(data, self.wire.device)


def ask_raw(address, datagram, attempts=20):
    """A confirmable datagram from an address of its own, sent again until it is answered."""
    host, port = address.rsplit(":", 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.settimeout(1)
        for _ in range(attempts):
            own.sendto(datagram, (host, int(port)))
            with contextlib.suppress(TimeoutError):
                return own.recv(65536)
    return None


class Oscore(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        policy = POLICY + cls.keys("pump", "device") + cls.keys("screen", "viewer")
        cls.keys("stranger", "device")
        policy += cls.keys("writer", "device") + cls.keys("reader", "viewer")
        (cls.folder / "policy.toml").write_text(policy)
        server.start(cls, **{"access.policy": str(cls.folder / "policy.toml")})

    @classmethod
    def keys(cls, name, role):
        """What `weir oscore` prints for the policy file; the device's half is for aiocoap, too."""
        file = cls.folder / f"{name}.keys"
        command = [BINARY, "oscore", name, "--role", role, "--device", str(file)]
        entry = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        half = tomllib.loads(file.read_text())
        folder = cls.folder / name
        folder.mkdir()
        (folder / "settings.json").write_text(
            json.dumps(
                {
                    "secret_hex": half["master_secret"],
                    "salt_hex": half["master_salt"],
                    "sender-id_hex": half["sender_id"],
                    "recipient-id_hex": half["recipient_id"],
                }
            )
        )
        return entry

    async def asyncSetUp(self):
        if not all(map(importlib.util.find_spec, ("aiocoap", "cryptography"))):
            skip(self, "no aiocoap with OSCORE")
        self.wire = Wire(self.gateway.ready["coap"])
        await self.wire.start()
        self.addCleanup(self.wire.close)
        self.url = "coap://" + self.wire.address
        self.topic = "device/" + self._testMethodName

    @contextlib.asynccontextmanager
    async def device(self, name="pump"):
        from aiocoap import Context

        context = await Context.create_client_context()
        context.client_credentials.load_from_dict({f"{self.url}/*": {"oscore": {"basedir": str(self.folder / name) + "/"}}})
        try:
            yield context
        finally:
            await context.shutdown()
            # The lock of the keys goes with its holder.
            for credential in list(context.client_credentials.values()):
                with contextlib.suppress(Exception):
                    credential._destroy()

    async def ask(self, context, code, path, **options):
        from aiocoap import Message

        message = Message(code=code, uri=f"{self.url}{path}", **options)
        return await asyncio.wait_for(context.request(message).response, 30)

    async def put(self, context, value, topic=None):
        from aiocoap import PUT

        path = f"/live/{topic or self.topic}"
        answer = await self.ask(context, PUT, path, payload=str(value).encode(), content_format=0)
        return answer.code.dotted

    def values(self):
        return [entry["value"] for entry in self.gateway.history(self.topic)]

    async def test_a_value_is_put_and_read_and_nobody_else_sees_it(self):
        from aiocoap import GET

        async with self.device() as device:
            self.assertEqual(await self.put(device, 21.5), "2.04")
            got = await self.ask(device, GET, f"/live/{self.topic}", accept=0)
            self.assertEqual((got.code.dotted, got.payload.strip()), ("2.05", b"21.5"))
        self.assertEqual(self.values(), [21.5])
        for datagram in self.wire.sent + self.wire.received:
            for word in (b"21.5", b"live", b"device"):
                self.assertNotIn(word, datagram)

    async def test_keys_give_the_rights_of_their_role(self):
        from aiocoap import GET

        async with self.device() as pump, self.device("screen") as screen:
            self.assertEqual(await self.put(pump, 1), "2.04")
            got = await self.ask(screen, GET, f"/live/{self.topic}", accept=0)
            self.assertEqual(got.payload.strip(), b"1")
            self.assertEqual(await self.put(screen, 2), "4.03")
            self.assertEqual(await self.put(pump, 2, "elsewhere/x"), "4.03")
        clear = server.message(server.CON, server.PUT, 7, server.path(f"live/{self.topic}"), b"t", b"3")
        self.assertEqual(server.code(ask_raw(self.gateway.ready["coap"], clear)), "4.01")
        self.assertEqual(self.values(), [1])

    async def test_keys_have_the_rights_of_their_role_as_it_is_now(self):
        file = self.folder / "policy.toml"
        before = file.read_text()
        (name,) = [part for part in before.split("[oscore.") if part.startswith("writer]")]
        async with self.device("writer") as writer:
            self.assertEqual(await self.put(writer, 1), "2.04")
            await self.change(before.replace(name, name.replace('role = "device"', 'role = "viewer"')))
            self.assertEqual(await self.put(writer, 2), "4.03")
            await self.change(before.replace("[oscore." + name, ""))
            self.assertEqual(await self.put(writer, 3), "4.01")
            await self.change(before)
            self.assertEqual(await self.put(writer, 4), "2.04")
        self.assertEqual(self.values(), [1, 4])

    async def change(self, policy):
        """Puts the policy in its place, and waits until it is read."""
        log = pathlib.Path(self.gateway.log.name)
        told = "the policy was read again"
        before = log.read_text(errors="replace").count(told)
        (self.folder / "policy.toml").write_text(policy)
        self.gateway.process.send_signal(signal.SIGHUP)
        async with asyncio.timeout(30):
            while log.read_text(errors="replace").count(told) == before:
                await asyncio.sleep(0.02)

    async def test_bodies_in_blocks_both_ways(self):
        from aiocoap import GET, PUT

        body = bytes(range(256)) * 20
        async with self.device() as device:
            self.assertTrue((await self.ask(device, PUT, "/large-update", payload=body)).code.is_successful())
            self.assertEqual((await self.ask(device, GET, "/large-update")).payload, body)

    async def test_notifications_follow_each_other(self):
        from aiocoap import GET, Message

        async with self.device() as device:
            await self.put(device, 0, self.topic)
            message = Message(code=GET, uri=f"{self.url}/live/{self.topic}", observe=0, accept=0)
            request = device.request(message)
            first = await asyncio.wait_for(request.response, 30)
            self.assertEqual(first.payload.strip(), b"0")
            notifications = aiter(request.observation)
            for value in (b"1", b"2", b"3"):
                self.assertEqual(await self.put(device, value.decode(), self.topic), "2.04")
                told = await asyncio.wait_for(anext(notifications), 30)
                self.assertEqual(told.payload.strip(), value)
            request.observation.cancel()

    async def test_wrong_keys_are_refused(self):
        async with self.device("stranger") as stranger:
            with self.assertRaises(Exception):
                await self.put(stranger, 66)
        self.assertEqual([server.code(datagram) for datagram in self.wire.received], ["4.01"])
        self.assertEqual(self.values(), [])

    async def test_a_changed_message_is_refused(self):
        async with self.device() as device:
            await self.put(device, 1)
        changed = bytearray(self.wire.sent[-1])
        changed[-1] ^= 1
        self.assertEqual(server.code(ask_raw(self.gateway.ready["coap"], bytes(changed))), "4.00")

    async def test_a_recorded_message_is_not_done_again(self):
        async with self.device() as device:
            await self.put(device, 1)
            recorded = self.wire.sent[-1]
            answered = self.wire.received[-1]
            refused = ask_raw(self.gateway.ready["coap"], recorded)
            self.assertEqual((server.code(refused), server.payload(refused)), ("4.01", b"Replay detected"))
            # From its own address it is a repetition, answered by the same bytes.
            count = len(self.wire.received)
            self.wire.outer.sendto(recorded)
            while len(self.wire.received) == count:
                await asyncio.sleep(0.01)
            self.assertEqual(self.wire.received[-1], answered)
            await self.put(device, 2)
            refused = ask_raw(self.gateway.ready["coap"], recorded)
            self.assertEqual(server.code(refused), "4.01")
        self.assertEqual(self.values(), [1, 2])

    async def test_a_new_address_needs_no_new_beginning(self):
        async with self.device() as device:
            self.assertEqual(await self.put(device, 1), "2.04")
            count = len(self.wire.sent)
            await self.wire.move()
            self.assertEqual(await self.put(device, 2), "2.04")
            self.assertEqual(len(self.wire.sent) - count, 1)
        self.assertEqual(self.values(), [1, 2])

    async def test_a_restart_of_the_gateway_forgets_no_replay(self):
        async with self.device() as device:
            self.assertEqual(await self.put(device, 1), "2.04")
            recorded = self.wire.sent[-1]
            self.gateway.restart()
            challenge = ask_raw(self.gateway.ready["coap"], recorded)
            self.assertEqual(server.code(challenge), "2.04", "outside it looks like any answer")
            self.assertNotEqual(challenge, ask_raw(self.gateway.ready["coap"], recorded))
            self.assertEqual(await self.put(device, 2), "2.04")
            refused = ask_raw(self.gateway.ready["coap"], recorded)
            self.assertEqual(server.code(refused), "4.01")
        self.assertEqual(self.values(), [1, 2])

    async def test_weirs_own_client_talks_so_too(self):
        url, since = f"{self.url}/live", self.gateway.cursor()

        async def run(verb, name, *arguments, text=None):
            command = [BINARY, verb, url, self.topic, "--keys", str(self.folder / f"{name}.keys"), *arguments]
            process = await asyncio.create_subprocess_exec(*command, stdin=-1, stdout=-1, stderr=-1)
            out, err = await asyncio.wait_for(process.communicate(text), 60)
            return process.returncode, out.decode(), err.decode()

        for value in (b"1", b"2"):
            code, _, said = await run("pub", "writer", text=b'{"value":' + value + b"}\n")
            self.assertEqual(code, 0, said)
        self.assertEqual(self.values(), [1, 2])
        code, seen, said = await run("sub", "reader", "--since", since, "--count", "1")
        self.assertEqual(code, 0, said)
        self.assertIn('"value":2', seen)
        code, _, said = await run("pub", "stranger", text=b'{"value":3}\n')
        self.assertIn("Security context not found", said)
        self.assertEqual(code, 1)
        for datagram in self.wire.sent:
            self.assertNotIn(b"value", datagram)


class Tls(unittest.TestCase):
    """coaps+tcp and coaps+ws."""

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        program(cls("test_what_is_put_is_read"), "openssl")
        cls.certificate, key = certificate.make(folder)
        server.start(cls, **{"tls.certificate": cls.certificate, "tls.key": key})
        cls.tls = "coaps+tcp://" + cls.gateway.ready["coaps+tcp"]

    def setUp(self):
        self.topic = "tls/" + self._testMethodName

    def coap(self, client, *arguments):
        command = [program(self, client), "-B", "20", "-R", self.certificate, *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        return ended.stdout.strip()

    def test_what_is_put_is_read(self):
        for client in ("coap-client-openssl", "coap-client-gnutls"):
            self.coap(client, "-m", "put", "-t", "0", "-e", "21.5", f"{self.tls}/live/{self.topic}")
            got = self.coap(client, "-m", "get", "-A", "0", f"{self.tls}/live/{self.topic}")
            # GnuTLS says on standard output, too, what it thinks of the system's certificates.
            self.assertEqual(got.rsplit("\n", 1)[-1], "21.5", client)
        self.assertEqual(len(self.gateway.history(self.topic)), 2)

    def test_large_bodies(self):
        got = self.coap("coap-client-openssl", "-m", "get", f"{self.tls}/large")
        self.assertGreater(len(got), 1024)

    # [RFC8323-8.2-1]
    def test_the_protocol_is_named_in_the_handshake(self):
        """The server's first message is its capabilities."""
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_alpn_protocols(["coap"])
        host, port = self.gateway.ready["coaps+tcp"].rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=10) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as tls:
                self.assertEqual(tls.selected_alpn_protocol(), "coap")
                tls.sendall(b"\x00\xe1")
                self.assertEqual(tls.recv(2)[1], 0xE1)
        context = ssl.create_default_context()
        with socket.create_connection((host, int(port)), timeout=10) as plain:
            with self.assertRaises(ssl.SSLCertVerificationError):
                context.wrap_socket(plain, server_hostname="localhost")

    def test_weirs_own_client_over_tls_and_websocket(self):
        https = self.gateway.ready["https"]
        for url in (self.tls, f"coaps+ws://{https}", f"coap+wss://{https}"):
            command = [BINARY, "pub", f"{url}/live", self.topic, "--cacert", self.certificate]
            ended = subprocess.run(command, input=b'{"value":7}\n', capture_output=True, check=False, timeout=60)
            self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual([entry["value"] for entry in self.gateway.history(self.topic)], [7, 7, 7])

    def test_a_websocket_over_tls(self):
        context = ssl.create_default_context(cafile=self.certificate)
        host, port = self.gateway.ready["https"].rsplit(":", 1)
        connection = http.client.HTTPSConnection("localhost", int(port), context=context, timeout=10)
        connection.request(
            "GET",
            "/.well-known/coap",
            headers={
                "Connection": "Upgrade",
                "Upgrade": "websocket",
                "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Protocol": "coap",
            },
        )
        response = connection.getresponse()
        self.assertEqual((response.status, response.headers["Sec-WebSocket-Protocol"]), (101, "coap"))
        connection.close()
