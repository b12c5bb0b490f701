"""Traces from ingest to delivery, as a collector gets them: by OTLP's own classes, and by OpenTelemetry's collector."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from faults.kill import until
from gateway import ROOT, Gateway
from operations.collector import Collector, facts

# The example of W3C Trace Context section 3.2.3.
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
STEPS = {"publish", "receive", "decode", "append", "route", "commit", "encode", "deliver"}


class Traces(unittest.TestCase):
    def start(self, collector, **settings):
        named = {f"trace.{key}": value for key, value in settings.items()}
        gateway = Gateway(settings={"trace.url": collector.url, **named})
        self.addCleanup(gateway.close)
        return gateway

    def collector(self, *answers):
        collector = Collector(answers or (200,))
        self.addCleanup(collector.close)
        return collector

    def follow(self, gateway):
        """A subscriber that has begun, by server-sent events."""
        reader = socket.create_connection((gateway.host, gateway.port))
        self.addCleanup(reader.close)
        reader.sendall(b"GET /live/hall/t HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n")
        reader.recv(4096)
        return reader

    def publish(self, gateway, traceparent=None):
        headers = {"Content-Type": "application/json"} | ({"traceparent": traceparent} if traceparent else {})
        status, _, said = gateway.request("POST", "/live/hall/t", '{"value":1}', headers)
        self.assertEqual(status, 204, said)

    def spans(self, collector, names):
        """The spans by name, once all of these are there."""
        found = lambda: {span.name: span for span in collector.spans()}  # noqa: E731: looked at again and again
        self.assertIsNone(until(lambda: names <= found().keys(), f"{names} have come"))
        return found()

    def test_a_message_is_seen_from_its_first_byte_to_its_reader(self):
        collector = self.collector()
        gateway = self.start(collector, sample=0, service="hall")
        reader = self.follow(gateway)
        self.publish(gateway, TRACEPARENT)
        self.assertIn(b'"value":1', reader.recv(4096))
        spans = self.spans(collector, STEPS)
        self.assertEqual({span.trace_id.hex() for span in spans.values()}, {TRACE})
        root = spans.pop("publish")
        self.assertEqual(root.parent_span_id.hex(), PARENT)
        for name, span in spans.items():
            self.assertEqual(span.parent_span_id, root.span_id, name)
            self.assertLessEqual(span.start_time_unix_nano, span.end_time_unix_nano, name)
            self.assertGreaterEqual(span.start_time_unix_nano, root.start_time_unix_nano, name)
        order = [spans[name].start_time_unix_nano for name in ("receive", "decode", "append", "route")]
        self.assertEqual(order, sorted(order))
        self.assertLessEqual(spans["commit"].end_time_unix_nano, root.end_time_unix_nano)
        self.assertEqual(len({span.span_id for span in spans.values()}), len(spans))
        self.assertEqual(facts(root.attributes)["messaging.destination.name"], "hall/t")
        self.assertEqual(facts(root.attributes)["messaging.message.body.size"], len('{"value":1}'))
        self.assertEqual((root.kind, spans["deliver"].kind, spans["route"].kind), (2, 4, 1))
        resource = collector.requests()[0].resource_spans[0].resource
        self.assertEqual(facts(resource.attributes)["service.name"], "hall")
        path, headers, *_ = collector.posts[0]
        self.assertEqual((path, headers["content-type"]), ("/v1/traces", "application/x-protobuf"))

    def test_a_message_without_a_trace_gets_one_as_often_as_is_asked(self):
        collector = self.collector()
        gateway = self.start(collector, sample=1)
        for _ in range(3):
            self.publish(gateway)
        roots = lambda: [span for span in collector.spans() if span.name == "publish"]  # noqa: E731
        self.assertIsNone(until(lambda: len(roots()) == 3, "three traces have come"))
        self.assertEqual(len({span.trace_id for span in roots()}), 3)
        self.assertEqual({span.parent_span_id for span in roots()}, {b""})

    def test_what_its_sender_does_not_keep_is_not_kept_here(self):
        collector = self.collector()
        gateway = self.start(collector, sample=1)
        self.publish(gateway, TRACEPARENT.replace("-01", "-00"))
        self.publish(gateway)
        gateway.terminate()
        self.assertEqual([span.name for span in collector.spans()].count("publish"), 1)
        self.assertNotIn(TRACE, {span.trace_id.hex() for span in collector.spans()})

    def test_a_refusal_is_told_with_its_reason(self):
        collector = self.collector()
        gateway = self.start(collector, sample=0)
        headers = {"Content-Type": "application/json", "traceparent": TRACEPARENT}
        self.assertEqual(gateway.request("POST", "/live/hall/t", "[", headers)[0], 400)
        root = self.spans(collector, {"publish"})["publish"]
        self.assertEqual(root.status.code, 2)
        self.assertIn("json", root.status.message)

    def test_mqtt_brings_its_trace_as_a_property(self):
        collector = self.collector()
        gateway = self.start(collector, sample=0)
        host, port = gateway.ready["mqtt"].rsplit(":", 1)
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        client.connect(host, int(port))
        client.loop_start()
        self.addCleanup(client.loop_stop)
        properties = Properties(PacketTypes.PUBLISH)
        properties.UserProperty = [("traceparent", TRACEPARENT)]
        client.publish("hall/t", '{"value":1}', qos=1, properties=properties).wait_for_publish(10)
        root = self.spans(collector, {"publish", "commit"})["publish"]
        self.assertEqual((root.trace_id.hex(), root.parent_span_id.hex()), (TRACE, PARENT))
        client.disconnect()

    def test_a_collector_that_is_away_costs_nobody_anything(self):
        collector = self.collector(503, 503, 200)
        gateway = self.start(collector, sample=1)
        self.publish(gateway)
        self.assertIn("publish", self.spans(collector, {"publish"}))
        self.assertEqual([status for *_, status in collector.posts][:3], [503, 503, 200])
        collector.close()
        for _ in range(50):
            self.publish(gateway)
        dropped = lambda: re.search(r'weir_trace_spans_total\{outcome="dropped"\} (\d+)',  # noqa: E731
                                    gateway.request("GET", "/metrics")[2].decode())[1]
        self.assertIsNone(until(lambda: int(dropped()) > 0, "what nobody takes is dropped and counted"))
        self.assertEqual(gateway.terminate(), 0)

    def test_without_a_collector_there_is_no_thread_for_it(self):
        with Gateway() as gateway:
            self.publish(gateway, TRACEPARENT)
            tasks = pathlib.Path(f"/proc/{gateway.process.pid}/task").glob("*/comm")
            self.assertNotIn("traces", [task.read_text().strip() for task in tasks])
            self.assertNotIn(b"weir_trace_spans", gateway.request("GET", "/metrics")[2])


OTELCOL = shutil.which("otelcol", path=f"{os.environ.get('PATH', '')}:{ROOT}/build/tools/bin")

CONFIGURATION = """
receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
exporters: {{debug: {{verbosity: detailed}}}}
service:
  pipelines: {{traces: {{receivers: [otlp], exporters: [debug]}}}}
  telemetry: {{metrics: {{level: none}}}}
"""


@unittest.skipUnless(OTELCOL, "OpenTelemetry's collector takes minutes to build: scripts/peers, but not in CI")
class TheirCollector(unittest.TestCase):
    def test_it_takes_what_is_posted(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-otelcol-"))
        self.addCleanup(shutil.rmtree, folder)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        (folder / "config.yaml").write_text(CONFIGURATION.format(port=port))
        log = open(folder / "log", "wb")
        self.addCleanup(log.close)
        running = subprocess.Popen([OTELCOL, "--config", folder / "config.yaml"], stderr=log, stdout=log)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)

        def listens():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                return True

        self.assertIsNone(until(listens, "the collector listens"))
        gateway = Gateway(settings={"trace.url": f"http://127.0.0.1:{port}", "trace.sample": "0"})
        self.addCleanup(gateway.close)
        headers = {"Content-Type": "application/json", "traceparent": TRACEPARENT}
        self.assertEqual(gateway.request("POST", "/live/hall/t", json.dumps({"value": 1}), headers)[0], 204)
        said = lambda: (folder / "log").read_text()  # noqa: E731: what it says meanwhile
        self.assertIsNone(until(lambda: "Name           : publish" in said(), "it tells of the span"))
        self.assertIn(f"Trace ID       : {TRACE}", said())
        self.assertIn("messaging.destination.name: Str(hall/t)", said())
