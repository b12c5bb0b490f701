"""TLS to a real nats-server, and who it lets in: by password, by certificate, by key."""

import base64
import json
import pathlib
import subprocess
import tempfile
import time
import unittest

import certificate
from cluster.servers import Server, program
from cluster.test_two import history
from gateway import Gateway, NotReady
from ports import free_ports

# First bytes of keys: what begins with S, O, A and U in base32.
SEED, OPERATOR, ACCOUNT, USER = 18 << 3, 14 << 3, 0, 20 << 3


def checksum(body):
    value = 0
    for byte in body:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ (0x1021 if value & 0x8000 else 0)) & 0xFFFF
    return value.to_bytes(2, "little")


def text(body):
    return base64.b32encode(body + checksum(body)).decode().rstrip("=")


def plain(body):
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


class Key:
    """A key pair as `nk -gen` prints it, made with openssl."""

    def __init__(self, folder, kind=USER):
        self.file = tempfile.mktemp(suffix=".der", dir=folder)
        self.openssl("genpkey", "-algorithm", "ed25519", "-outform", "DER", "-out", self.file)
        public = self.openssl("pkey", "-inform", "DER", "-in", self.file, "-pubout", "-outform", "DER")[-32:]
        head = bytes([SEED | kind >> 5, (kind & 31) << 3])
        self.seed = text(head + pathlib.Path(self.file).read_bytes()[-32:])
        self.public = text(bytes([kind]) + public)

    @staticmethod
    def openssl(*command):
        return subprocess.run(["openssl", *command], check=True, capture_output=True).stdout

    def token(self, subject, name, nats):
        """A token of NATS about another key or itself, signed."""
        said = {"jti": name, "iat": int(time.time()), "iss": self.public, "name": name, "sub": subject.public}
        said["nats"] = nats
        parts = ({"typ": "JWT", "alg": "ed25519-nkey"}, said)
        body = ".".join(plain(json.dumps(part).encode()) for part in parts)
        with tempfile.NamedTemporaryFile() as file:
            pathlib.Path(file.name).write_text(body)
            key = ("-keyform", "DER", "-inkey", self.file)
            signed = self.openssl("pkeyutl", "-sign", "-rawin", *key, "-in", file.name)
        return f"{body}.{plain(signed)}"


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weir-nats-tls-"))
        cls.ca = certificate.authority(cls.folder)
        cls.other = certificate.authority(cls.folder, "other")
        cls.cert, cls.key = certificate.signed(cls.folder, "server", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        cls.client_cert, cls.client_key = certificate.signed_client(cls.folder, "gateway")

    def server(self, *lines, verify=False, tls=True, pair=None):
        """A nats-server that wants TLS, with these lines of its configuration."""
        cert, key = pair or (self.cert, self.key)
        both = f'cert_file: "{cert}", key_file: "{key}", ca_file: "{self.ca}"'
        secure = [f"tls {{ {both}, verify: {str(verify).lower()} }}"] if tls else []
        ports = free_ports(3)
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="weir-nats-"))
        made = Server(program(self), folder, "n0", ports, more=[*secure, *lines])
        self.addCleanup(made.close)
        return made

    def settings(self, server, login="", scheme="tls", host="127.0.0.1", **others):
        return {"bus.url": f"{scheme}://{login}{host}:{server.port}", "bus.ca_file": self.ca, **others}

    def refusal(self, settings):
        """Why a gateway does not start: what it says of it."""
        with self.assertRaises(NotReady) as refused:
            Gateway(settings={key: value for key, value in settings.items() if value})
        return str(refused.exception)

    def works(self, settings):
        with Gateway(settings=settings) as one, Gateway(settings=settings) as other:
            # A topic of its own each time, as the stream stays.
            topic = f"hall/{time.monotonic_ns()}"
            for number in range(300):
                one.publish_value(f"{topic}/tls", number)
            body = "x" * 500_000
            status, _, said = one.request("POST", f"/live/{topic}/text", body, {"Content-Type": "text/plain"})
            self.assertLess(status, 300, said)
            # Who was acknowledged there has what stands before it.
            other.publish_value(f"{topic}/mark", 1)
            self.assertEqual(history(other, f"{topic}/tls"), list(range(300)))
            self.assertEqual(history(other, f"{topic}/text"), [body])

    def test_what_is_published_goes_over_tls_and_comes_back(self):
        server = self.server()
        self.works(self.settings(server))
        self.works(self.settings(server, scheme="nats", host="localhost"))

    def test_a_connection_with_tls_outlives_a_killed_server(self):
        server = self.server()
        with Gateway(settings=self.settings(server)) as gateway:
            gateway.publish_value("hall/again", 1)
            server.kill()
            server.start()
            gateway.publish_value("hall/again", 2)
            self.assertEqual(history(gateway, "hall/again"), [1, 2])

    def test_a_certificate_of_another_authority_names_the_file(self):
        server = self.server()
        said = self.refusal(self.settings(server, **{"bus.ca_file": self.other}))
        self.assertRegex(said, r"its certificate leads to no authority in \S*other.pem \(bus.ca_file\)")
        said = self.refusal(self.settings(server, **{"bus.ca_file": ""}))
        self.assertIn("leads to no authority in the Web's authorities (bus.ca_file is not set)", said)
        said = self.refusal(self.settings(server, **{"bus.ca_file": f"{self.folder}/none.pem"}))
        self.assertIn("none.pem: No such file", said)

    def test_a_certificate_of_another_host_names_the_host(self):
        pair = certificate.signed(self.folder, "elsewhere", "subjectAltName=DNS:elsewhere")
        said = self.refusal(self.settings(self.server(pair=pair)))
        self.assertIn("its certificate is not for `127.0.0.1`, the host in bus.url", said)

    def test_tls_on_one_side_only_says_what_to_set(self):
        server = self.server()
        said = self.refusal(self.settings(server, scheme="nats", **{"bus.ca_file": ""}))
        self.assertIn("it wants TLS: say tls:// in bus.url", said)
        plain = self.server(tls=False)
        said = self.refusal(self.settings(plain))
        self.assertIn("asks for TLS, and it has none", said)

    def test_who_shows_a_certificate_is_let_in_and_others_told_to(self):
        server = self.server(verify=True)
        shown = {"bus.certificate": self.client_cert, "bus.key": self.client_key}
        self.works(self.settings(server, **shown))
        said = self.refusal(self.settings(server))
        self.assertIn("it may want a certificate (bus.certificate, bus.key)", said)
        said = self.refusal(self.settings(server, **{"bus.certificate": self.client_cert}))
        self.assertIn("bus.key", said)

    def test_a_wrong_password_is_told_without_being_shown(self):
        server = self.server('authorization { user: "weir", password: "a b@c" }')
        self.works(self.settings(server, login="weir:a%20b%40c@"))
        for login, what in [("weir:wr0ng@", "the name and the password in bus.url"), ("", "a client without a login")]:
            said = self.refusal(self.settings(server, login=login))
            self.assertIn(f"it does not take {what}", said)
            self.assertNotIn("wr0ng", said)

    def test_a_key_signs_what_the_server_greets_with(self):
        right, wrong = Key(self.folder), Key(self.folder)
        server = self.server(f"authorization {{ users: [ {{ nkey: {right.public} }} ] }}")
        for name, value in [("right.nk", right.seed), ("wrong.nk", wrong.seed), ("none.nk", "SUABC")]:
            pathlib.Path(self.folder, name).write_text(value + "\n")
        self.works(self.settings(server, **{"bus.credentials": f"{self.folder}/right.nk"}))
        said = self.refusal(self.settings(server, **{"bus.credentials": f"{self.folder}/wrong.nk"}))
        self.assertIn("it does not take the key of bus.credentials", said)
        said = self.refusal(self.settings(server, **{"bus.credentials": f"{self.folder}/none.nk"}))
        self.assertIn("expected the seed of a user's key", said)

    def test_a_credentials_file_lets_in_whom_an_account_vouches_for(self):
        kinds = (OPERATOR, ACCOUNT, ACCOUNT, USER)
        operator, account, system, user = (Key(self.folder, kind) for kind in kinds)
        rest = "subs data payload imports exports conn leaf mem_storage disk_storage streams consumer"
        limits = {**dict.fromkeys(rest.split(), -1), "wildcards": True}
        of_operator = operator.token(operator, "operator", {"type": "operator", "version": 2})
        of_account = operator.token(account, "account", {"limits": limits, "type": "account", "version": 2})
        # JetStream is not for the system's own account.
        bare = {**limits, **dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), 0)}
        of_system = operator.token(system, "system", {"limits": bare, "type": "account", "version": 2})
        nats = {"pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2}
        of_user = account.token(user, "user", nats)
        server = self.server(
            f"operator: {of_operator}",
            f"system_account: {system.public}",
            "resolver: MEMORY",
            f"resolver_preload: {{ {account.public}: {of_account}, {system.public}: {of_system} }}",
        )
        file = pathlib.Path(self.folder, "user.creds")
        file.write_text(
            f"-----BEGIN NATS USER JWT-----\n{of_user}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n"
        )
        self.works(self.settings(server, **{"bus.credentials": str(file)}))
        said = self.refusal(self.settings(server))
        self.assertIn("it does not take a client without a login", said)
