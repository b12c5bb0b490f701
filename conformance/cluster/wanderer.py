"""Clients that keep a session and go to the next gateway when their connection breaks.

`Wanderer` is bytes on a socket that keep to the standard; `Paho` is somebody else's, and reads. As a publisher it is no
judge of QoS 2: where two connections break one after the other, paho 2.2.0 sends a PUBLISH again, as if it were new,
whose PUBREL it has sent before, which [MQTT-4.3.3-6] forbids.
"""

import collections
import itertools
import threading
import time

import paho.mqtt.client as paho

from mqtt.raw import (
    CONNACK, DISCONNECT, PINGREQ, PUBCOMP, PUBLISH, PUBREC, PUBREL, SESSION_EXPIRY, SUBACK, Client, ack, connect,
    packet, publish, subscribe,
)

UNDER_WAY_MAX = 10
LOOK_S = 0.02
PATIENCE_S = 2
END_S = 60


class Gone(Exception):
    """The gateway said no more, or said that it has nothing to say."""


class Wanderer:
    """Publishes and takes messages of QoS 2; `take` is called with the payload of each that is new."""

    def __init__(self, gateways, name, filters=(), take=None):
        self.turns, self.name, self.filters, self.take = itertools.cycle(gateways), name, filters, take
        self.waiting = collections.deque()
        self.next_id = 1
        # In the order in which they were sent: what is sent again is, too.
        self.under_way, self.unreleased = {}, set()
        self.sessions, self.refused, self.subscribed = [], [], False
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def publish(self, topic, payload):
        self.waiting.append((topic, payload))

    @property
    def is_done(self):
        return not self.waiting and not self.under_way

    def run(self):
        while not self.stopped.is_set():
            try:
                self.visit(Client(next(self.turns).ready["mqtt"]))
            except (OSError, Gone):
                time.sleep(0.05)

    def visit(self, client):
        with client.socket:
            client.send(connect(self.name, clean=False, keep_alive=2, properties=[(SESSION_EXPIRY, 1000)]))
            self.heard = self.said = time.monotonic()
            while not (answer := self.look(client, alive=False)):
                pass
            if answer.kind != CONNACK or answer.code:
                raise Gone(answer)
            self.sessions.append(answer.session_present)
            self.go_on(client)
            while not self.stopped.is_set():
                self.send_more(client)
                came = self.look(client)
                if came:
                    self.answer(client, came)

    def look(self, client, alive=True):
        """The next packet, or None where there is none yet."""
        now = time.monotonic()
        if now > self.heard + PATIENCE_S or self.stopped.is_set():
            raise Gone
        if alive and now > self.said + PATIENCE_S / 2:
            client.send(packet(PINGREQ, 0, b""))
            self.said = now
        try:
            came = client.receive(LOOK_S)
        except TimeoutError:
            return None
        if came is None or came.kind == DISCONNECT:
            raise Gone
        self.heard = time.monotonic()
        return came

    def go_on(self, client):
        if self.filters and not self.subscribed:
            client.send(subscribe(65535, *[(each, 2) for each in self.filters]))
        for packet_id, message in self.under_way.items():
            again = publish(*message, 2, packet_id, dup=True) if message else ack(PUBREL, packet_id)
            client.send(again)

    def send_more(self, client):
        while self.waiting and len(self.under_way) < UNDER_WAY_MAX:
            packet_id, self.next_id = self.next_id, self.next_id % 65000 + 1
            message = self.under_way[packet_id] = self.waiting.popleft()
            client.send(publish(*message, 2, packet_id))

    def answer(self, client, came):
        of = came.packet_id
        if came.kind == PUBREC:
            if came.code >= 0x80:
                self.refused.append((self.under_way.pop(of, None), came.code))
                return
            if of in self.under_way:
                self.under_way[of] = None
            client.send(ack(PUBREL, of))
        elif came.kind == SUBACK:
            self.subscribed = True
        elif came.kind == PUBCOMP:
            self.under_way.pop(of, None)
        elif came.kind == PUBLISH:
            client.send(ack(PUBREC, of))
            if of not in self.unreleased:
                self.unreleased.add(of)
                self.take(came.payload)
        elif came.kind == PUBREL:
            self.unreleased.discard(of)
            client.send(ack(PUBCOMP, of))

    def start(self):
        self.thread.start()

    def stop(self):
        self.stopped.set()
        self.thread.join(timeout=30)


class Writer(Wanderer):
    """One that publishes numbers behind its name."""

    def __init__(self, gateways, name):
        super().__init__(gateways, name)
        self.count, self.over = 0, threading.Event()
        self.writing = threading.Thread(target=self.write, daemon=True)

    def start(self):
        super().start()
        self.writing.start()

    def write(self):
        while not self.over.wait(0.02):
            # A machine that is busy takes fewer.
            if len(self.waiting) >= UNDER_WAY_MAX:
                continue
            self.publish(f"numbers/{self.name}", f"{self.name} {self.count}")
            self.count += 1

    def end(self):
        """Publishes no more; returns how many there were, once all are acknowledged."""
        self.over.set()
        self.writing.join()
        end = time.monotonic() + END_S
        while not self.is_done:
            assert time.monotonic() < end, f"not all was acknowledged: {len(self.waiting)} wait, {self.under_way}"
            time.sleep(0.1)
        assert not self.refused, self.refused
        return self.count


class Paho:
    """A reader of paho's."""

    def __init__(self, gateways, name, filters, take):
        self.turns, self.filters = itertools.cycle(gateways), filters
        self.sessions, self.subscribed = [], False
        self.client = paho.Client(paho.CallbackAPIVersion.VERSION2, name, clean_session=False)
        self.client.on_connect, self.client.on_subscribe = self.connected, self.noted
        self.client.on_message = lambda _client, _data, message: take(message.payload)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def connected(self, client, _data, flags, code, _properties):
        if code.is_failure:
            return
        self.sessions.append(int(flags.session_present))
        if not self.subscribed:
            client.subscribe([(each, 2) for each in self.filters])

    def noted(self, *_):
        self.subscribed = True

    def run(self):
        while not self.stopped.is_set():
            host, port = next(self.turns).ready["mqtt"].rsplit(":", 1)
            try:
                self.client.connect(host, int(port), keepalive=PATIENCE_S)
                while not self.stopped.is_set() and self.client.loop(0.1) == paho.MQTT_ERR_SUCCESS:
                    pass
            except OSError:
                time.sleep(0.05)

    def start(self):
        self.thread.start()

    def stop(self):
        self.stopped.set()
        self.thread.join(timeout=30)
