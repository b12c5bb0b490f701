"""Certificates by ACME from Let's Encrypt's Pebble: given, taken without a start, renewed before they end."""

import contextlib
import http.client
import pathlib
import re
import shutil
import socket
import ssl
import stat
import tempfile
import unittest

from faults.kill import until
from gateway import Gateway, NotReady
from operations.authority import Authority
from ports import free_port

NAMES = ("weir.example", "sensors.weir.example")


class Acme(unittest.TestCase):
    def start(self, authority=None, names=NAMES, **more):
        folder = tempfile.mkdtemp(prefix="weir-acme-kept-")
        self.addCleanup(shutil.rmtree, folder)
        self.storage = pathlib.Path(folder) / "acme"
        settings = {f"tls.acme.domains.{place}": name for place, name in enumerate(names)}
        settings |= {"tls.acme.storage": str(self.storage), "http.listen": f"127.0.0.1:{self.http}"}
        if authority:
            settings |= {"tls.acme.directory": authority.directory, "tls.acme.ca_file": authority.ca}
        gateway = Gateway(settings=settings | {key.replace("__", "."): value for key, value in more.items()})
        self.addCleanup(gateway.close)
        return gateway

    def setUp(self):
        self.http = free_port()

    def shown(self, gateway, listener="https", context=None, name=NAMES[0]):
        """The certificate that a listener shows, checked where there is something to check by."""
        if context is None:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        host, port = gateway.ready[listener].rsplit(":", 1)
        with socket.create_connection((host, int(port))) as tcp, context.wrap_socket(tcp, server_hostname=name) as tls:
            return tls.getpeercert(True)

    def given(self):
        return (self.storage / "certificate.pem").exists()

    def test_every_listener_has_what_the_authority_gave(self):
        authority = Authority(self, self.http, 3600)
        gateway = self.start(authority, tls__acme__contact="ann@example.org")
        self.assertIsNone(until(self.given, "a certificate is given"))
        trusting = authority.trusting(authority.root())

        def taken():
            with contextlib.suppress(ssl.SSLError):
                return [self.shown(gateway, listener, trusting, name)
                        for listener in ("https", "mqtts", "amqps") for name in NAMES]

        self.assertIsNone(until(taken, "every listener has it, for every name"))
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.shown(gateway, "https", trusting, "other.example")
        for path in (self.storage, *self.storage.iterdir()):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)
        ends = re.search(r"^weir_certificate_not_after_seconds (\d+)$",
                         gateway.request("GET", "/metrics")[2].decode(), re.MULTILINE)
        self.assertGreater(int(ends[1]), 1_700_000_000)

    def test_it_is_renewed_in_time_and_no_connection_is_dropped(self):
        authority = Authority(self, self.http, 30)
        gateway = self.start(authority)
        self.assertIsNone(until(self.given, "a certificate is given"))
        host, port = gateway.ready["https"].rsplit(":", 1)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=30)
        connection.connect()
        held, first = connection.sock, (self.storage / "certificate.pem").read_text()
        self.assertIsNone(until(lambda: (self.storage / "certificate.pem").read_text() != first, "it is renewed"))
        before = self.shown(gateway)
        until(lambda: self.shown(gateway) != before, "the new one is shown")
        connection.request("GET", "/health/live")
        self.assertEqual(connection.getresponse().status, 200)
        self.assertIs(connection.sock, held)

    def test_a_start_asks_for_nothing_but_for_other_names(self):
        authority = Authority(self, self.http, 3600)
        gateway = self.start(authority)
        self.assertIsNone(until(self.given, "a certificate is given"))
        before = (self.storage / "certificate.pem").read_text()
        account = (self.storage / "account.json").read_text()
        gateway.restart()
        self.assertIn(ssl.DER_cert_to_PEM_cert(self.shown(gateway)).strip(), before)
        gateway.settings["tls.acme.domains.0"] = "new.weir.example"
        gateway.restart()
        self.assertIsNone(until(lambda: (self.storage / "certificate.pem").read_text() != before, "others are asked for"))
        self.assertEqual((self.storage / "account.json").read_text(), account, "by the account that is there")

    def test_an_authority_that_refuses_is_told_of_only(self):
        authority = Authority(self, self.http, 3600)
        gateway = self.start(authority, names=("blocked.example",))
        log = lambda: pathlib.Path(gateway.log.name).read_text()  # noqa: E731: what it says meanwhile
        self.assertIsNone(until(lambda: "no certificate" in log(), "it says that there is none"))
        self.assertFalse(self.given())
        self.assertTrue(self.shown(gateway), "one of its own is spoken with")
        gateway.publish_value("hall/t", 1)

    def test_who_cannot_prove_the_name_is_given_nothing(self):
        # The authority looks where nobody is.
        authority = Authority(self, free_port(), 3600)
        gateway = self.start(authority)
        log = lambda: pathlib.Path(gateway.log.name).read_text()  # noqa: E731: what it says meanwhile
        said = lambda: "no certificate" in log() and "weir.example" in log() and "refused" in log()  # noqa: E731
        self.assertIsNone(until(said, "it says in the authority's words what was wrong"))
        self.assertFalse(self.given())

    def test_a_name_without_an_authority_is_a_mistake(self):
        with self.assertRaisesRegex(NotReady, "tls.acme.directory"):
            self.start()
