"""Attacks on the gateway's memory in a control group of 512 MiB: it lives, and another client goes on.

Each takes `WEIR_ATTACK_S` seconds (5; for ten minutes: `WEIR_ATTACK_S=600 python -m faults -k Attacks`).
"""

import http.client
import json
import os
import statistics
import time
import unittest

from faults.attack import Attack, amqp_part, asks, asks_by_http2, coap_part, mqtt_part, websocket_part
from faults.memory import Group, Small

MEMORY = 512 << 20
ATTACK_S = float(os.environ.get("WEIR_ATTACK_S", "5"))
USUAL_S = min(ATTACK_S, 10) / 2 + 1
OBSERVATIONS = 12_000
ALL = "/sta/v1.1/Observations?$top=10000"
SOAP = (
    b'<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body>'
    b'<GetObservations xmlns="urn:weir:observations"/></s:Body></s:Envelope>'
)


class Attacks(unittest.TestCase):
    def setUp(self):
        self.group = Group(self, MEMORY)
        self.gateway = Small(self.group)
        self.addCleanup(self.gateway.close)
        rows = [
            {"topic": f"site/a/{n % 40}", "time": f"2026-01-{1 + n // 1440:02}T{n // 60 % 24:02}:{n % 60:02}:00Z", "value": n}
            for n in range(OBSERVATIONS)
        ]
        for at in range(0, OBSERVATIONS, 2000):
            body = json.dumps({"observations": rows[at:at + 2000]})
            fields = {"Content-Type": "application/json"}
            status, _, said = self.gateway.request("POST", "/live/site/a", body, fields)
            self.assertEqual(status, 204, said)
        self.assertEqual(self.gateway.request("GET", ALL)[0], 200)
        self.number = 0

    def go_on(self, seconds):
        """Publishes and reads as an ordinary client; how long each took, and what was refused."""
        taken, refused, connection = [], [], self.gateway.connect()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.number += 1
            for method, path, body, good in (
                ("POST", "/live/other/x", str(self.number), 204),
                ("GET", "/live/other/x", None, 200),
                ("GET", "/history/other/x?limit=20", None, 200),
            ):
                began = time.monotonic()
                try:
                    status, _, said = self.gateway.request(method, path, body, connection=connection)
                except (OSError, http.client.HTTPException) as reason:
                    status, said, connection = 0, str(reason), self.gateway.connect()
                taken.append(time.monotonic() - began)
                if status != good:
                    refused.append((method, path, status, said[:80]))
            time.sleep(0.02)
        return taken, refused

    def outlives(self, *attacks):
        usual, _ = self.go_on(USUAL_S)
        for attack in attacks:
            self.enterContext(attack)
        taken, refused = self.go_on(ATTACK_S)
        ratio = statistics.quantiles(taken, n=100)[98] / statistics.quantiles(usual, n=100)[98]
        opened, cut = (sum(of.opened.value for of in attacks), sum(of.cut.value for of in attacks))
        print(
            f"at most {self.group.most() >> 20} MiB of {MEMORY >> 20}, {opened} attacked, {cut} cut off; another's p99 "
            f"times {ratio:.1f}, {len(refused)} of {len(taken)} refused {refused[:2]}", flush=True,
        )
        self.assertGreater(opened, 0)
        self.assertIsNone(self.gateway.process.poll(), "it was killed")
        self.assertEqual([one for one in refused if one[0] == "POST"], [], "who publishes goes on")
        last = self.gateway.request("GET", "/live/other/x")[2]
        self.assertEqual(json.loads(last)["observations"][0]["value"], self.number)

    def http_address(self):
        return self.gateway.host, self.gateway.port

    def address(self, listener):
        host, port = self.gateway.ready[listener].rsplit(":", 1)
        return host, int(port)

    def test_many_ask_for_much_and_read_nothing(self):
        self.outlives(Attack(self.http_address(), 400, asks(ALL)))

    def test_answers_of_every_service_that_nobody_reads(self):
        sos = "/sos?service=SOS&version=2.0.0&request=GetObservation"
        paths = ["/history/site/%23?limit=10000", "/catalog", "/live/site/%23?wait=0", sos,
                 "/sta/v1.1/Datastreams?$expand=Observations"]
        attacks = [Attack(self.http_address(), 80, asks(path, times=20)) for path in paths]
        soap = asks("/soap/observations", "POST", SOAP, "Content-Type: application/soap+xml\r\n", 20)
        self.outlives(*attacks, Attack(self.http_address(), 80, soap))

    def test_the_past_that_nobody_reads(self):
        """All that was published since the beginning: as one answer, and as events."""
        events = asks("/live/site/%23?since=1-0", fields="Accept: text/event-stream\r\n")
        self.outlives(
            Attack(self.http_address(), 200, asks("/live/site/%23?since=1-0", times=16)),
            Attack(self.http_address(), 200, events),
        )

    def test_streams_of_http2_whose_windows_stay_shut(self):
        self.outlives(Attack(self.http_address(), 10, asks_by_http2(ALL, 200)))

    def test_batches_whose_answers_nobody_reads(self):
        asked = [{"id": str(n), "method": "get", "url": "Observations?$top=1000"} for n in range(12)]
        body = json.dumps({"requests": asked}).encode()
        batch = asks("/sta/v1.1/$batch", "POST", body, "Content-Type: application/json\r\n", 4)
        self.outlives(Attack(self.http_address(), 200, batch))

    def test_short_answers_that_nobody_reads(self):
        self.outlives(Attack(self.http_address(), 400, asks("/formats", times=1000)))

    def test_parts_of_messages_of_coap(self):
        self.outlives(Attack(self.address("coap+tcp"), 400, coap_part(16 << 20, 1_900_000)))

    def test_parts_of_packets_of_mqtt(self):
        address = self.address("mqtt")
        self.outlives(
            Attack(address, 400, mqtt_part(2 << 20, 1_900_000)),
            Attack(address, 400, mqtt_part(250 << 10, 240 << 10, connected=False)),
        )

    def test_parts_of_deliveries_of_amqp(self):
        self.outlives(Attack(self.address("amqp"), 400, amqp_part(2 << 20, 30)))

    def test_parts_of_messages_of_websockets(self):
        self.outlives(Attack(self.http_address(), 400, websocket_part("/live/attack/a", 15 << 20, 1_900_000)))

    def test_parts_of_bodies(self):
        head = f"POST /live/attack/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {15 << 20}\r\n\r\n".encode()
        self.outlives(Attack(self.http_address(), 400, lambda _: [head, b" " * 1_900_000]))

    def test_heads_that_are_never_whole(self):
        head = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 15_000
        self.outlives(Attack(self.http_address(), 800, lambda _: [head]))
