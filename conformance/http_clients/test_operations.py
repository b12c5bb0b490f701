"""What packages install goes with the gateway that is there: configuration, unit, dashboard, alert rules."""

import json
import re
import subprocess
import unittest

from gateway import BINARY, ROOT, Gateway
from skips import program

PACKAGING = ROOT / "packaging"


class Packaging(unittest.TestCase):
    def test_the_configuration_that_is_installed_is_one(self):
        done = subprocess.run([BINARY, "check", "--config", PACKAGING / "weir.toml"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_dashboard_and_alerts_ask_for_metrics_that_there_are(self):
        with Gateway() as gateway:
            gateway.publish_value("metrics/a", 1)
            gateway.request("GET", "/live/metrics/a")
            said = gateway.request("GET", "/metrics")[2].decode()
        known = set(re.findall(r"^(weir_\w+)", said, re.MULTILINE))
        labels = set(re.findall(r'[{,](\w+)="', said)) | {"instance", "job"}
        board = json.loads((PACKAGING / "grafana/dashboard.json").read_text())
        asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
        asked += re.findall(r"expr: (.*)", (PACKAGING / "grafana/alerts.yml").read_text())
        self.assertGreater(len(asked), 10)
        for expression in asked:
            self.assertLessEqual(set(re.findall(r"\bweir_\w+", expression)), known, expression)
            self.assertLessEqual(set(re.findall(r'(\w+)=~?"', expression)), labels, expression)

    def test_the_units_are_some(self):
        for name in ("weir.service", "nats.service"):
            command = [program(self, "systemd-analyze"), "verify", "--man=no", PACKAGING / name]
            done = subprocess.run(command, capture_output=True, text=True)
            of_the_unit = [line for line in done.stderr.splitlines() if name in line and "not executable" not in line]
            self.assertEqual(of_the_unit, [])
