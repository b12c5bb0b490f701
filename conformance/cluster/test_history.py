"""Three gateways, one nats-server and one PostgreSQL, under load: one history, whichever of them is killed."""

import json
import pathlib
import subprocess
import time
import unittest

from cluster.database import Database
from cluster.load import Load
from cluster.servers import Servers
from gateway import BINARY, Gateway, NotReady


class OneHistory(unittest.TestCase):
    def setUp(self):
        self.servers = self.enterContext(Servers(self, 1))
        self.database = self.enterContext(Database(self))
        self.settings = {"bus.url": self.servers.url, "store.url": self.database.url}
        self.gateways = [self.enterContext(Gateway(settings=self.settings)) for _ in range(3)]
        self.load = Load(self.gateways)
        self.addCleanup(self.load.stop)

    def test_all_gateways_answer_the_same_whichever_is_killed(self):
        self.load.progress()
        for gateway in self.gateways:
            gateway.kill()
            self.load.progress()
            gateway.start()
            self.load.progress()
        self.assertEqual(self.load.end(), [])
        self.same()

    def test_a_killed_database_is_caught_up_with(self):
        self.load.progress()
        self.database.kill()
        # What is published is acknowledged meanwhile: the log has it.
        self.load.progress()
        status, _, said = self.gateways[0].request("GET", "/history/kept/w0")
        self.assertGreaterEqual(status, 500, said)
        self.assertIn(b"PostgreSQL at weir@127.0.0.1", said)
        self.database.start()
        self.load.progress()
        self.answers()
        self.assertEqual(self.load.end(), [])
        self.same()

    def answers(self):
        """A gateway that has just found no server looks for it again after a second."""
        until = time.monotonic() + 30
        for gateway in self.gateways:
            while gateway.request("GET", "/history/kept/w0")[0] != 200:
                self.assertLess(time.monotonic(), until, "the gateways do not come back to the database")
                time.sleep(0.1)

    def same(self):
        """Every gateway gives the rows that the database has, each once."""
        expected = {
            writer.topic: self.database.sql(
                f"SELECT number::bigint FROM weir.observations WHERE topic = '{writer.topic}' "
                "ORDER BY nanoseconds, cursor"
            )
            for writer in self.load.writers
        }
        for topic, numbers in expected.items():
            self.assertEqual(len(set(numbers)), len(numbers))
            for gateway in self.gateways:
                kept = [str(int(row["value"])) for row in gateway.history(topic, limit=100)]
                self.assertEqual(kept, numbers, topic)

    def test_a_gateway_with_another_log_is_refused(self):
        with self.assertRaisesRegex(NotReady, "another log"):
            Gateway(settings={"store.url": self.database.url})


class Moved(unittest.TestCase):
    """A history of several descriptions in another store, read back as it was made."""

    MADE = [(1.42, "m", "urn:s:old"), (1.5, "m", "urn:s:old"), (50, "cm", "urn:s:old"), (51, "cm", "urn:s:new")]

    def publish(self, gateway):
        for hour, members in enumerate(
            (
                {"value": 1.42, "unit": "m", "sensor": "urn:s:old", "type": "urn:p:level"},
                {"value": 1.5},
                {"value": 50, "unit": "cm"},
                {"value": 51, "sensor": "urn:s:new"},
            )
        ):
            gateway.publish("river/level", {**members, "time": f"2026-01-01T0{hour}:00:00Z"})

    def told(self, gateway):
        return [(row["value"], row.get("unit"), row.get("sensor")) for row in gateway.history("river/level")]

    def versions(self, gateway):
        return json.loads(gateway.request("GET", "/catalog/river/level?versions")[2])["versions"]

    def test_into_postgresql(self):
        database = self.enterContext(Database(self))
        gateway = self.enterContext(Gateway())
        self.publish(gateway)
        self.assertEqual(self.told(gateway), self.MADE)
        versions = self.versions(gateway)
        gateway.terminate()
        command = [BINARY, "move-history", "--data", gateway.data]
        store = f"store.url={database.url}"
        done = subprocess.run([*command, "--set", store], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "moved 4 observations\n"), done.stderr)
        # The database has the unit of each number before anything new is written.
        rows = "SELECT number, unit, sensor, property FROM weir.observations ORDER BY nanoseconds"
        said = [f"{value}|{unit}|{sensor}|urn:p:level" for value, unit, sensor in self.MADE]
        self.assertEqual(database.sql(rows), said)
        gateway.settings["store.url"] = database.url
        gateway.start()
        for _ in range(2):
            self.assertEqual(self.told(gateway), self.MADE)
            self.assertEqual(self.versions(gateway), versions)
            gateway.restart()
        gateway.publish("river/level", {"value": 1.6, "time": "2026-01-01T01:30:00Z"})
        self.assertIn((1.6, "m", "urn:s:old"), self.told(gateway))
        path = "/history/river/level?unit=m"
        rows = json.loads(gateway.request("GET", path)[2])["observations"]
        self.assertEqual([row["value"] for row in rows], [1.42, 1.5, 1.6, 0.5, 0.51])

    def test_by_a_backup_into_another_folder(self):
        gateway = self.enterContext(Gateway())
        self.publish(gateway)
        gateway.restart()
        archive, other = f"{gateway.data}.tar", f"{gateway.data}-restored"
        self.addCleanup(subprocess.run, ["rm", "-rf", archive, other])
        for arguments in (("backup", archive, "--data", gateway.data), ("restore", archive, "--data", other)):
            subprocess.run([BINARY, *arguments], check=True, capture_output=True, timeout=60)
        with Gateway(data=other) as restored:
            for _ in range(2):
                self.assertEqual(self.told(restored), self.MADE)
                self.assertEqual(self.versions(restored), self.versions(gateway))
                restored.restart()

    def test_what_is_dropped_takes_no_description_of_what_stays(self):
        first = {"value": 9, "unit": "mm", "sensor": "urn:s:first", "type": "urn:p:level"}
        # The second was made as the first two that stay.
        shared = {"value": 1.3, "unit": "m", "sensor": "urn:s:old", "type": "urn:p:level"}
        old = [{**first, "time": "1999-01-01T00:00:00Z"}, {**shared, "time": "1999-06-01T00:00:00Z"}]
        gone = [(9, "mm", "urn:s:first"), (1.3, "m", "urn:s:old")]
        with Gateway(settings={"log.segment_bytes": "1048576", "log.retention_bytes": "2097152"}) as gateway:
            # What is past its age goes by the chunk, and each run writes one.
            for publish in (lambda: [gateway.publish("river/level", it) for it in old], lambda: self.publish(gateway)):
                publish()
                gateway.terminate()
                gateway.start()
            self.assertEqual(self.told(gateway), [*gone, *self.MADE])
            versions = self.versions(gateway)
            made = [(version["unit"], version["sensor"]) for version in versions]
            self.assertEqual(
                sorted(made),
                [("cm", "urn:s:new"), ("cm", "urn:s:old"), ("m", "urn:s:old"), ("mm", "urn:s:first")],
            )
            gateway.settings["history.retention_age"] = "3650d"
            # The history is maintained when a gateway ends, the first time with what it had before it was started.
            for _ in range(2):
                gateway.terminate()
                gateway.start()
            self.stays(gateway, versions)
            # Nor does the log, which drops the messages that said what they were made under.
            log = pathlib.Path(gateway.data, "log")
            segments = {file.name for file in log.glob("*.log")}
            for at in range(200):
                gateway.publish("filler", {"value": f"{at}" + "x" * 30_000})
            gateway.terminate()
            self.assertFalse(segments & {file.name for file in log.glob("*.log")}, "the log has dropped nothing")
            gateway.start()
            self.stays(gateway, versions)

    def stays(self, gateway, versions):
        for _ in range(2):
            self.assertEqual(self.told(gateway), self.MADE)
            self.assertEqual(self.versions(gateway), versions)
            # By its description a number is found in another unit.
            rows = json.loads(gateway.request("GET", "/history/river/level?unit=m")[2])["observations"]
            self.assertEqual([row["value"] for row in rows], [1.42, 1.5, 0.5, 0.51])
            gateway.restart()
