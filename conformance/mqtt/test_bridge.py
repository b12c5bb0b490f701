"""A bridge to a real Mosquitto, and between two gateways: nothing lost, nothing out of order, nothing round."""

import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

import certificate
from gateway import BINARY, Gateway
from mqtt.raw import CONNACK, PUBCOMP, PUBLISH, PUBREC, PUBREL, Client, ack, packet, publish, until
from ports import free_port
from skips import program

STATE = "$SYS/broker/connection/site/state"


class Mosquitto:
    """Mosquitto on a port of its own, which it keeps, with its queues on disk when it ends."""

    def __init__(self, test, *lines):
        self.program = program(test, "mosquitto")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mosquitto-"))
        test.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        test.addCleanup(self.stop)
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.config = self.folder / "mosquitto.conf"
        given = lines or ("allow_anonymous true",)
        self.config.write_text("\n".join([
            f"listener {self.port} 127.0.0.1", "persistence true", f"persistence_location {self.folder}/",
            "max_queued_messages 0", "user root", *given, ""]))
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program, "-c", self.config], stderr=subprocess.DEVNULL)
        until(self.answers)

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)


def lines(direction, *of, name="site"):
    """Settings of a bridge's lines, each a dictionary or a filter."""
    settings = {}
    for at, line in enumerate(of):
        for key, value in ({"filter": line} if isinstance(line, str) else line).items():
            settings[f"mqtt.bridge.{name}.{direction}.{at}.{key}"] = value
    return settings


def gateway(test, *settings, url=None, name="site"):
    """A gateway with a bridge to `url`, quick to come back."""
    merged = {"mqtt.listen": "127.0.0.1:0", "mqtt.sys_seconds": "0"}
    if url:
        merged |= {f"mqtt.bridge.{name}.url": url, f"mqtt.bridge.{name}.max_retry_seconds": "1"}
    for more in settings:
        merged |= more
    made = Gateway(settings=merged)
    test.addCleanup(made.close)
    return made


def client(test, address, *filters, client_id="", **options):
    made = Client.connected(address, client_id, **options)
    test.addCleanup(made.socket.close)
    if filters:
        assert all(code < 0x80 for code in made.subscribe(*filters)), filters
    return made


def kept(test, address, client_id, *filters):
    """A client whose session lives on."""
    return client(test, address, *filters, client_id=client_id, clean=False, properties=[(0x11, 1000)])


def came(reader):
    """The next message, without what its properties say."""
    message = reader.message()
    return message.topic, message.payload.decode(), message.qos, message.retain


def bridged(test, made, name="site"):
    """Waits until the bridge has its connection."""
    watcher = client(test, made.ready["mqtt"], (f"$SYS/broker/connection/{name}/state", 0))
    while watcher.message().payload != b"1":
        pass
    watcher.socket.close()


def numbers(reader, wanted):
    """Payloads of a range up to its last one, acknowledged; repeats of an earlier range are passed over."""
    got = []
    while not got or got[-1] != wanted[-1]:
        packet_in = reader.receive()
        assert packet_in is not None, got[-3:]
        if packet_in.kind == PUBREL:
            reader.send(ack(PUBCOMP, packet_in.packet_id))
        if packet_in.kind != PUBLISH:
            continue
        if int(packet_in.payload) in wanted:
            got.append(int(packet_in.payload))
        if packet_in.qos:
            reader.send(ack({1: 4, 2: PUBREC}[packet_in.qos], packet_in.packet_id))
    return got


def first_of_each(got):
    return list(dict.fromkeys(got))


def metric(made, name, bridge="site"):
    page = made.request("GET", "/metrics")[2].decode()
    return next(int(line.split()[-1]) for line in page.splitlines() if line.startswith(f'{name}{{bridge="{bridge}"}}'))


class Mosquittos(unittest.TestCase):
    """Mosquitto's own bridge with its defaults, to us."""

    def test_it_connects_and_what_goes_both_ways_goes_once(self):
        made = gateway(self)
        port = made.ready["mqtt"].rsplit(":", 1)[1]
        here, writes_here = client(self, made.ready["mqtt"], ("#", 1)), client(self, made.ready["mqtt"])
        states = client(self, made.ready["mqtt"], ("$SYS/broker/connection/#", 1))
        writes_here.publish("kept/here", "1", retain=True)
        broker = Mosquitto(self, "allow_anonymous true", "connection site", f"address 127.0.0.1:{port}",
                           "topic # both 1")
        there, writes_there = client(self, broker.address, ("#", 1)), client(self, broker.address)
        state = states.message()
        self.assertRegex(state.topic, r"^\$SYS/broker/connection/.*site/state$")
        while state.payload != b"1":
            state = states.message()
        self.all_of(there, "kept/here")
        writes_here.publish("down/a", "2")
        writes_there.publish("up/a", "3")
        writes_there.publish("up/last", "4")
        self.assertEqual(self.all_of(here, "up/last"), ["kept/here", "down/a", "up/a", "up/last"])
        writes_here.publish("down/last", "5")
        self.assertEqual(sorted(self.all_of(there, "down/last")), ["down/a", "down/last", "up/a", "up/last"])
        self.assertEqual(self.all_of(here, "down/last"), ["down/last"])
        self.assertTrue(here.nothing())
        broker.stop()
        while states.message().payload != b"0":
            pass

    @staticmethod
    def all_of(reader, last):
        """Topics of what comes up to a message at the last."""
        topics = []
        while topics[-1:] != [last]:
            topics.append(reader.message().topic)
        return topics


class BothWays(unittest.TestCase):
    def setUp(self):
        self.broker = Mosquitto(self)
        self.there = client(self, self.broker.address)
        self.there.publish("plant/down/early", "kept", retain=True)
        up = {"filter": "up/#", "local": "site/", "remote": "plant/", "qos": "2"}
        down = {"filter": "down/#", "local": "site/", "remote": "plant/", "qos": "2"}
        both = {"filter": "both/#", "qos": "1"}
        self.gateway = gateway(self, lines("in", down, both), lines("out", up, both), url=f"mqtt://{self.broker.address}")
        self.here = client(self, self.gateway.ready["mqtt"])
        bridged(self, self.gateway)

    def test_messages_keep_their_names_quality_and_properties(self):
        here = client(self, self.gateway.ready["mqtt"], ("site/down/q/#", 2))
        there = client(self, self.broker.address, ("plant/up/#", 2))
        for qos in (0, 1, 2):
            self.there.publish(f"plant/down/q/{qos}", str(qos), qos=qos)
            self.assertEqual(came(here), (f"site/down/q/{qos}", str(qos), qos, False))
            self.here.publish(f"site/up/{qos}", str(qos), qos=qos)
            self.assertEqual(came(there), (f"plant/up/{qos}", str(qos), qos, False))
        self.there.publish("plant/down/q", "<x/>", properties=[(0x03, "application/made-up"), (0x26, ("a", "b"))])
        message = here.message()
        self.assertEqual(message.property(0x03), "application/made-up")
        self.assertEqual(message.property(0x26), ("a", "b"))
        self.gateway.publish("site/up/http", '{"value":1}')
        message = there.message()
        self.assertEqual((message.topic, message.property(0x03)), ("plant/up/http", "application/json"))
        self.assertEqual(json.loads(self.gateway.request("GET", "/live/site/down/q/1")[2])["observations"][0]["value"], 1)

    def test_what_is_retained_on_one_side_is_retained_on_the_other(self):
        seen = client(self, self.gateway.ready["mqtt"], ("site/down/early", 1))
        self.assertEqual(came(seen)[:2], ("site/down/early", "kept"))
        later = client(self, self.gateway.ready["mqtt"], ("site/down/early", 1))
        self.assertEqual(came(later), ("site/down/early", "kept", 1, True))
        watcher = client(self, self.broker.address, ("plant/up/#", 1))
        self.here.publish("site/up/state", "on", retain=True)
        self.assertEqual(came(watcher)[:2], ("plant/up/state", "on"))
        later = client(self, self.broker.address, ("plant/up/state", 1))
        self.assertEqual(came(later), ("plant/up/state", "on", 1, True))
        self.here.publish("site/up/state", "", retain=True)
        self.assertEqual(came(watcher)[:2], ("plant/up/state", ""))
        gone = client(self, self.broker.address, ("plant/up/state", 1))
        self.assertTrue(gone.nothing())

    def test_a_message_does_not_come_back(self):
        self.once()

    def once(self):
        here = client(self, self.gateway.ready["mqtt"], ("both/#", 1))
        there = client(self, self.broker.address, ("both/#", 1))
        for at in range(5):
            self.here.publish("both/a", f"here {at}")
            self.there.publish("both/a", f"there {at}")
        expected = sorted(f"{side} {at}" for side in ("here", "there") for at in range(5))
        for reader in (here, there):
            self.assertEqual(sorted(came(reader)[1] for _ in range(10)), expected)
        # What would come back would be there before a message that goes there and back.
        self.here.publish("both/b", "last")
        self.assertEqual(came(there)[1], "last")
        self.there.publish("both/b", "very last")
        self.assertEqual([came(here)[1] for _ in range(2)], ["last", "very last"])
        self.assertEqual(came(there)[1], "very last")
        self.assertTrue(here.nothing() and there.nothing())

    def test_metrics_and_state_say_how_it_is(self):
        self.assertEqual(metric(self.gateway, "weir_bridge_connected"), 1)
        watcher = client(self, self.gateway.ready["mqtt"], (STATE, 0))
        self.assertEqual(came(watcher)[1], "1")
        self.broker.stop()
        self.assertEqual(came(watcher)[1], "0")
        self.assertEqual(metric(self.gateway, "weir_bridge_connected"), 0)
        self.broker.start()
        self.assertEqual(came(watcher)[1], "1")


class OlderVersion(BothWays):
    """The same with MQTT 3.1.1 as bridges speak it, as far as it goes without properties."""

    def setUp(self):
        self.broker = Mosquitto(self)
        self.there = client(self, self.broker.address)
        both = {"filter": "both/#", "qos": "1"}
        version = {"mqtt.bridge.site.version": "3.1.1"}
        self.gateway = gateway(self, lines("in", both), lines("out", both), version, url=f"mqtt://{self.broker.address}")
        self.here = client(self, self.gateway.ready["mqtt"])
        bridged(self, self.gateway)

    test_messages_keep_their_names_quality_and_properties = None
    test_what_is_retained_on_one_side_is_retained_on_the_other = None
    test_metrics_and_state_say_how_it_is = None


class Away(unittest.TestCase):
    # What is published with each quality.
    NUMBERS = {1: range(1000, 1300), 2: range(2000, 2300)}

    def setUp(self):
        self.broker = Mosquitto(self)
        down, up = ({"filter": f"{name}/#", "qos": "2"} for name in ("down", "up"))
        self.gateway = gateway(self, lines("in", down), lines("out", up), url=f"mqtt://{self.broker.address}")
        self.there = kept(self, self.broker.address, "there", ("up/#", 2))
        self.here = kept(self, self.gateway.ready["mqtt"], "here", ("down/#", 2))
        bridged(self, self.gateway)

    def test_mosquitto_away_finds_all_in_order_when_it_is_back(self):
        publisher = client(self, self.gateway.ready["mqtt"])
        for qos, wanted in self.NUMBERS.items():
            self.there.leave()
            self.broker.stop()
            for at in wanted:
                publisher.publish("up/n", str(at), qos=qos)
            self.broker.start()
            self.there = kept(self, self.broker.address, "there")
            self.assertEqual(numbers(self.there, wanted), list(wanted))

    def test_a_gateway_away_finds_all_in_order_when_it_is_back(self):
        publisher = client(self, self.broker.address)
        for qos, wanted in self.NUMBERS.items():
            self.gateway.kill()
            for at in wanted:
                publisher.publish("down/n", str(at), qos=qos)
            self.gateway.start()
            self.here = kept(self, self.gateway.ready["mqtt"], "here")
            self.assertEqual(first_of_each(numbers(self.here, wanted)), list(wanted))

    def check(self, got, wanted, qos):
        self.assertEqual(first_of_each(got), list(wanted))
        if qos == 2:
            self.assertEqual(got, list(wanted))

    def test_a_gateway_killed_while_messages_come_loses_none(self):
        publisher = client(self, self.broker.address)
        for qos, wanted in self.NUMBERS.items():
            def feed(qos=qos, wanted=wanted):
                for at in wanted:
                    publisher.publish("down/n", str(at), qos=qos)

            thread = threading.Thread(target=feed)
            thread.start()
            for _ in range(3):
                until(lambda: metric(self.gateway, "weir_bridge_received_messages_total") > 20 or not thread.is_alive())
                self.gateway.restart()
            thread.join(60)
            self.here = kept(self, self.gateway.ready["mqtt"], "here")
            self.check(numbers(self.here, wanted), wanted, qos)

    def test_a_gateway_killed_while_messages_go_out_loses_none(self):
        for qos, wanted in self.NUMBERS.items():
            self.broker.stop()
            publisher = client(self, self.gateway.ready["mqtt"])
            for at in wanted:
                publisher.publish("up/n", str(at), qos=qos)
            self.broker.start()
            for _ in range(3):
                until(lambda: metric(self.gateway, "weir_bridge_connected") == 1)
                self.gateway.restart()
            self.there = kept(self, self.broker.address, "there")
            self.check(numbers(self.there, wanted), wanted, qos)


def size(folder):
    """Bytes of the files of a folder, of which some may go meanwhile."""
    total = 0
    for file in folder.rglob("*.log"):
        with contextlib.suppress(FileNotFoundError):
            total += file.stat().st_size
    return total


class LongAway(unittest.TestCase):
    def test_what_the_log_no_longer_has_is_told_and_the_rest_goes(self):
        broker = Mosquitto(self)
        small = {"log.segment_bytes": "65536", "log.retention_bytes": "262144"}
        made = gateway(self, lines("out", "up/#"), small, url=f"mqtt://{broker.address}")
        reader = kept(self, broker.address, "there", ("up/#", 1))
        bridged(self, made)
        reader.leave()
        broker.stop()
        publisher = client(self, made.ready["mqtt"])
        for at in range(60):
            publisher.publish("up/n", str(at).rjust(32768, "x"))
        publisher.publish("up/last", "last")
        tail = pathlib.Path(made.data) / "log"
        until(lambda: size(tail) < 1_500_000)
        broker.start()
        reader = kept(self, broker.address, "there")
        got = [came(reader)[1].lstrip("x")]
        while got[-1] != "last":
            got.append(came(reader)[1].lstrip("x"))
        self.assertEqual(metric(made, "weir_bridge_gaps_total"), 1)
        self.assertLess(len(got), 60)
        self.assertEqual(got[:-1], [str(at) for at in range(61 - len(got), 60)])
        self.assertIn("reason: retention", pathlib.Path(made.log.name).read_text())

    def test_a_bridge_by_which_nothing_goes_out_does_not_fall_behind(self):
        broker = Mosquitto(self)
        made = gateway(self, lines("out", "up/#"), url=f"mqtt://{broker.address}")
        bridged(self, made)
        watcher = client(self, made.ready["mqtt"], (STATE, 0))
        self.assertEqual(came(watcher)[1], "1")
        publisher = client(self, made.ready["mqtt"])
        publisher.send(*(publish("other/n", str(at)) for at in range(10_500))).ping()
        self.assertEqual(came(watcher)[1], "1")
        until(lambda: metric(made, "weir_bridge_behind_records") < 1000)


class Refused(unittest.TestCase):
    def test_a_wrong_password_is_said_precisely_and_disturbs_nobody(self):
        passwords = pathlib.Path(tempfile.mkdtemp(prefix="mosquitto-")) / "passwords"
        self.addCleanup(shutil.rmtree, passwords.parent, ignore_errors=True)
        subprocess.run([program(self, "mosquitto_passwd"), "-b", "-c", passwords, "ann", "right"], check=True)
        broker = Mosquitto(self, "allow_anonymous false", f"password_file {passwords}")
        secret = passwords.parent / "secret"
        secret.write_text("wrong\n")
        login = {"mqtt.bridge.site.user": "ann", "mqtt.bridge.site.password_file": str(secret)}
        made = gateway(self, lines("out", "a/#"), login, url=f"mqtt://{broker.address}")
        log = pathlib.Path(made.log.name)
        sentence = f"mqtt://{broker.address} refuses user `ann`: 0x87 Not authorized"
        until(lambda: sentence in log.read_text())
        self.assertEqual(client(self, made.ready["mqtt"]).publish("a/b", "1"), 0)
        secret.write_text("right\n")
        made.restart()
        bridged(self, made)
        self.assertNotIn("right", log.read_text())
        reader = client(self, broker.address, ("a/#", 1), user="ann", password="right")
        client(self, made.ready["mqtt"]).publish("a/b", "2")
        until(lambda: came(reader)[1] == "2")

    def test_a_broker_that_knows_no_5_is_spoken_to_in_3_1_1(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        levels = []

        def serve():
            while len(levels) < 3:
                link, _ = listener.accept()
                connect = link.recv(4096)
                levels.append(connect[connect.index(b"MQTT") + 4])
                link.sendall(packet(CONNACK, 0, bytes([0, 0 if levels[-1] == 4 else 1])))
                if levels[-1] == 4:
                    kept_link.append(link)
                else:
                    link.close()

        kept_link = []
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        address = "{}:{}".format(*listener.getsockname())
        made = gateway(self, lines("out", "a/#"), url=f"mqtt://{address}")
        bridged(self, made)
        thread.join(20)
        self.assertEqual(levels, [5, 0x84, 4])
        kept_link[0].close()

    def test_a_wrong_configuration_is_said_with_its_place(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        config = folder / "weir.toml"
        config.write_text('[mqtt.bridge.site]\nurl = "mqtt://h"\nout = [{ filter = "a/#/b" }]\n')
        said = subprocess.run([BINARY, "check", "--config", config], capture_output=True, text=True)
        self.assertEqual(said.returncode, 1)
        self.assertIn("weir.toml:3:10: `mqtt.bridge.site.out.0.filter`", said.stdout + said.stderr)


class Gateways(unittest.TestCase):
    def test_a_bridge_with_both_directions_sends_each_message_once(self):
        there = gateway(self)
        here = gateway(self, lines("in", "both/#"), lines("out", "both/#"), url=f"mqtt://{there.ready['mqtt']}")
        bridged(self, here)
        self.exchange(here, there)

    def test_two_that_send_to_each_other_send_nothing_back(self):
        there = gateway(self, lines("out", "both/#"), url="mqtt://127.0.0.1:1")
        here = gateway(self, lines("out", "both/#"), url=f"mqtt://{there.ready['mqtt']}")
        there.settings["mqtt.bridge.site.url"] = f"mqtt://{here.ready['mqtt']}"
        there.restart()
        for made in (here, there):
            bridged(self, made)
        self.exchange(here, there)

    def test_a_bridge_goes_by_tls_and_by_websocket(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-tls-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        program(self, "openssl")
        trusted, key = certificate.make(folder)
        there = gateway(self, {"tls.certificate": trusted, "tls.key": key})
        reader = client(self, there.ready["mqtt"], ("#", 1))
        port = {name: there.ready[name].rsplit(":", 1)[1] for name in ("mqtts", "https")}
        for scheme, url in (("mqtts", f"mqtts://localhost:{port['mqtts']}"), ("wss", f"mqtt+wss://localhost:{port['https']}"),
                            ("ws", f"mqtt+ws://{there.address}")):
            here = gateway(self, lines("out", "a/#"), {"mqtt.bridge.site.ca_file": trusted}, url=url)
            bridged(self, here)
            client(self, here.ready["mqtt"]).publish(f"a/{scheme}", "1")
            self.assertEqual(came(reader), (f"a/{scheme}", "1", 1, False))
        untrusted = gateway(self, lines("out", "a/#"), url=f"mqtts://localhost:{port['mqtts']}")
        log = pathlib.Path(untrusted.log.name)
        until(lambda: f"cannot connect to mqtts://localhost:{port['mqtts']}: invalid peer certificate" in log.read_text())

    def exchange(self, here, there):
        readers = [client(self, made.ready["mqtt"], ("both/#", 1)) for made in (here, there)]
        for made, word in ((here, "here"), (there, "there")):
            publisher = client(self, made.ready["mqtt"])
            for at in range(5):
                publisher.publish("both/a", f"{word} {at}", qos=2)
        expected = sorted(f"{word} {at}" for word in ("here", "there") for at in range(5))
        for reader in readers:
            self.assertEqual(sorted(came(reader)[1] for _ in range(10)), expected)
        for made, word in ((here, "last"), (there, "very last"), (here, "end")):
            client(self, made.ready["mqtt"]).publish("both/b", word)
            for reader in readers:
                self.assertEqual(came(reader)[1], word)
