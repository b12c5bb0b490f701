"""Who may do what, over TCP and TLS: Proton against a gateway with rules."""

import pathlib
import re
import socket
import ssl
import tempfile
import unittest

from proton import ConnectionException, Message, SSLDomain
from proton.utils import BlockingConnection, LinkDetached, SendException

import certificate
from amqp.peers import POLICY, connection, gateway, text, token


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory(prefix="weir-policy-")
        cls.addClassCleanup(kept.cleanup)
        folder = pathlib.Path(kept.name)
        made = {"board": token("board", "publisher"), "page": token("page", "reader")}
        (folder / "policy.toml").write_text(POLICY + "".join(entry for _, entry in made.values()))
        cls.secrets = {name: secret for name, (secret, _) in made.items()}
        cls.certificate, key = certificate.make(folder)
        cls.gateway = gateway(cls, **{
            "access.policy": folder / "policy.toml", "tls.certificate": cls.certificate, "tls.key": key,
        })

    def as_user(self, user):
        return connection(self.gateway, user=user, password=self.secrets[user], allow_insecure_mechs=True)

    # [AMQP-5.3.3-1]
    def test_a_user_sends_and_receives(self):
        with self.as_user("board") as peer:
            receiver = peer.create_receiver("site/#", credit=10)
            peer.create_sender("site/a").send(Message(body=b"1", inferred=True))
            self.assertEqual(text(receiver.receive()), "1")
            receiver.accept()

    # [AMQP-5.3.3-2]
    def test_wrong_credentials_and_nobody_are_not_let_in(self):
        for login in [{"user": "board", "password": "wrong", "allow_insecure_mechs": True}, {}]:
            with self.assertRaises(ConnectionException), connection(self.gateway, **login):
                pass

    # [AMQP-2.6.3-1] [AMQP-2.8.15-1]
    def test_what_may_not_be_done_is_refused_link_by_link(self):
        with self.as_user("page") as peer:
            with self.assertRaises(LinkDetached) as refused:
                peer.create_receiver("other/#", credit=1)
            self.assertIn("amqp:unauthorized-access", str(refused.exception))
            with self.assertRaises((LinkDetached, SendException)) as refused:
                peer.create_sender("site/open/a").send(Message(body=b"1", inferred=True))
            self.assertIn("amqp:unauthorized-access", str(refused.exception))
            peer.create_receiver("site/open/#", credit=1)

    def test_a_reader_gets_no_more_than_it_may_read(self):
        with self.as_user("board") as board, self.as_user("page") as page:
            receiver = page.create_receiver("site/#", credit=10)
            sender = board.create_sender(None)
            for topic, body in [("site/shut/a", b"1"), ("site/open/a", b"2")]:
                sender.send(Message(address=topic, body=body, inferred=True))
            got = receiver.receive()
            receiver.accept()
            self.assertEqual((got.address, text(got)), ("site/open/a", "2"))

    # [AMQP-5.2.2-1]
    def test_tls(self):
        domain = SSLDomain(SSLDomain.MODE_CLIENT)
        domain.set_trusted_ca_db(str(self.certificate))
        domain.set_peer_authentication(SSLDomain.VERIFY_PEER)
        address = self.gateway.ready["amqps"]
        peer = BlockingConnection(f"amqps://{address}", timeout=15, ssl_domain=domain,
                                  user="board", password=self.secrets["board"])
        receiver = peer.create_receiver("site/tls", credit=10)
        peer.create_sender("site/tls").send(Message(body=b"1", inferred=True))
        self.assertEqual(text(receiver.receive()), "1")
        peer.close()


# Section 5.3.2: the header, the frames' descriptors and the first codes of an outcome.
SASL = b"AMQP\x03\x01\x00\x00"
OUTCOME = re.compile(rb"\0\x53\x44\xc0..\x50(.)", re.DOTALL)
OK, AUTH = 0, 1


def frame(stream):
    return stream.read(int.from_bytes(stream.read(4), "big") - 4)


class ByCertificate(unittest.TestCase):
    """SASL EXTERNAL: who the client is, its certificate of TLS says."""

    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory(prefix="weir-certificates-")
        cls.addClassCleanup(kept.cleanup)
        cls.folder = folder = pathlib.Path(kept.name)
        cls.own, key = certificate.make(folder)
        clients = certificate.authority(folder)
        for name in ("pump", "stranger"):
            certificate.signed_client(folder, name)
        certificate.authority(folder, "self")
        # Nobody may read something, so that nobody is let in too: as nobody, and not by EXTERNAL.
        policy = POLICY + '[anonymous]\nrole = "reader"\n' + certificate.entry(folder, "pump", "publisher")
        (folder / "policy.toml").write_text(policy)
        cls.gateway = gateway(cls, **{
            "access.policy": folder / "policy.toml", "tls.certificate": cls.own, "tls.key": key, "tls.clients": clients,
        })

    def connect(self, name=None, **options):
        domain = SSLDomain(SSLDomain.MODE_CLIENT)
        domain.set_trusted_ca_db(str(self.own))
        domain.set_peer_authentication(SSLDomain.VERIFY_PEER)
        if name:
            domain.set_credentials(f"{self.folder}/{name}.pem", f"{self.folder}/{name}.key", None)
        address = self.gateway.ready["amqps"]
        peer = BlockingConnection(f"amqps://{address}", timeout=15, ssl_domain=domain, **options)
        self.addCleanup(peer.close)
        return peer

    def send(self, peer):
        peer.create_sender("site/shut/tls").send(Message(body=b"1", inferred=True))

    def external(self, name, act_as=""):
        """What is offered, and the outcome of EXTERNAL as another, which Proton cannot ask for; byte by byte."""
        context = ssl.create_default_context(cafile=self.own)
        if name:
            context.load_cert_chain(f"{self.folder}/{name}.pem", f"{self.folder}/{name}.key")
        host, port = self.gateway.ready["amqps"].rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=15) as tcp, \
                context.wrap_socket(tcp, server_hostname=host) as tls, tls.makefile("rwb") as stream:
            stream.write(SASL)
            stream.flush()
            self.assertEqual(stream.read(8), SASL)
            offered = frame(stream)
            fields = b"\xa3\x08EXTERNAL\xa0" + bytes([len(act_as)]) + act_as.encode()
            body = b"\x02\x01\0\0\0\x53\x41\xc0" + bytes([1 + len(fields), 2]) + fields
            stream.write((4 + len(body)).to_bytes(4, "big") + body)
            stream.flush()
            return offered, OUTCOME.search(frame(stream))[1][0]

    # [AMQP-5.3.3-3]
    def test_a_certificate_that_the_policy_knows_is_its_client(self):
        for options in ({"allowed_mechs": "EXTERNAL"}, {}):
            with self.subTest(options=options):
                peer = self.connect("pump", **options)
                receiver = peer.create_receiver("site/shut/#", credit=10)
                self.send(peer)
                self.assertEqual(text(receiver.receive()), "1")
                receiver.accept()

    # [AMQP-5.3.3-4]
    def test_a_certificate_that_is_not_known_is_not_let_in(self):
        with self.assertRaises(ConnectionException) as refused:
            self.connect("stranger", allowed_mechs="EXTERNAL")
        self.assertIn("amqp:unauthorized-access", str(refused.exception))
        for name, act_as, code in (("pump", "", OK), ("pump", "pump", OK), ("pump", "board", AUTH), ("stranger", "pump", AUTH)):
            with self.subTest(name=name, act_as=act_as):
                offered, got = self.external(name, act_as)
                self.assertIn(b"EXTERNAL", offered)
                self.assertEqual(got, code)

    # [AMQP-5.3.3-5]
    def test_without_a_certificate_it_is_not_offered(self):
        offered, got = self.external(None)
        self.assertNotIn(b"EXTERNAL", offered)
        self.assertEqual(got, AUTH)
        # Nobody is let in as nobody, and so is a certificate that nobody knows.
        for name in (None, "stranger"):
            with self.assertRaises((LinkDetached, SendException)):
                self.send(self.connect(name, allowed_mechs="ANONYMOUS"))

    def test_a_certificate_of_another_authority_ends_the_handshake(self):
        with self.assertRaises(ConnectionException):
            self.connect("self", allowed_mechs="EXTERNAL")
