"""Alerts by e-mail, to a real SMTP server (aiosmtpd): plain within the machine, by TLS, with a login."""

import email
import email.policy
import pathlib
import re
import ssl
import tempfile
import time
import unittest

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

import certificate
from gateway import Gateway, NotReady
from ports import free_port

WAIT_S = 60


class Inbox:
    """What came, and who is refused."""

    def __init__(self):
        self.mails, self.busy, self.attempts = [], 0, []

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.attempts.append(mail["Message-ID"])
        if self.busy > 0:
            self.busy -= 1
            return "451 try again later"
        self.mails.append((envelope.rcpt_tos, mail))
        return "250 OK"


class Mailed(unittest.TestCase):
    def listen(self, **options):
        self.inbox = Inbox()
        self.port = free_port()
        controller = Controller(self.inbox, hostname="127.0.0.1", port=self.port, **options)
        controller.start()
        self.addCleanup(controller.stop)

    def serve(self, scheme="smtp", host="127.0.0.1", **more):
        keys = {"topics": "boiler/#", "where": "value>80", "url": f"{scheme}://{host}:{self.port}",
                "from": "weir@example.org", "to": "ops@example.org", **more}
        self.gateway = Gateway(settings={f"alert.hot.{key}": value for key, value in keys.items()})
        self.addCleanup(self.gateway.close)

    def come(self, count):
        deadline = time.monotonic() + WAIT_S
        while len(self.inbox.mails) < count and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(len(self.inbox.mails), count, pathlib.Path(self.gateway.log.name).read_text()[-2000:])
        return self.inbox.mails

    def test_a_mail_is_the_same_when_it_is_sent_again(self):
        self.listen()
        self.serve()
        self.inbox.busy = 1
        self.gateway.publish("boiler/temperature", {"value": 85.5, "unit": "Cel", "time": "2026-01-02T03:04:05Z"})
        [(to, mail)] = self.come(1)
        self.assertEqual((to, mail["From"], mail["To"]), (["ops@example.org"], "weir@example.org", "ops@example.org"))
        self.assertEqual(mail["Subject"], "hot: boiler/temperature is 85.5 Cel")
        first, second = self.inbox.attempts
        self.assertEqual(first, second)
        cursor = re.fullmatch(r"<([0-9a-f]+-[0-9a-f]+)\.hot@example\.org>", first)[1]
        text = mail.get_content()
        self.assertIn("boiler/temperature is 85.5 Cel at 2026-01-02T03:04:05Z", text)
        self.assertIn(cursor, text)

    def test_a_message_of_several_is_one_mail(self):
        self.listen()
        self.serve()
        observations = [{"topic": f"boiler/kessel-\u00fc{at}", "value": 90 + at} for at in range(150)]
        self.gateway.publish("boiler", {"observations": observations})
        [(_, mail)] = self.come(1)
        self.assertEqual(mail["Subject"], "hot: boiler/kessel-\u00fc0 is 90 and 149 more")
        lines = mail.get_content().splitlines()
        self.assertIn("boiler/kessel-\u00fc99 is 189", lines[99])
        self.assertEqual(lines[100], "and 50 more")

    def test_one_recipient_that_is_refused_costs_the_others_nothing(self):
        self.listen()
        self.serve(to="ann@example.org, nobody@example.org, bob@example.org")
        self.gateway.publish_value("boiler/a", 85)
        self.gateway.publish_value("boiler/a", 95)
        self.assertEqual([to for to, _ in self.come(4)], [["ann@example.org"], ["bob@example.org"]] * 2)
        self.assertIn("550", pathlib.Path(self.gateway.log.name).read_text())

    def test_by_tls_from_the_first_byte_and_not_to_a_stranger(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        own, key = certificate.make(pathlib.Path(folder.name))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(own, key)
        self.listen(ssl_context=context)
        self.serve("smtps", "localhost")
        self.gateway.publish_value("boiler/a", 85)
        time.sleep(1)
        self.assertEqual(self.inbox.mails, [])
        self.gateway.kill()
        self.gateway.settings["alert.hot.ca_file"] = str(own)
        self.gateway.start()
        self.come(1)

    def test_with_a_login(self):
        def check(server, session, envelope, mechanism, data):
            is_right = (data.login, data.password) == (b"weir", b"secret")
            return AuthResult(success=is_right, handled=False, message=None if is_right else "535 no")

        self.listen(authenticator=check, auth_required=True, auth_require_tls=False)
        self.serve(user="weir", password="wrong")
        self.gateway.publish_value("boiler/a", 85)
        time.sleep(1)
        self.assertEqual(self.inbox.mails, [])
        self.gateway.kill()
        self.gateway.settings["alert.hot.password"] = "secret"
        self.gateway.start()
        self.come(1)

    def test_what_is_wrong_is_said_with_its_key(self):
        self.port = 25
        with self.assertRaisesRegex(NotReady, r"alert\.hot\.to.*mail addresses"):
            self.serve(to="ops")


if __name__ == "__main__":
    unittest.main()
