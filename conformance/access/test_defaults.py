"""What a gateway does by itself where nobody said who may do what: it keeps to this machine, or says what it opens."""

import contextlib
import http.client
import pathlib
import subprocess
import tempfile
import unittest

from gateway import BINARY, Gateway, NotReady

EVERYWHERE = "0.0.0.0:0"
OPEN = "everyone who reaches this machine may read and publish everything"
IN_THE_CLEAR = "has no TLS: passwords and tokens cross it readable"
POLICY = """
[role.reader]
read = ["#"]

[token.page]
sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
role = "reader"
"""
NEAR = ("localhost", "127.0.0.1", "[::1]:8080", "gateway")
LISTENERS = ("http", "mqtt", "coap", "amqp")
# A domain that no other suite takes.
DDS = {"dds.domain": "231"}
EVERY_ADDRESS = "its sockets take datagrams at every address"


class Defaults(unittest.TestCase):
    def said(self, listener, policy=None, arguments=("serve",)):
        """What a gateway says in its log that listens to everybody with one listener."""
        with tempfile.TemporaryDirectory() as folder:
            settings = {f"{listener}.listen": EVERYWHERE}
            if policy:
                path = pathlib.Path(folder) / "policy.toml"
                path.write_text(policy)
                settings["access.policy"] = path
            with Gateway(settings=settings, arguments=arguments) as gateway:
                self.assertEqual(gateway.terminate(), 0)
                return pathlib.Path(gateway.log.name).read_text()

    def test_it_does_not_listen_beyond_the_machine_without_a_policy(self):
        for listener in LISTENERS:
            with self.subTest(listener), tempfile.TemporaryDirectory() as folder:
                command = [BINARY, "serve", "--data", folder, "--set", f"{listener}.listen={EVERYWHERE}"]
                others = [f"--set={other}.listen=127.0.0.1:0" for other in LISTENERS if other != listener]
                done = subprocess.run([*command, *others], capture_output=True, text=True, timeout=30)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("0.0.0.0", done.stderr)
                self.assertIn("--open", done.stderr)

    def test_a_page_that_names_itself_by_this_address_is_refused(self):
        settings = {"http.hosts": "weir.example"}
        with Gateway(settings=settings) as gateway:
            answers = {host: self.asked(gateway, host) for host in (*NEAR, "weir.example", "evil.example:8080")}
        self.assertEqual(answers.pop("evil.example:8080"), 421)
        self.assertEqual(set(answers.values()), {200}, answers)

    def test_where_everybody_is_let_in_any_name_is(self):
        with Gateway(arguments=("serve", "--open")) as gateway:
            self.assertEqual(self.asked(gateway, "evil.example"), 200)

    def asked(self, gateway, host):
        """The status of the catalog, asked for at this name."""
        connection = http.client.HTTPConnection(gateway.host, gateway.port, timeout=30)
        with contextlib.closing(connection):
            connection.request("GET", "/catalog", headers={"Host": host})
            return connection.getresponse().status

    def test_it_joins_no_domain_beyond_the_machine_without_a_policy(self):
        with self.assertRaisesRegex(NotReady, "can be reached from other machines.*--open"):
            Gateway(settings={**DDS, "dds.interface": "*"})

    def test_it_joins_one_where_everybody_is_let_in_and_says_so(self):
        with Gateway(settings={**DDS, "dds.interface": "*"}, arguments=("serve", "--open")) as gateway:
            self.assertEqual(gateway.terminate(), 0)
            self.assertIn(OPEN, pathlib.Path(gateway.log.name).read_text())

    def test_it_warns_of_the_ports_of_a_domain_on_the_machine(self):
        with Gateway(settings=DDS) as gateway:
            self.assertEqual(gateway.terminate(), 0)
            said = pathlib.Path(gateway.log.name).read_text()
        self.assertIn(EVERY_ADDRESS, said)
        self.assertIn("UDP ports 65150 to 65399", said)

    def test_it_warns_where_everybody_is_let_in(self):
        for listener in LISTENERS:
            with self.subTest(listener):
                self.assertIn(OPEN, self.said(listener, arguments=("serve", "--open")))

    def test_it_warns_where_secrets_cross_the_network_readable(self):
        for listener in LISTENERS:
            with self.subTest(listener):
                said = self.said(listener, policy=POLICY)
                self.assertIn(IN_THE_CLEAR, said)
                self.assertNotIn(OPEN, said)

    def test_it_warns_of_nothing_on_the_machine_itself(self):
        with Gateway() as gateway:
            gateway.terminate()
            self.assertNotIn("WARN", pathlib.Path(gateway.log.name).read_text())


if __name__ == "__main__":
    unittest.main()
