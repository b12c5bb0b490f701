"""Being found by multicast, on real sockets: on loopback, at all addresses at once, and over IPv6."""

import json
import pathlib
import socket
import subprocess
import sys
import unittest

from skips import KERNEL, skip

from . import server
from .server import CON, GET, NON, message, parse, path

LEISURE_S = 5
HERE = pathlib.Path(__file__).resolve().parent.parent


class Group:
    """Who asks a group, and gets answers from whoever hears it."""

    def __init__(self, test, group, port):
        self.to = (group, port)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        test.addCleanup(self.socket.close)
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))

    def ask(self, kind, resource, token):
        self.socket.sendto(message(kind, GET, token[0], path(resource), token), self.to)

    def answers(self, wait_s=LEISURE_S + 1):
        """All answers and who sent them, until nothing more comes."""
        self.socket.settimeout(wait_s)
        found = []
        while True:
            try:
                datagram, source = self.socket.recvfrom(65536)
            except TimeoutError:
                return found
            found.append((parse(datagram), source))


class Found(unittest.TestCase):
    def start(self, listen):
        server.start(type(self), **{"coap.multicast": "true", "coap.listen": listen, "coap.listen_tcp": "127.0.0.1:0"})
        # Who answers has joined the groups.
        host, port = self.gateway.ready["coap"].rsplit(":", 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as alone:
            alone.settimeout(30)
            alone.sendto(message(CON, GET, 0, path("test")), (host, int(port)))
            alone.recvfrom(2048)
        return int(port)

    # [RFC7252-8.2-2] [RFC7252-8.2-3] [RFC7252-8.2.1-1]
    def test_a_group_is_answered_by_each_server_alone(self):
        port = self.start("127.0.0.1:0")
        group = Group(self, "224.0.1.187", port)
        tokens = [bytes([number]) for number in range(1, 9)]
        for token in tokens:
            group.ask(NON, ".well-known/core", token)
        found = group.answers()
        self.assertEqual(sorted(answer.token for answer, _ in found), tokens)
        self.assertNotEqual([answer.token for answer, _ in found], tokens, "each waits as long as it drew")
        for answer, source in found:
            self.assertEqual((answer.kind, answer.code), (NON, "2.05"))
            self.assertEqual(source, ("127.0.0.1", port))
            self.assertIn(b"</test>", answer.payload)

    # [RFC7252-8.1-1] [RFC7252-8.1-2]
    def test_errors_are_not_answered_to_a_group(self):
        group = Group(self, "224.0.1.187", self.start("127.0.0.1:0"))
        group.ask(NON, "nothing", b"\x01")
        group.ask(CON, "test", b"\x02")
        group.socket.sendto(b"\x40\x00\x12\x34", group.to)
        group.socket.sendto(b"\x4f\x01\x00\x01", group.to)
        group.ask(NON, "test", b"\x03")
        self.assertEqual([answer.token for answer, _ in group.answers()], [b"\x03"])


class Everywhere(unittest.TestCase):
    # [RFC7252-8.2-3] [RFC7252-5.3.2-2]
    def test_who_listens_everywhere_answers_from_what_was_asked(self):
        command = ["unshare", "-rn", sys.executable, "-m", "coap.everywhere"]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=90, cwd=HERE, check=False)
        except OSError as reason:
            skip(self, f"{KERNEL}network namespaces ({reason})")
        if "unshare" in said.stderr or "Operation not permitted" in said.stderr:
            skip(self, f"{KERNEL}network namespaces ({said.stderr.strip()[-100:]})")
        self.assertEqual(said.returncode, 0, said.stderr)
        found = json.loads(said.stdout)
        self.assertEqual(found["group"], {"kind": NON, "code": "2.05", "from": "10.9.0.1", "port_is_its_own": True})
        self.assertIsNone(found["again"], "one socket answers, however many listen")
        for address, answer in found["alone"].items():
            self.assertEqual(answer["from"], address)
            self.assertEqual((answer["code"], answer["port_is_its_own"]), ("2.05", True))
        for listen, answers in found["v6"].items():
            for group, answer in answers.items():
                self.assertEqual((answer["kind"], answer["code"]), (NON, "2.05"), f"{listen} {group}")
                self.assertTrue(answer["port_is_its_own"])
