"""A gateway with the plugtests' resources, and raw datagrams to it."""

import collections
import itertools
import socket
import struct

from gateway import Gateway

CON, NON, ACK, RST = range(4)
GET, POST, PUT, DELETE = 1, 2, 3, 4


def start(test_class, **settings):
    """A gateway for all tests of a class."""
    wanted = {"coap.plugtest": "true", **settings}
    test_class.gateway = Gateway(settings=wanted)
    test_class.addClassCleanup(test_class.gateway.close)
    test_class.url = "coap://" + test_class.gateway.ready["coap"]
    test_class.tcp_url = "coap+tcp://" + test_class.gateway.ready["coap+tcp"]
    test_class.ws_url = "coap+ws://" + test_class.gateway.address


def option(delta, value):
    """An option whose difference and length are below 269."""

    def nibble(number):
        return (number, b"") if number < 13 else (13, bytes([number - 13]))

    (first, more), (second, further) = nibble(delta), nibble(len(value))
    return bytes([first << 4 | second]) + more + further + value


def options(pairs):
    out, last = b"", 0
    for number, value in sorted(pairs, key=lambda pair: pair[0]):
        out += option(number - last, value)
        last = number
    return out


def message(kind, code, mid, pairs=(), token=b"", payload=b""):
    """A datagram (RFC 7252 section 3)."""
    head = bytes([0x40 | kind << 4 | len(token), code]) + struct.pack(">H", mid)
    return head + token + options(pairs) + (b"\xff" + payload if payload else b"")


def path(text):
    return [(11, level.encode()) for level in text.strip("/").split("/")]


class Peer:
    """One address that talks to the gateway; `ask` gives what comes back, or None."""

    def __init__(self, gateway, wait_s=1.0):
        host, port = gateway.ready["coap"].rsplit(":", 1)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((host, int(port)))
        self.wait_s = wait_s

    def send(self, datagram):
        self.socket.send(datagram)

    def receive(self, wait_s=None):
        self.socket.settimeout(wait_s or self.wait_s)
        try:
            return self.socket.recv(65536)
        except TimeoutError:
            return None

    def ask(self, datagram, wait_s=None):
        self.send(datagram)
        return self.receive(wait_s)

    def close(self):
        self.socket.close()


def kind(datagram):
    return datagram[0] >> 4 & 3


def code(datagram):
    """As `2.05`."""
    return f"{datagram[1] >> 5}.{datagram[1] & 31:02}"


def mid(datagram):
    return struct.unpack(">H", datagram[2:4])[0]


def payload(datagram):
    return parse(datagram).payload


Answer = collections.namedtuple("Answer", "kind code mid token options payload")


def parse(datagram):
    """A datagram taken apart; options as pairs of number and value."""
    at = 4 + (datagram[0] & 15)
    token, options, number = datagram[4:at], [], 0

    def extended(nibble, at):
        if nibble == 13:
            return datagram[at] + 13, at + 1
        if nibble == 14:
            return struct.unpack(">H", datagram[at : at + 2])[0] + 269, at + 2
        return nibble, at

    while at < len(datagram) and datagram[at] != 0xFF:
        head = datagram[at]
        delta, at = extended(head >> 4, at + 1)
        length, at = extended(head & 15, at)
        number += delta
        options.append((number, datagram[at : at + length]))
        at += length
    return Answer(kind(datagram), code(datagram), mid(datagram), token, options, datagram[at + 1 :])


def values(answer, number):
    """All values of an option."""
    return [value for known, value in answer.options if known == number]


def uint(answer, number):
    """The first value of an option as a number, or None."""
    found = values(answer, number)
    return int.from_bytes(found[0], "big") if found else None


def number_bytes(value):
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def block(number, more, exponent):
    """The value of Block1 and Block2 (RFC 7959 section 2.2)."""
    return number_bytes(number << 4 | more << 3 | exponent)


class Client(Peer):
    """A client with Message IDs of its own that takes answers apart."""

    def __init__(self, gateway):
        super().__init__(gateway, wait_s=5)
        self.mids = itertools.count(0x1200)

    def request(self, method, resource, pairs=(), kind=CON, token=b"tk", payload=b""):
        """Sends a request; its Message ID."""
        mid = next(self.mids)
        self.send(message(kind, method, mid, [*path(resource), *pairs], token, payload))
        return mid

    def next(self, wait_s=None):
        """The next datagram, taken apart, or None."""
        datagram = self.receive(wait_s)
        return None if datagram is None else parse(datagram)

    def exchange(self, method, resource, pairs=(), kind=CON, token=b"tk", payload=b""):
        """A request and its answer, which must have its token, and its Message ID where it is confirmable."""
        mid = self.request(method, resource, pairs, kind, token, payload)
        answer = self.next()
        assert answer is not None, f"no answer from /{resource}"
        assert answer.token == token, answer
        assert answer.kind == (ACK if kind == CON else NON), answer
        assert kind == NON or answer.mid == mid, answer
        return answer

    def acknowledge(self, answer, kind=ACK):
        self.send(message(kind, 0, answer.mid))
