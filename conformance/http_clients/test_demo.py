"""`weir demo`: the network, the buoy, the ride and a person's own file are there within one start."""

import contextlib
import json
import pathlib
import socket
import subprocess
import tempfile
import unittest

import httpx
import httpx_sse

from gateway import BINARY, Gateway

BUOY = "ocean/buoy-b01/sea/temperature"


class Demo(unittest.TestCase):
    def until(self, gateway, wanted):
        """Reads everything that is published until each wanted topic was seen and the buoy's past
        is whole; what is published meanwhile is the clock."""
        wanted = set(wanted)
        with httpx.Client(timeout=60) as client:
            url = f"{gateway.url}/live/%23?snapshot"
            with httpx_sse.connect_sse(client, "GET", url) as source:
                for event in source.iter_sse():
                    if event.event != "message" or not event.data:
                        continue
                    topics = {row["topic"] for row in json.loads(event.data)["observations"]}
                    wanted -= topics
                    if BUOY in topics and not wanted and len(gateway.history(BUOY, 10_000)) >= 19_226:
                        return
        self.fail(f"never published: {wanted}")

    def test_the_demo_shows_the_network_the_buoy_the_ride_and_a_file(self):
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            own = pathlib.Path(folder) / "My pool.csv"
            own.write_text("time,depth (m),note\n2026-01-01T00:00:00Z,1.5,a\n2026-01-01T00:00:01Z,1.6,b\n")
            with Gateway(arguments=("demo", "--replay", str(own))) as gateway:
                nodes = ["plant", *(f"substation-{n}" for n in range(1, 13))]
                topics = [f"heating/{node}/power" for node in nodes]
                topics += ["heating/substation-3/supply/temperature", "ride/speed", "ride/altitude"]
                topics += [BUOY, "replay/my-pool/depth-m"]
                self.until(gateway, topics)

    def test_beside_another_broker_the_demo_takes_a_free_port(self):
        with contextlib.ExitStack() as stack:
            other = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):  # Then another program has it, which is as good.
                other.bind(("127.0.0.1", 1883))
                other.listen()
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-"))
            demo = subprocess.Popen(
                [BINARY, "demo", "--data", folder],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            stack.callback(demo.communicate)
            stack.callback(demo.terminate)
            ready = json.loads(demo.stdout.readline())
            self.assertNotEqual(ready["mqtt"], "127.0.0.1:1883")
            said = next(line for line in demo.stderr if "1883" in line)
            self.assertIn("`mqtt.listen` took a free port", said)

    def test_a_file_that_is_no_table_is_refused_with_line_and_column(self):
        with tempfile.TemporaryDirectory(prefix="weir-") as folder:
            own = pathlib.Path(folder) / "bad.csv"
            own.write_text("time,a\n2026-01-01,1\n2026-13-02,2\n")
            command = [BINARY, "demo", "--data", folder]
            said = subprocess.run(
                [*command, "--replay", str(own)], capture_output=True, text=True, timeout=60
            )
            self.assertNotEqual(said.returncode, 0)
            self.assertIn("line 3, column 1", said.stderr)
