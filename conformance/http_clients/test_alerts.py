"""Alerts of weir.toml, and the webhook of docs/concepts/alerts.md as that page has it: every alert gets there, whoever
ends meanwhile."""

import http.server
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import certificate
from gateway import ROOT, Gateway, NotReady
from skips import program

WAIT_S = 60


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes alerts, but for as many refusals as are wanted first."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.authorization = self.headers["Authorization"]
        refuse = self.server.refusals > 0
        if refuse:
            self.server.refusals -= 1
        else:
            observations = json.loads(body)["observations"]
            self.server.alerts += [(self.headers["Idempotency-Key"], one["value"]) for one in observations]
        self.send_response(self.server.status if refuse else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Alerted(unittest.TestCase):
    """A receiver of alerts, at `self.url`."""

    def listen(self):
        self.receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.receiver.alerts, self.receiver.refusals, self.receiver.status = [], 0, 503
        self.receiver.authorization = None
        threading.Thread(target=self.receiver.serve_forever, daemon=True).start()
        self.addCleanup(self.receiver.server_close)
        self.addCleanup(self.receiver.shutdown)
        self.url = f"http://127.0.0.1:{self.receiver.server_port}/alerts"

    def values(self):
        """Each alert once, in order: a message is posted again whole, so key and value tell a repetition."""
        return [value for _, value in dict.fromkeys(self.receiver.alerts)]

    def wait_for(self, expected, what):
        deadline = time.monotonic() + WAIT_S
        while what() != expected and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(what(), expected)

    def publish(self, *values):
        for value in values:
            self.gateway.publish_value("boiler/temperature", value)


class Configured(Alerted):
    """Alerts of weir.toml."""

    def setUp(self):
        self.listen()

    def serve(self, **more):
        keys = {"topics": "boiler/#", "where": "value>80", "url": self.url, **more}
        self.gateway = Gateway(settings={f"alert.hot.{key}": value for key, value in keys.items()})
        self.addCleanup(self.gateway.close)

    def metric(self, name):
        page = self.gateway.request("GET", "/metrics")[2].decode()
        found = [line for line in page.splitlines() if line.startswith(f'{name}{{alert="hot"}}')]
        return float(found[0].split()[-1])

    def test_alerts_get_there_whoever_ends_meanwhile(self):
        self.serve()
        self.publish(70, 85, 80, 90)
        self.wait_for([85, 90], self.values)
        self.receiver.refusals = 1
        self.publish(91)
        self.wait_for([85, 90, 91], self.values)
        self.gateway.restart()
        self.publish(96, 20, 97)
        self.wait_for([85, 90, 91, 96, 97], self.values)

    def test_what_was_not_taken_before_a_crash_is_told_after_it(self):
        self.receiver.refusals = 10**9
        self.serve()
        self.publish(85, 95)
        self.wait_for(1, lambda: self.metric("weir_alert_waiting"))
        self.gateway.restart()
        self.receiver.refusals = 0
        self.wait_for([85, 95], self.values)
        self.assertEqual(self.metric("weir_alert_messages_total"), 2)

    def test_one_that_is_refused_for_good_holds_up_no_other(self):
        self.serve()
        self.receiver.refusals, self.receiver.status = 1, 422
        self.publish(85, 95)
        self.wait_for([95], self.values)
        self.assertEqual(self.metric("weir_alert_refused_messages_total"), 1)

    def test_a_datastream_that_was_told_of_is_quiet_for_a_while(self):
        self.serve(quiet="1h")
        self.publish(85, 95)
        self.gateway.publish_value("boiler/pressure", 99)
        self.wait_for([85, 99], self.values)

    def test_a_rule_is_in_its_unit_whatever_others_publish_in(self):
        self.serve(where="value>1.2", unit="m")
        for value, unit in ((2, None), (1.1, "m"), (1.3, "m"), (50, "cm"), (130, "cm"), (5, "kg"), (0.002, "km")):
            self.gateway.publish("boiler/level", {"value": value, "unit": unit})
        self.wait_for([2, 1.3, 130, 0.002], self.values)
        self.assertEqual(self.metric("weir_alert_uncompared_observations_total"), 1)
        self.assertIn("weir_uncompared_observations_total 1", self.gateway.request("GET", "/metrics")[2].decode())
        self.gateway.restart()
        self.publish(1.25)
        self.wait_for([2, 1.3, 130, 0.002, 1.25], self.values)

    def test_a_token_goes_along(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("a-secret\n")
            file.flush()
            self.serve(token_file=file.name)
            self.publish(85)
            self.wait_for([85], self.values)
        self.assertEqual(self.receiver.authorization, "Bearer a-secret")

    def test_by_https_and_not_to_a_stranger(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        own, key = certificate.make(folder.name)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(own, key)
        self.receiver.socket = context.wrap_socket(self.receiver.socket, server_side=True)
        self.serve(url=self.url.replace("http://127.0.0.1", "https://localhost"))
        self.publish(85)
        self.wait_for(1, lambda: self.metric("weir_alert_waiting"))
        self.assertEqual(self.receiver.alerts, [])
        self.gateway.kill()
        self.gateway.settings["alert.hot.ca_file"] = own
        self.gateway.start()
        self.wait_for([85], self.values)

    def test_a_burst_longer_than_any_queue_is_told_whole(self):
        self.serve()
        observations = [{"value": 100 + number} for number in range(1000)]
        for _ in range(100):
            self.gateway.publish("boiler/burst", {"observations": observations})
        self.wait_for(100_000, lambda: len(self.receiver.alerts))
        self.assertEqual([value for _, value in self.receiver.alerts], [one["value"] for one in observations] * 100)

    def test_what_is_wrong_is_said_with_its_key(self):
        with self.assertRaisesRegex(NotReady, r"alert\.hot\.where.*value \? 3"):
            self.serve(where="value ? 3")


class Webhook(Alerted):
    def setUp(self):
        program(self, "curl")
        self.gateway = Gateway()
        self.addCleanup(self.gateway.close)
        self.listen()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        page = (ROOT / "docs/concepts/alerts.md").read_text()
        (self.folder / "webhook").write_text(re.search(r"```sh\n(#!/bin/sh.*?)```", page, re.S).group(1))

    def start(self):
        command = ["sh", "webhook", "boiler/#", "value>80", self.url]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "WEIR_URL": self.gateway.url}
        process = subprocess.Popen(command, cwd=self.folder, env=environment, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            # The whole session: a curl that waits is another process.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def test_alerts_get_there_whoever_ends_meanwhile(self):
        process = self.start()
        # It is there once an alert gets through: what came before it listened is none of its own.
        deadline = time.monotonic() + WAIT_S
        while not self.receiver.alerts and time.monotonic() < deadline:
            self.publish(81)
            time.sleep(0.2)
        self.assertTrue(self.receiver.alerts)
        # The rest of those got through or is dropped by the cursor of the next.
        self.publish(100)
        self.wait_for(True, lambda: 100 in self.values())
        self.receiver.alerts.clear()

        self.receiver.refusals = 2
        self.publish(70, 85, 80, 90)
        self.wait_for([85, 90], self.values)

        self.end(process)
        self.publish(10, 95)
        self.start()
        self.wait_for([85, 90, 95], self.values)

        self.gateway.restart()
        self.publish(96, 20, 97)
        self.wait_for([85, 90, 95, 96, 97], self.values)


if __name__ == "__main__":
    unittest.main()
