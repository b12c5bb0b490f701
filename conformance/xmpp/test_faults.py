"""What goes wrong between the gateway, its server and clients: nothing is lost silently, and each pays for itself."""

import json
import os
import signal
import socket
import subprocess
import threading
import unittest

from gateway import BINARY, Gateway
from xmpp.client import PUBSUB, SERVICE, Client, Refused
from xmpp.prosody import USERS, Prosody, connected, metric, until

# What `weir sub` logs when its stream is resumed.
GOES_ON = "goes on where it was"


class Restarts(unittest.TestCase):
    def setUp(self):
        self.prosody = Prosody(self)
        self.gateway = self.prosody.gateway(self)

    # [XEP0114-3-1] [XEP0199-4-1]
    def test_a_server_that_was_away_gets_what_came_meanwhile(self):
        ann = Client(self, self.prosody)
        ann.subscribe("$as/json/a/b", jid="ann@localhost")
        self.prosody.stop()
        connected(self.gateway, False)
        self.gateway.publish_value("a/b", 1)
        # The gateway comes back once ann is there: what is said to her while she is away, Prosody drops.
        self.gateway.process.send_signal(signal.SIGSTOP)
        self.prosody.start()
        again = Client(self, self.prosody)
        again.send("<presence/>")
        again.ask("get", "<ping xmlns='urn:xmpp:ping'/>", service="localhost")
        self.gateway.process.send_signal(signal.SIGCONT)
        connected(self.gateway)
        self.gateway.publish_value("a/b", 2)
        values = [json.loads(again.next().text)["observations"][0]["value"] for _ in range(2)]
        self.assertEqual(values, [1, 2])

    # [RFC6120-4.9-2]
    def test_a_wrong_secret_is_said_and_the_gateway_serves_on(self):
        self.gateway.close()
        wrong = Gateway(settings=self.prosody.settings(password="wrong"))
        self.addCleanup(wrong.close)
        until(lambda: "refuses" in self.prosody.log_of(wrong), "the refusal")
        wrong.publish_value("a/b", 1)
        self.assertEqual(len(wrong.history("a/b")), 1)


class Neighbours(unittest.TestCase):
    """All users share the component's stream."""

    # [RFC6120-13.12-1]
    def test_what_is_over_a_limit_is_refused_alone_on_its_stream(self):
        prosody = Prosody.of_class(self)
        gateway = prosody.gateway(self)
        ann, bob = Client(self, prosody), Client(self, prosody, "bob")
        bob.subscribe("a/b")
        attributes = " ".join(f"a{at}=''" for at in range(300))
        over = {
            "deep": "<a>" * 130 + "</a>" * 130,
            "wide": f"<a {attributes}/>",
            "many": "<a/>" * 50_000,
        }
        for name, inner in over.items():
            with self.subTest(name), self.assertRaises(Refused) as refused:
                ann.ask("get", f"<query xmlns='urn:x'>{inner}</query>")
            self.assertEqual(refused.exception.args[0], "not-acceptable", name)
        quotes = "'" * 200_000
        # Prosody takes a quarter of a mebibyte, and writes each quote as six bytes.
        ann.send(f"<message to='{SERVICE}'><body>{quotes}</body></message>")
        ann.publish_value("a/b", 1)
        self.assertEqual(bob.next().node, "a/b")
        self.assertEqual(metric(gateway, "weir_xmpp_refused_total"), 3)
        self.assertEqual(metric(gateway, "weir_xmpp_skipped_total"), 4)
        self.assertEqual(prosody.log_of(gateway).count("is connected"), 1)


class Relay:
    """TCP passed on, until it is cut: what a client's network does to it."""

    def __init__(self, test, port):
        self.target, self.pairs = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        test.addCleanup(self.listener.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            self.pairs.append((near, far))
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.copy, args=(source, sink), daemon=True).start()

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass

    def cut(self):
        for pair in self.pairs:
            for end in pair:
                end.shutdown(socket.SHUT_RDWR)
                end.close()
        self.pairs = []


class OwnClient(unittest.TestCase):
    """`weir pub` and `weir sub` against Prosody."""

    def setUp(self):
        self.prosody = Prosody.of_class(self)
        self.gateway = self.prosody.gateway(self)

    def weir(self, *arguments, **more):
        command = [BINARY, arguments[0], "--cacert", self.prosody.certificate, *arguments[1:]]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, **more)

    def subscriber(self, url, *arguments):
        command = [BINARY, "sub", "--cacert", self.prosody.certificate, url, *arguments]
        environment = os.environ | {"RUST_LOG": "info"}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

        def end():
            if process.poll() is None:
                process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def await_subscription(self, node):
        """Until Prosody's own service lists one; gives who asked."""
        ann = Client(self, self.prosody)
        subscriptions = f"<pubsub xmlns='{PUBSUB[1:-1]}#owner'><subscriptions node='{node}'/></pubsub>"
        until(lambda: len(list(ann.ask("get", subscriptions, "pubsub.localhost").iter())) > 2, "the subscription")
        return ann

    # [RFC6120-5.4-1] [RFC6120-7.6-1] [XEP0368-3-1] [RFC6120-8.1-1]
    def test_messages_go_both_ways_by_starttls_and_by_direct_tls(self):
        for scheme in ("xmpp", "xmpps"):
            url = self.prosody.url(scheme=scheme)
            cursor = self.gateway.cursor()
            done = self.weir("pub", url, f"{scheme}/t", "--as", "plain", input="1.5\n2.5\n")
            self.assertEqual(done.returncode, 0, done.stderr)
            got = self.weir("sub", url, f"{scheme}/#", "--since", cursor, "--count", "2")
            values = [json.loads(line)["observations"][0]["value"] for line in got.stdout.splitlines()]
            self.assertEqual(values, [1.5, 2.5], got.stderr)

    # [RFC6120-6.4-1]
    def test_a_wrong_password_or_service_is_said(self):
        wrong = self.weir("sub", self.prosody.url(password="no"), "a")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("not-authorized", wrong.stderr)
        nobody = self.weir("sub", self.prosody.url(service="nobody.localhost"), "a")
        self.assertIn("no publish-subscribe service", nobody.stderr)

    # [RFC6120-13.7-1]
    def test_a_server_with_a_doubtful_certificate_gets_no_password(self):
        command = [BINARY, "sub", self.prosody.url(), "a"]
        got = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(got.returncode, 1)
        self.assertIn("certificate", got.stderr)

    # [XEP0198-5-1] [XEP0198-3-1]
    def test_a_stream_that_breaks_off_is_resumed_whole(self):
        relay = Relay(self, self.prosody.c2s)
        url = self.prosody.url().replace(str(self.prosody.c2s), str(relay.port))
        reader = self.subscriber(url, "a/b", "--since", self.gateway.cursor(), "--count", "6")
        self.gateway.publish_value("a/b", 0)
        lines = [reader.stdout.readline()]
        relay.cut()
        for at in range(1, 6):
            self.gateway.publish_value("a/b", at)
        lines += [reader.stdout.readline() for _ in range(5)]
        values = [json.loads(line)["observations"][0]["value"] for line in lines]
        self.assertEqual(values, list(range(6)))
        self.assertIn(GOES_ON, reader.communicate(timeout=30)[1])

    # [XEP0198-5-1]
    def test_a_resumed_stream_misses_nothing_without_cursors(self):
        relay = Relay(self, self.prosody.c2s)
        own = self.prosody.url(service="pubsub.localhost")
        made = self.weir("pub", own, "r", "--as", "json", input='{"value":-1}\n')
        self.assertEqual(made.returncode, 0, made.stderr)
        url = own.replace(str(self.prosody.c2s), str(relay.port))
        reader = self.subscriber(url, "r", "--count", "6")
        self.await_subscription("r")
        lines = "".join(f'{{"value":{at}}}\n' for at in range(6))
        self.weir("pub", own, "r", "--as", "json", input=lines[:12])
        got = [reader.stdout.readline()]
        relay.cut()
        self.weir("pub", own, "r", "--as", "json", input=lines[12:])
        out, err = reader.communicate(timeout=30)
        values = [json.loads(line)["value"] for line in got + out.splitlines()]
        self.assertEqual(values, list(range(6)), err)
        self.assertIn(GOES_ON, err)

    def test_a_stream_that_cannot_go_on_begins_at_the_cursor(self):
        reader = self.subscriber(self.prosody.url(), "a/b", "--since", self.gateway.cursor(), "--count", "3")
        self.gateway.publish_value("a/b", 0)
        lines = [reader.stdout.readline()]
        self.prosody.stop()
        self.gateway.publish_value("a/b", 1)
        self.prosody.start()
        connected(self.gateway)
        self.gateway.publish_value("a/b", 2)
        lines += [reader.stdout.readline() for _ in range(2)]
        values = [json.loads(line)["observations"][0]["value"] for line in lines]
        self.assertEqual(values, [0, 1, 2])

    def test_who_has_had_nothing_yet_misses_nothing_either(self):
        reader = self.subscriber(self.prosody.url(), "a/#", "b/#", "--count", "2")
        until(lambda: metric(self.gateway, "weir_xmpp_subscriptions") == 2, "the subscriptions")
        self.gateway.publish_value("a/b", 0)
        lines = [reader.stdout.readline()]
        self.prosody.stop()
        self.gateway.publish_value("b/c", 1)
        self.prosody.start()
        lines += [reader.stdout.readline()]
        values = [json.loads(line)["observations"][0]["value"] for line in lines]
        self.assertEqual(values, [0, 1])

    def test_at_another_service_a_poison_item_is_set_aside(self):
        url = self.prosody.url(service="pubsub.localhost")
        made = self.weir("pub", url, "t", "--as", "json", input='{"value":1}\n')
        self.assertEqual(made.returncode, 0, made.stderr)
        reader = self.subscriber(url, "t", "--count", "1")
        ann = self.await_subscription("t")
        for payload in ("<bad xmlns='urn:x'/>", "<json xmlns='urn:xmpp:json:0'>{\"value\":2}</json>"):
            ann.ask("set", "<pubsub xmlns='http://jabber.org/protocol/pubsub'><publish node='t'><item>"
                    f"{payload}</item></publish></pubsub>", "pubsub.localhost")
        out, err = reader.communicate(timeout=30)
        self.assertEqual(json.loads(out)["value"], 2)
        self.assertIn("set aside", err)


class Scram(unittest.TestCase):
    """Logins that send no password, at servers that take no other."""

    # [RFC5802-5.1-1] [RFC6120-6.3-1]
    def test_it_is_spoken_with_each_hash(self):
        for kept, refused in [("SHA-1", '"PLAIN"'), ("SHA-256", '"PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-1-PLUS"')]:
            with self.subTest(kept):
                logins = (f'authentication = "internal_hashed"\npassword_hash = "{kept}"\n'
                          f"disable_sasl_mechanisms = {{ {refused} }}")
                prosody = Prosody(self, more=logins)
                gateway = prosody.gateway(self)
                cursor = gateway.cursor()

                def weir(verb, password, *arguments):
                    command = [BINARY, verb, "--cacert", prosody.certificate, prosody.url(password=password)]
                    return subprocess.run(
                        [*command, *arguments], input="1.5\n", capture_output=True, text=True, timeout=60)

                wrong = weir("pub", "no", "a/b", "--as", "plain")
                self.assertIn("not-authorized", wrong.stderr)
                done = weir("pub", USERS["ann"], "a/b", "--as", "plain")
                self.assertEqual(done.returncode, 0, done.stderr)
                got = weir("sub", USERS["ann"], "a/b", "--since", cursor, "--count", "1")
                self.assertEqual(json.loads(got.stdout)["observations"][0]["value"], 1.5, got.stderr)
