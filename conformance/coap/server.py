"""A gateway with the plugtests' resources, and raw datagrams to it."""

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
    return datagram.split(b"\xff", 1)[1] if b"\xff" in datagram else b""
