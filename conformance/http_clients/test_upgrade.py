"""What the gateway of before has written is carried over: its data have no descriptions yet."""

import json
import pathlib
import shutil
import tarfile
import tempfile
import unittest

from gateway import Gateway

BEFORE = pathlib.Path(__file__).with_name("before-descriptions.tar.xz")
JSON = {"Content-Type": "application/json"}


class Upgrade(unittest.TestCase):
    def setUp(self):
        folder = tempfile.mkdtemp(prefix="weir-before-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        with tarfile.open(BEFORE) as kept:
            kept.extractall(folder, filter="data")
        self.gateway = Gateway(data=f"{folder}/data")
        self.addCleanup(self.gateway.close)

    def told(self, path):
        status, _, said = self.gateway.request("GET", path)
        self.assertEqual(status, 200, said)
        return [(row["value"], row.get("unit")) for row in json.loads(said)["observations"]]

    def test_the_description_of_a_topic_is_that_of_all_its_past(self):
        river = [(1.42, "cm"), (50, "cm"), ("open", "cm"), (51, "cm")]
        self.assertEqual(self.told("/history/river/level"), river)
        self.assertEqual(self.told("/history/air/t"), [(20, "Cel"), (21, "Cel")])
        # What is said from now on changes it no more.
        for body in ({"value": 1.6, "unit": "m"}, {"value": 1.7, "unit": "m"}):
            status, _, said = self.gateway.request("POST", "/live/river/level", json.dumps(body), JSON)
            self.assertEqual(status, 204, said)
        for again in (lambda: None, self.gateway.restart, self.stop_and_start):
            again()
            self.assertEqual(self.told("/history/river/level"), [*river, (1.6, "m"), (1.7, "m")])
            self.assertEqual(self.told("/live/river/level"), [(1.7, "m")])
        _, _, said = self.gateway.request("GET", "/catalog/river/level?versions")
        units = [version["unit"] for version in json.loads(said)["versions"]]
        self.assertEqual(units, ["cm", "m"])

    def stop_and_start(self):
        self.gateway.terminate()
        self.gateway.start()


if __name__ == "__main__":
    unittest.main()
