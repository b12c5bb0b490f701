"""What the tests of this folder share: a gateway, Proton connections to it, and messages."""

import contextlib
import subprocess

from proton import Data, Delivery, Described, Message, symbol
from proton.reactor import Filter, LinkOption
from proton.utils import BlockingConnection

from gateway import BINARY, Gateway

WAIT_S = 15

POLICY = """
[role.publisher]
publish = ["site/#"]
read = ["site/#"]

[role.reader]
read = ["site/open/#"]
"""


def gateway(test, **settings):
    made = Gateway(settings=settings)
    test.addClassCleanup(made.close)
    return made


def token(name, role):
    """A token's secret, and what the policy says of it."""
    made = subprocess.run([BINARY, "token", name, "--role", role], capture_output=True, text=True, check=True)
    return made.stderr.strip().rpartition(" ")[2], made.stdout


@contextlib.contextmanager
def connection(made, listener="amqp", **options):
    opened = BlockingConnection(f"{made.ready[listener]}", timeout=WAIT_S, **options)
    try:
        yield opened
    finally:
        with contextlib.suppress(Exception):
            opened.close()


class Weir(Filter):
    """One of the gateway's own filters: `weir:where`, `weir:since`, `weir:format`."""

    def __init__(self, **values):
        super().__init__({
            symbol(f"weir:{name}"): Described(symbol(f"weir:{name}"), value) for name, value in values.items()
        })


class Mode(LinkOption):
    """Settle modes of a link, as the standard numbers them."""

    def __init__(self, snd=None, rcv=None):
        self.snd, self.rcv = snd, rcv

    def apply(self, link):
        if self.snd is not None:
            link.snd_settle_mode = self.snd
        if self.rcv is not None:
            link.rcv_settle_mode = self.rcv


class Takes(LinkOption):
    """The largest message that a link takes, bytes."""

    def __init__(self, bytes_max):
        self.bytes_max = bytes_max

    def apply(self, link):
        link.max_message_size = self.bytes_max


def text(message):
    body = message.body
    return bytes(body).decode() if isinstance(body, (bytes, memoryview)) else body


def annotation(message, name):
    return (message.annotations or {}).get(symbol(name))


__all__ = ["Data", "Delivery", "Message", "Mode", "Takes", "Weir", "annotation", "connection", "gateway", "symbol", "text", "token"]
