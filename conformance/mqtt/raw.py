"""MQTT as bytes on a socket: what a test sends is what it says, however wrong; answers are taken apart."""

import socket
import struct
import time

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = range(1, 8)
SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK, PINGREQ, PINGRESP, DISCONNECT, AUTH = range(8, 16)

WAIT_S = 20

KINDS = {
    0x01: "byte", 0x02: "u32", 0x03: "text", 0x08: "text", 0x09: "data", 0x0B: "varint", 0x11: "u32",
    0x12: "text", 0x13: "u16", 0x15: "text", 0x16: "data", 0x17: "byte", 0x18: "u32", 0x19: "byte",
    0x1A: "text", 0x1C: "text", 0x1F: "text", 0x21: "u16", 0x22: "u16", 0x23: "u16", 0x24: "byte",
    0x25: "byte", 0x26: "pair", 0x27: "u32", 0x28: "byte", 0x29: "byte", 0x2A: "byte",
}
NEVER_READ_BYTES = 30 << 20
EXPIRY, CONTENT_TYPE, RESPONSE_TOPIC, CORRELATION, SUBSCRIPTION_ID = 0x02, 0x03, 0x08, 0x09, 0x0B
SESSION_EXPIRY, ASSIGNED_ID, WILL_DELAY, RECEIVE_MAX, ALIAS_MAX, ALIAS = 0x11, 0x12, 0x18, 0x21, 0x22, 0x23
USER, PACKET_MAX, REASON = 0x26, 0x27, 0x1F


def varint(value):
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">H", len(data)) + data


def prop(name, value):
    kind = KINDS[name]
    if kind == "pair":
        return bytes([name]) + text(value[0]) + text(value[1])
    encode = {
        "byte": lambda v: bytes([v]), "u16": lambda v: struct.pack(">H", v),
        "u32": lambda v: struct.pack(">I", v), "varint": varint, "text": text, "data": text,
    }[kind]
    return bytes([name]) + encode(value)


def props(*pairs):
    body = b"".join(prop(name, value) for name, value in pairs)
    return varint(len(body)) + body


def packet(kind, flags, body):
    return bytes([kind << 4 | flags]) + varint(len(body)) + body


def connect(client_id="", clean=True, keep_alive=60, version=5, properties=(), will=None, user=None, password=None):
    """`will` is (topic, payload, qos, retain, properties)."""
    flags = 2 if clean else 0
    if will:
        flags |= 4 | will[2] << 3 | will[3] << 5
    flags |= 0x80 if user is not None else 0
    flags |= 0x40 if password is not None else 0
    body = text("MQTT") + bytes([version, flags]) + struct.pack(">H", keep_alive)
    body += props(*properties) if version == 5 else b""
    body += text(client_id)
    if will:
        body += (props(*will[4]) if version == 5 else b"") + text(will[0]) + text(will[1])
    body += text(user) if user is not None else b""
    body += text(password) if password is not None else b""
    return packet(CONNECT, 0, body)


def publish(topic, payload=b"", qos=0, packet_id=0, retain=False, dup=False, version=5, properties=()):
    body = text(topic) + (struct.pack(">H", packet_id) if qos else b"")
    body += props(*properties) if version == 5 else b""
    return packet(PUBLISH, dup << 3 | qos << 1 | retain, body + (payload if isinstance(payload, bytes) else payload.encode()))


def subscribe(packet_id, *filters, version=5, properties=()):
    """Each filter with its byte of options."""
    body = struct.pack(">H", packet_id) + (props(*properties) if version == 5 else b"")
    return packet(SUBSCRIBE, 2, body + b"".join(text(name) + bytes([options]) for name, options in filters))


def unsubscribe(packet_id, *filters, version=5):
    body = struct.pack(">H", packet_id) + (props() if version == 5 else b"")
    return packet(UNSUBSCRIBE, 2, body + b"".join(map(text, filters)))


def ack(kind, packet_id, code=None):
    body = struct.pack(">H", packet_id) + (bytes([code]) if code is not None else b"")
    return packet(kind, 2 if kind == PUBREL else 0, body)


class Packet:
    """A packet received; `properties` is a list of (identifier, value)."""

    def __init__(self, first, body, version):
        self.kind, self.flags, self.body, self.version = first >> 4, first & 15, body, version
        self.at, self.properties, self.code, self.packet_id = 0, [], None, None
        read = {
            CONNACK: self.connack, PUBLISH: self.publish, SUBACK: self.codes, UNSUBACK: self.codes,
            DISCONNECT: self.disconnect,
        }.get(self.kind)
        if read:
            read()
        elif self.kind in (PUBACK, PUBREC, PUBREL, PUBCOMP):
            self.packet_id = self.u16()
            self.code = self.byte() if self.at < len(body) else 0
            self.read_properties()

    def byte(self):
        self.at += 1
        return self.body[self.at - 1]

    def u16(self):
        self.at += 2
        return struct.unpack_from(">H", self.body, self.at - 2)[0]

    def u32(self):
        self.at += 4
        return struct.unpack_from(">I", self.body, self.at - 4)[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def data(self):
        length = self.u16()
        self.at += length
        return self.body[self.at - length : self.at]

    def text(self):
        return self.data().decode()

    def pair(self):
        return (self.text(), self.text())

    def read_properties(self):
        if self.version != 5 or self.at >= len(self.body):
            return
        length = self.varint()
        end = self.at + length
        while self.at < end:
            name = self.byte()
            self.properties.append((name, getattr(self, KINDS[name])()))

    def property(self, name):
        return next((value for known, value in self.properties if known == name), None)

    def connack(self):
        self.session_present, self.code = self.byte(), self.byte()
        self.read_properties()

    def publish(self):
        self.dup, self.qos, self.retain = bool(self.flags & 8), self.flags >> 1 & 3, bool(self.flags & 1)
        self.topic = self.text()
        if self.qos:
            self.packet_id = self.u16()
        self.read_properties()
        self.payload = self.body[self.at :]

    def codes(self):
        self.packet_id = self.u16()
        self.read_properties()
        self.codes = list(self.body[self.at :])

    def disconnect(self):
        self.code = self.byte() if self.body else 0
        self.read_properties()

    def __repr__(self):
        return f"<{self.kind} {self.flags:x} {self.body!r}>"


class Client:
    """A socket that speaks MQTT as the test says."""

    def __init__(self, address, version=5):
        host, port = address.rsplit(":", 1)
        self.version, self.held = version, b""
        self.socket = socket.create_connection((host, int(port)), timeout=WAIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @classmethod
    def connected(cls, address, client_id="", version=5, **options):
        client = cls(address, version)
        client.send(connect(client_id, version=version, **options))
        client.connack = client.receive()
        assert client.connack.kind == CONNACK and client.connack.code == 0, client.connack
        return client

    def send(self, *packets):
        self.socket.sendall(b"".join(packets))
        return self

    def receive(self, timeout=WAIT_S):
        """The next packet, or None where the peer has closed."""
        self.socket.settimeout(timeout)
        while True:
            whole = self.whole()
            if whole:
                return whole
            try:
                came = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not came:
                return None
            self.held += came

    def whole(self):
        length = shift = 0
        for at in range(1, min(5, len(self.held))):
            byte = self.held[at]
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                end = at + 1 + length
                if len(self.held) < end:
                    return None
                first, body, self.held = self.held[0], self.held[at + 1 : end], self.held[end:]
                return Packet(first, body, self.version)
        return None

    def subscribe(self, *filters, packet_id=1, properties=()):
        """Subscribes and returns the codes; messages that come before them are kept for `messages`."""
        self.send(subscribe(packet_id, *filters, version=self.version, properties=properties))
        early = []
        while True:
            answer = self.receive()
            if answer.kind == SUBACK:
                break
            early.append(answer)
        self.early = early
        return answer.codes

    def publish(self, topic, payload=b"", qos=1, packet_id=1, **options):
        """Publishes and returns the code of the acknowledgment."""
        self.send(publish(topic, payload, qos, packet_id if qos else 0, version=self.version, **options))
        if qos == 0:
            return self.ping()
        answer = self.receive()
        if qos == 2 and answer.code < 0x80:
            self.send(ack(PUBREL, packet_id))
            answer = self.receive()
        return answer.code

    def ping(self):
        """Comes back when all that was sent before has been read."""
        self.send(packet(PINGREQ, 0, b""))
        answer = self.receive()
        assert answer.kind == PINGRESP, answer

    def nothing(self):
        """Nothing was sent before the answer to a ping: whatever is due comes before it."""
        self.send(packet(PINGREQ, 0, b""))
        answer = self.receive()
        return answer.kind == PINGRESP

    def message(self):
        """The next message, acknowledged."""
        early = getattr(self, "early", [])
        came = early.pop(0) if early else self.receive()
        assert came is not None and came.kind == PUBLISH, came
        if came.qos == 1:
            self.send(ack(PUBACK, came.packet_id))
        if came.qos == 2:
            self.send(ack(PUBREC, came.packet_id))
            released = self.receive()
            while released.kind == PUBLISH:
                self.early = [*getattr(self, "early", []), released]
                released = self.receive()
            assert released.kind == PUBREL, released
            self.send(ack(PUBCOMP, came.packet_id))
        return came

    def closed(self):
        """Reads to the end; returns the code of the DISCONNECT or CONNACK before it, None without one."""
        code = None
        while True:
            came = self.receive()
            if came is None:
                return code
            if came.kind in (DISCONNECT, CONNACK):
                code = came.code

    def leave(self, code=0, properties=()):
        body = b"" if not code and not properties else bytes([code]) + props(*properties)
        self.send(packet(DISCONNECT, 0, body if self.version == 5 else b""))
        assert self.receive() is None
        self.socket.close()

    def drop(self):
        """Closes without a word, so that the other side knows at once."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def until(condition, seconds=20):
    """Waits until something that cannot tell is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.02)
