"""XMPP as Web pages and Node.js speak it: strophe.js and @xmpp/client through Prosody's own WebSocket (RFC 7395)."""

import json
import pathlib
import subprocess
import unittest

from readers import placed
from skips import program
from xmpp.prosody import USERS, Prosody, metric, until

SCRIPTS = pathlib.Path(__file__).parent.parent / "javascript"
STACKS = ("strophe", "xmpp")
WAIT_S = 30


class Peer:
    """A stack as a process: subscribed once it is made; what it says comes line by line."""

    def __init__(self, test, stack, prosody, user="ann", password=None, node="$as/json/js/#"):
        url = f"ws://127.0.0.1:{prosody.web}/xmpp-websocket"
        command = [program(test, "node"), SCRIPTS / f"{stack}.mjs", url, f"{user}@localhost", password or USERS[user],
                   "weir.localhost", node]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, cwd=SCRIPTS, text=True, bufsize=1, **pipes)
        test.addCleanup(self.close)

    def said(self):
        line = self.process.stdout.readline()
        assert line, self.process.communicate(timeout=WAIT_S)[1]
        return json.loads(line)

    def subscribed(self):
        return self.said()["subscribed"]

    def publish(self, node, value):
        self.process.stdin.write(json.dumps({"to": node, "json": json.dumps({"value": value})}) + "\n")

    def leave(self):
        """Ends it as a user does; one that is killed comes back where the server manages its stream (XEP-0198)."""
        self.process.stdin.close()
        self.process.stdin = None
        return self.ended()

    def ended(self):
        """Its code and what it complains of, once it has ended by itself."""
        said = self.process.communicate(timeout=WAIT_S)[1]
        return self.process.returncode, said

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=WAIT_S)


def value(item):
    return json.loads(item["json"])["observations"][0]["value"]


class Stacks(unittest.TestCase):
    def setUp(self):
        self.prosody = Prosody.of_class(self)
        self.gateway = self.prosody.gateway(self)

    def for_each(self, test, **more):
        for stack in STACKS:
            with self.subTest(stack=stack):
                peer = Peer(self, stack, self.prosody, **more)
                try:
                    test(stack, peer)
                finally:
                    peer.close()

    def test_what_the_gateway_gets_by_http_comes_live_by_xmpp(self):
        def heard(stack, peer):
            peer.subscribed()
            before = self.gateway.cursor()
            for number in range(3):
                self.gateway.publish_value(f"js/{stack}", number + 0.5)
            items = [peer.said() for _ in range(3)]
            self.assertEqual([value(item) for item in items], [0.5, 1.5, 2.5])
            self.assertEqual({item["node"] for item in items}, {f"js/{stack}"})
            self.assertEqual([item["id"] for item in items], placed(self.gateway, f"js/{stack}", before, 3))

        self.for_each(heard)

    def test_what_they_publish_is_kept_and_goes_to_the_other(self):
        one, other = (Peer(self, stack, self.prosody, user) for stack, user in zip(STACKS, USERS, strict=True))
        for peer in (one, other):
            peer.subscribed()
        for at, (publisher, stack) in enumerate(((one, STACKS[0]), (other, STACKS[1])), 1):
            publisher.publish(f"js/{stack}", at)
            # Its answer and its own item, in whichever order.
            said = [publisher.said(), publisher.said()]
            (cursor,) = [line["published"] for line in said if "published" in line]
            (own,) = [line for line in said if "json" in line]
            came = (other if publisher is one else one).said()
            self.assertEqual((came["id"], own["id"]), (cursor, cursor))
            self.assertEqual((value(came), came["node"]), (at, f"js/{stack}"))
            self.assertEqual([row["value"] for row in self.gateway.history(f"js/{stack}")], [at])

    def test_one_that_leaves_is_subscribed_no_longer(self):
        def left(_, peer):
            peer.subscribed()
            self.assertEqual(metric(self.gateway, "weir_xmpp_subscriptions"), 1)
            self.assertEqual(peer.leave(), (0, ""))
            until(lambda: metric(self.gateway, "weir_xmpp_subscriptions") == 0, "the end of its subscription")

        self.for_each(left)

    def test_a_wrong_password_is_refused_by_the_server(self):
        def refused(_, peer):
            code, said = peer.ended()
            self.assertEqual(code, 1)
            self.assertIn("not-authorized", said)

        self.for_each(refused, password="wrong")
