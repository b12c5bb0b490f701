"""Who may do what, over TCP and TLS: Proton against a gateway with rules."""

import pathlib
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
            "http.listen_tls": "127.0.0.1:0", "mqtt.listen_tls": "127.0.0.1:0",
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
