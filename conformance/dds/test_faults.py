"""What is wrong costs its sender only: samples, datagrams, and participants that vanish."""

import json
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

from dds.peer import DOMAINS, Appendable, Observation, Peer, Policy, Result, matched, metric, start, take, until
from gateway import BINARY, Gateway

# The domain may publish alone.
DEAF = """
[role.user]
publish = ["plant/#"]
read = ["plant/#"]

[role.domain]
publish = ["plant/#"]
"""
POLICY = f'''{DEAF}read = ["plant/#"]
'''


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        start(cls)

    def refused(self, reason):
        """Waits until a sample was set aside for this reason."""
        until(lambda: reason in self.log(), f"a sample set aside: {reason}")

    def log(self):
        return pathlib.Path(self.gateway.log.name).read_text(errors="replace")

    def still_serves(self, topic):
        self.writer.write(Observation(topic=topic, value=Result(number=1)))
        until(lambda: self.gateway.history(topic), "the next sample")
        self.gateway.publish_value(f"{topic}/out", 2)
        take(self.reader, 1, lambda one: one.topic == f"{topic}/out")

    # [XTYPES-7.6.2.1.2-1]
    def test_a_type_that_is_not_final_is_no_match_and_told(self):
        before = metric(self.gateway, "weir_dds_incompatible_total")
        writer = Peer(self.number).writer(datatype=Appendable, wait=False)
        until(lambda: metric(self.gateway, "weir_dds_incompatible_total") > before, "weir's word of it")
        writer.write(Appendable(topic="appendable", value=Result(number=1)))
        self.still_serves("after/appendable")
        self.assertEqual(self.gateway.history("appendable"), [])

    # [XTYPES-7.4.1.1.2-1]
    def test_what_dds_says_wrongly_is_set_aside(self):
        wrong = [
            (Observation(topic="x" * 300_000), "a string of more bytes than are taken"),
            (Observation(topic="a/#"), "topic"),
            (Observation(topic=""), "topic"),
            (Observation(topic="nan", value=Result(number=float("nan"))), "finite"),
            (Observation(topic="$SYS/x", value=Result(number=1)), "SYS"),
        ]
        for sample, reason in wrong:
            before = metric(self.gateway, "weir_dds_refused_samples_total")
            self.writer.write(sample)
            until(lambda: metric(self.gateway, "weir_dds_refused_samples_total") > before, reason)
            self.refused(reason)
        self.still_serves("after/wrong")

    def test_datagrams_of_noise_cost_nobody_anything(self):
        random.seed(7)
        host, port = self.gateway.ready["dds"].rsplit(":", 1)
        heard = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(heard.close)
        whole = b"RTPS\x02\x03\x01\x10" + bytes(range(12))
        data = b"\x15\x05\x2c\x00\x00\x00\x10\x00\x00\x01\x00\xc7\x00\x01\x00\xc2\x00\x00\x00\x00\x01\x00\x00\x00"
        for ports in (int(port), int(port) + 1):
            for _ in range(1500):
                kind = bytes([random.choice([1, 6, 7, 8, 9, 0x0c, 0x0d, 0x0e, 0x0f, 0x12, 0x13, 0x15, 0x16])])
                rest = random.randbytes(random.randrange(64))
                heard.sendto(whole + kind + rest, (host, ports))
                broken = bytearray(whole + data + random.randbytes(40))
                broken[random.randrange(len(broken))] ^= 1 << random.randrange(8)
                heard.sendto(bytes(broken), (host, ports))
            heard.sendto(random.randbytes(1400), (host, ports))
        self.still_serves("after/noise")
        self.assertIsNone(self.gateway.process.poll())

    def test_weirs_subscriber_goes_on_behind_an_impossible_sample(self):
        url = f"dds://{self.number}/?reliability=best-effort"
        command = [BINARY, "sub", url, "behind/#", "--count", "1"]
        hearing = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(hearing.stdout.close)
        self.addCleanup(hearing.kill)
        peer = Peer(self.number)
        forged, writer = peer.writer(wait=False), peer.writer(wait=False)
        # The readers of the gateway, of the class, and this one.
        until(lambda: matched(forged.get_matched_subscriptions) > 2, "the subscriber")
        until(lambda: matched(writer.get_matched_subscriptions) > 2, "the subscriber")
        of, data = forged.guid.bytes, b"\x7f\x7f\x00\x00rest"
        head = b"RTPS\x02\x03\x01\x10" + of[:12] + b"\x15\x05" + struct.pack("<H", 20 + len(data))
        sample = head + struct.pack("<HHI4sII", 0, 16, 0, of[12:], 0, 1) + data
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            # DDSI-RTPS 2.5 section 9.6.2.3: where a machine's first participants are written to.
            for participant in range(12):
                sender.sendto(sample, ("127.0.0.1", 7411 + 250 * self.number + 2 * participant))
        writer.write(Observation(topic="behind/it", value=Result(number=6.5)))
        self.assertIn("6.5", hearing.communicate(timeout=30)[0])

    def beside(self, script, discovery=""):
        """A process that has a participant `peer` and runs this, once it has said that it is there."""
        head = f"from dds.peer import *; import time\npeer = Peer({self.number}, discovery='{discovery}')\n"
        here = pathlib.Path(__file__).resolve().parent.parent
        command = [sys.executable, "-c", head + script]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=here)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "there\n")
        return process

    def test_a_reader_that_stood_still_is_told_what_it_missed(self):
        process = self.beside(
            "reader = peer.reader(); print('there', flush=True)\n"
            "topic = ''\n"
            "while topic != 'last':\n"
            "    time.sleep(0.01)\n"
            "    for one in reader.take(1000):\n"
            "        if isinstance(one, Observation):\n"
            "            topic = one.topic\n"
            "            if one.gap: print(one.gap, flush=True)\n"
        )
        until(lambda: metric(self.gateway, "weir_dds_endpoints", 'kind="reader"') == 2, "weir's match of the reader")
        process.send_signal(signal.SIGSTOP)
        # More samples than the writer's window holds, then more bytes than the queue behind it.
        for _ in range(12):
            self.gateway.publish("bulk", {"observations": [{"value": at} for at in range(1000)]})
        for _ in range(120):
            self.gateway.publish("bulk", {"value": "x" * 60_000})
        process.send_signal(signal.SIGCONT)
        self.gateway.publish_value("last", 1)
        # Until it has the last one, and ends.
        missing = [json.loads(line) for line in process.stdout]
        self.assertTrue(missing)
        self.assertEqual({one["reason"] for one in missing}, {"policy"})
        self.assertGreater(sum(one["count"] for one in missing), 0)

    def test_a_participant_that_is_killed_is_told_of_as_lost(self):
        process = self.beside(
            "writer = peer.writer(); writer.write(Observation(topic='brief', value=Result(number=1)))\n"
            "print('there', flush=True); time.sleep(60)",
            "<LeaseDuration>2s</LeaseDuration>",
        )
        until(lambda: metric(self.gateway, "weir_dds_participants") == 2, "the second participant")
        process.send_signal(signal.SIGKILL)
        until(lambda: metric(self.gateway, "weir_dds_participants_lost_total", "silent") == 1, "the loss")
        until(lambda: metric(self.gateway, "weir_dds_participants") == 1, "the first alone")
        self.still_serves("after/killed")

    def test_writers_whose_lease_lapses_are_counted(self):
        silent, writers = "weir_dds_writers_silent_total", lambda: metric(self.gateway, "weir_dds_endpoints", 'kind="writer"')
        two = ("from cyclonedds.util import duration\n"
               "made = [peer.writer(Policy.Liveliness.Automatic(duration(seconds=2))) for _ in range(2)]\n"
               "print('there', flush=True); input()\n"
               "made.clear(); peer.writers.clear(); import gc; gc.collect(); input()")
        until(lambda: writers() == 1, "weir's match of the first writer")
        before = metric(self.gateway, silent)
        for lapse, counted in ((True, 2), (False, 2)):
            process = self.beside(two, "<LeaseDuration>2s</LeaseDuration>")
            until(lambda: writers() == 3, "both writers")
            if lapse:
                process.send_signal(signal.SIGKILL)
            else:
                process.stdin.write("\n")
                process.stdin.flush()
            until(lambda: writers() == 1, "the end of both")
            self.assertEqual(metric(self.gateway, silent) - before, counted)
        self.still_serves("after/silent")


class Access(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-policy-")
        self.addCleanup(folder.cleanup)
        self.policy = pathlib.Path(folder.name) / "policy.toml"
        (self.plant, self.plant_entry), (self.user, self.user_entry) = self.token("plant", "domain"), self.token("user", "user")
        self.policy.write_text(POLICY + self.plant_entry + self.user_entry)
        number = next(DOMAINS)
        self.gateway = Gateway(settings={"dds.domain": str(number), "access.policy": str(self.policy),
                                         "dds.credential": f"Bearer {self.plant}"})
        self.addCleanup(self.gateway.close)
        self.peer = Peer(number)
        self.writer = self.peer.writer()

    def token(self, name, role):
        made = subprocess.run([BINARY, "token", name, "--role", role], capture_output=True, text=True, check=True)
        return made.stderr.strip().rpartition(" ")[2], made.stdout

    def ask(self, method, topic, body=None):
        fields = {"Accept": "application/json", "Authorization": f"Bearer {self.user}", "Content-Type": "application/json"}
        status, _, said = self.gateway.request(method, f"/live/{topic}", body, fields)
        return status, said

    def log(self):
        return pathlib.Path(self.gateway.log.name).read_text(errors="replace")

    def change(self, entries, policy=POLICY):
        """Changes the policy, and waits until it is read."""
        before = self.log().count("the policy was read again")
        self.policy.write_text(policy + entries)
        self.gateway.process.send_signal(signal.SIGHUP)
        until(lambda: self.log().count("the policy was read again") > before, "the policy")

    def test_the_domain_has_the_rights_of_its_credential(self):
        self.writer.write(Observation(topic="office/a", value=Result(number=1)))
        self.writer.write(Observation(topic="plant/a", value=Result(number=2)))
        until(lambda: "office/a" in self.log(), "the refusal")
        until(lambda: self.ask("GET", "plant/a")[0] == 200, "what it may publish")
        self.assertEqual(json.loads(self.ask("GET", "plant/a")[1])["observations"][0]["value"], 2)

    def test_a_credential_taken_away_ends_both_ways_for_a_while(self):
        late = self.peer.reader(Policy.Durability.TransientLocal, wait=False)
        self.assertEqual(self.ask("POST", "plant/out", '{"value":1}')[0], 204)
        take(late, 1, lambda one: one.topic == "plant/out")
        self.change(self.user_entry)
        until(lambda: "dds.credential: unknown token" in self.log(), "why it rests")
        self.writer.write(Observation(topic="plant/in", value=Result(number=1)))
        self.assertEqual(self.ask("POST", "plant/out", '{"value":2}')[0], 204)
        self.change(self.plant_entry + self.user_entry)
        until(lambda: "holds again" in self.log(), "that it goes on")

        # Who asks for what is kept is told it: the newest of each topic, which is what it missed.
        (back,) = take(late, 1, lambda one: one.topic == "plant/out")
        self.assertEqual(back.value.value, 2)
        self.assertEqual(self.ask("GET", "plant/in")[0], 404)

        self.goes_in(3)

    def goes_in(self, value):
        """Writes until a sample is there."""
        def is_there():
            self.writer.write(Observation(topic="plant/in", value=Result(number=value)))
            status, said = self.ask("GET", "plant/in")
            return status == 200 and json.loads(said)["observations"][0]["value"] == value

        until(is_there, f"{value} at plant/in")

    def test_a_domain_that_may_read_nothing_is_heard(self):
        late = self.peer.reader(Policy.Durability.TransientLocal, wait=False)
        self.change(self.plant_entry + self.user_entry, DEAF)
        self.goes_in(1)
        until(lambda: "nothing goes to the DDS domain" in self.log(), "why nothing goes out")
        self.assertEqual(self.ask("POST", "plant/out", '{"value":2}')[0], 204)
        # It goes on being heard.
        self.gateway.restart()
        self.goes_in(3)
        self.change(self.plant_entry + self.user_entry)
        take(late, 1, lambda one: one.topic == "plant/out" and one.value.value == 2)
        self.goes_in(4)
