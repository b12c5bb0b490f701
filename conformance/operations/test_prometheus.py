"""Prometheus itself: its promtool tries the alert rules on made-up series, and a server scrapes a gateway, evaluates
the rules, and knows every metric that the rules and the dashboard of Grafana name."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import skips
from gateway import ROOT, Gateway
from ports import free_port

RULES = ROOT / "packaging/grafana/alerts.yml"
DASHBOARD = ROOT / "packaging/grafana/dashboard.json"
CASES = pathlib.Path(__file__).with_name("alerts.test.yml")
WAIT_S = 60


class Prometheus:
    """A server of its own that scrapes one gateway each second."""

    def __init__(self, program, folder, target):
        self.url = f"http://127.0.0.1:{free_port()}"
        settings = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [{"job_name": "weir", "static_configs": [{"targets": [target]}]}],
        }
        written = pathlib.Path(folder) / "prometheus.yml"
        written.write_text(json.dumps(settings))
        self.log = open(pathlib.Path(folder) / "log", "wb")
        self.process = subprocess.Popen(
            [program, f"--config.file={written}", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address={self.url.removeprefix('http://')}"],
            stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )

    def ask(self, path, **parameters):
        """The data of an answer of its HTTP interface; none while it is not there yet."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{query}", timeout=10) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def wait(self, holds, what):
        """Asks until `holds` gives something, and returns that."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            if found := holds():
                return found
            time.sleep(0.2)
        raise AssertionError(f"{what}: not within {WAIT_S} s")

    def query(self, expression):
        """The vector of an expression now, as pairs of labels and number."""
        data = self.ask("query", query=expression) or {"result": []}
        return [(sample["metric"], float(sample["value"][1])) for sample in data["result"]]

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class Rules(unittest.TestCase):
    def test_each_alert_fires_on_what_it_is_for_and_only_then(self):
        promtool = skips.program(self, "promtool")
        with tempfile.TemporaryDirectory() as folder:
            for file in (RULES, CASES):
                shutil.copy(file, folder)
            done = subprocess.run(
                [promtool, "test", "rules", CASES.name], cwd=folder, capture_output=True, text=True
            )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_alert_is_tried(self):
        tried = set(re.findall(r"alertname: (\w+)", CASES.read_text()))
        self.assertEqual(tried, set(re.findall(r"alert: (\w+)", RULES.read_text())))


class Scraped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = skips.program(cls("test_it_is_up_and_what_was_published_is_counted"), "prometheus")
        cls.gateway = Gateway()
        cls.addClassCleanup(cls.gateway.close)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prometheus = Prometheus(program, cls.folder.name, cls.gateway.address)
        cls.addClassCleanup(cls.prometheus.close)
        cls.gateway.publish_value("hall/t", 21.5)
        cls.prometheus.wait(lambda: cls.prometheus.query('weir_answers_total{status="204"}'), "nothing is scraped")

    def test_it_is_up_and_what_was_published_is_counted(self):
        self.assertEqual([number for _, number in self.prometheus.query('up{job="weir"}')], [1])
        (counted,) = self.prometheus.query("weir_published_messages_total")
        self.assertEqual(counted[1], 1)

    def test_every_rule_is_evaluated_and_none_fires(self):
        def evaluated():
            groups = (self.prometheus.ask("rules") or {}).get("groups", [])
            rules = [rule for group in groups for rule in group["rules"]]
            return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None

        for rule in self.prometheus.wait(evaluated, "the rules are not evaluated"):
            self.assertEqual(rule["health"], "ok", rule)
            self.assertEqual([alert for alert in rule["alerts"] if alert["state"] == "firing"], [], rule["name"])

    def test_every_metric_of_rules_and_dashboard_is_served(self):
        named = set(re.findall(r"\bweir_[a-z_]+", RULES.read_text() + DASHBOARD.read_text()))
        served = set(self.prometheus.ask("label/__name__/values"))
        self.assertEqual(named - served, set())

    def test_every_panel_of_the_dashboard_shows_something(self):
        for panel in json.loads(DASHBOARD.read_text())["panels"]:
            for target in panel["targets"]:
                expression = target["expr"].replace("$__rate_interval", "30s").replace("$instance", ".*")
                with self.subTest(panel["title"]):
                    self.prometheus.wait(lambda shown=expression: self.prometheus.query(shown), expression)


if __name__ == "__main__":
    unittest.main()
