"""Other people's clients as processes and libraries, and our own client against them."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

import certificate
from gateway import BINARY, Gateway
from mqtt.raw import PUBLISH, Client, connect
from ports import free_port
from skips import program

POLICY = """
[role.publisher]
publish = ["site/#"]

[role.reader]
read = ["site/open/#"]
"""


def gateway(test, **settings):
    made = Gateway(settings={"mqtt.listen": "127.0.0.1:0", **settings})
    test.addClassCleanup(made.close)
    return made


class Mosquitto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = gateway(cls)
        cls.host, cls.port = cls.gateway.ready["mqtt"].rsplit(":", 1)

    def command(self, name, *arguments):
        # A line at a time, so that it is seen when it has subscribed.
        return ["stdbuf", "-oL", program(self, name), "-h", self.host, "-p", self.port, *arguments]

    def pub(self, *arguments):
        subprocess.run(self.command("mosquitto_pub", *arguments), check=True, timeout=20)

    def sub(self, count, *arguments):
        """Starts mosquitto_sub and returns once it has subscribed; the answer gives its lines."""
        process = subprocess.Popen(
            self.command("mosquitto_sub", "-d", "-C", str(count), "-W", "20", *arguments),
            stdout=subprocess.PIPE, text=True,
        )
        early = []
        for line in process.stdout:
            early.append(line)
            if "SUBACK" in line or line.startswith("Subscribed"):
                break

        def lines():
            said = ("".join(early) + process.stdout.read()).splitlines()
            process.wait(timeout=30)
            process.stdout.close()
            return [line for line in said if not line.startswith(("Client", "Subscribed"))]

        return lines

    def test_a_value_appears_at_http_and_is_received_from_there(self):
        for version in ("311", "5"):
            for qos in ("0", "1", "2"):
                lines = self.sub(2, "-V", version, "-q", qos, "-v", "-t", f"kitchen/{version}{qos}/#")
                self.pub("-V", version, "-q", qos, "-t", f"kitchen/{version}{qos}/temp", "-m", "21.5")
                self.gateway.publish_value(f"kitchen/{version}{qos}/hum", 41)
                # In any order: what has quality 2 is told when it is released, behind a value of less that came meanwhile.
                self.assertCountEqual(lines(), [f"kitchen/{version}{qos}/temp 21.5",
                                                f'kitchen/{version}{qos}/hum {{"value": 41}}'])
                body = self.gateway.request("GET", f"/live/kitchen/{version}{qos}/%23", headers={"Accept": "application/json"})[2]
                self.assertEqual([o["value"] for o in json.loads(body)["observations"]], [41, 21.5])

    def test_a_file_line_by_line_keeps_its_order(self):
        lines = self.sub(500, "-q", "2", "-t", "lines")
        subprocess.run(self.command("mosquitto_pub", "-q", "2", "-t", "lines", "-l"), check=True, timeout=60,
                       input="".join(f"{i}\n" for i in range(500)), text=True)
        self.assertEqual(lines(), [str(i) for i in range(500)])

    def test_a_retained_message_waits_and_a_will_is_heard(self):
        self.pub("-r", "-t", "state", "-m", "on")
        self.assertEqual(self.sub(1, "-t", "state")(), ["on"])
        lines = self.sub(1, "-t", "gone")
        dying = subprocess.Popen(self.command("mosquitto_sub", "-d", "-t", "x", "--will-topic", "gone", "--will-payload", "bye"),
                                 stdout=subprocess.PIPE, text=True)
        for line in dying.stdout:
            if "SUBACK" in line or line.startswith("Subscribed"):
                break
        dying.kill()
        dying.communicate()
        self.assertEqual(lines(), ["bye"])

    def test_a_persistent_session_gets_what_it_missed(self):
        arguments = ("-i", "keeper", "-c", "-q", "1", "-t", "missed/#")
        first = self.sub(1, *arguments)
        self.pub("-q", "1", "-t", "missed/a", "-m", "1")
        self.assertEqual(first(), ["1"])
        self.pub("-q", "1", "-t", "missed/a", "-m", "2")
        self.pub("-q", "1", "-t", "missed/a", "-m", "3")
        self.assertEqual(self.sub(2, *arguments)(), ["2", "3"])

    def test_properties_are_printed_as_given(self):
        lines = self.sub(1, "-V", "5", "-t", "props", "-F", "%C|%R|%D|%P|%p")
        self.pub("-V", "5", "-t", "props", "-m", "x", "-D", "publish", "content-type", "a/b", "-D", "publish", "response-topic", "r",
                 "-D", "publish", "correlation-data", "7", "-D", "publish", "user-property", "k", "v")
        self.assertEqual(lines(), ["a/b|r|7|k:v|x"])

    def test_mosquitto_rr_has_its_request_answered(self):
        responder = Client.connected(self.gateway.ready["mqtt"])
        responder.subscribe(("ask", 1))

        def answer():
            request = responder.message()
            responder.publish(request.property(0x08), b"answer", properties=[(0x09, request.property(0x09))] if request.property(0x09) else [])

        thread = threading.Thread(target=answer)
        thread.start()
        command = self.command("mosquitto_rr", "-V", "5", "-t", "ask", "-e", "reply/here", "-m", "question", "-W", "20")
        said = subprocess.run(command, capture_output=True, text=True, timeout=30)
        thread.join()
        self.assertEqual(said.stdout.strip(), "answer")


class Paho(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gateway = gateway(cls)
        cls.host, port = cls.gateway.ready["mqtt"].rsplit(":", 1)
        cls.port = int(port)

    def client(self, protocol, transport="tcp", client_id="", **options):
        came, arrived = [], threading.Condition()
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id, protocol=protocol, transport=transport, **options)

        def on_message(_client, _userdata, message):
            with arrived:
                came.append(message)
                arrived.notify_all()

        def wait(count):
            with arrived:
                assert arrived.wait_for(lambda: len(came) >= count, 20), f"{len(came)} of {count} came"
            return came

        subscribed = threading.Event()
        client.on_message = on_message
        client.on_subscribe = lambda *_: subscribed.set()
        client.wait, client.subscribed = wait, subscribed
        if transport == "websockets":
            client.ws_set_options(path="/mqtt")
            client.connect(self.gateway.host, self.gateway.port)
        else:
            client.connect(self.host, self.port)
        client.loop_start()
        self.addCleanup(client.loop_stop)
        self.addCleanup(client.disconnect)
        return client

    def test_every_quality_in_every_version_on_every_transport(self):
        for protocol in (paho.MQTTv311, paho.MQTTv5):
            for transport in ("tcp", "websockets"):
                topic = f"paho/{protocol}/{transport}"
                client = self.client(protocol, transport)
                client.subscribe(topic + "/#", 2)
                client.subscribed.wait(20)
                for qos in (0, 1, 2):
                    client.publish(f"{topic}/{qos}", f"{qos}", qos).wait_for_publish(20)
                came = {message.topic: (message.payload, message.qos) for message in client.wait(3)}
                self.assertEqual(came, {f"{topic}/{q}": (str(q).encode(), q) for q in (0, 1, 2)})

    def test_properties_come_as_they_were_given(self):
        client = self.client(paho.MQTTv5)
        client.subscribe("paho5", 1)
        client.subscribed.wait(20)
        given = Properties(PacketTypes.PUBLISH)
        given.ContentType, given.ResponseTopic, given.CorrelationData = "c", "r", b"\x00d"
        given.PayloadFormatIndicator = 1
        given.UserProperty = [("b", "1"), ("a", "2")]
        client.publish("paho5", "x", 1, properties=given)
        came = client.wait(1)[0].properties
        self.assertEqual((came.ContentType, came.ResponseTopic, came.CorrelationData), ("c", "r", b"\x00d"))
        self.assertEqual(came.UserProperty, [("b", "1"), ("a", "2")])

    def test_a_session_is_taken_up(self):
        keep = Properties(PacketTypes.CONNECT)
        keep.SessionExpiryInterval = 100
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, "paho-keeper", protocol=paho.MQTTv5)
        present, again = [], threading.Event()
        client.on_connect = lambda _c, _u, flags, _r, _p: (present.append(flags.session_present), again.set())
        for expected in (False, True):
            again.clear()
            client.connect(self.host, self.port, clean_start=False, properties=keep)
            client.loop_start()
            self.assertTrue(again.wait(20))
            client.disconnect()
            client.loop_stop()
            self.assertEqual(present[-1], expected)

    def test_large_messages_and_many_of_them(self):
        client = self.client(paho.MQTTv5)
        client.subscribe("large", 2)
        client.subscribed.wait(20)
        payload = bytes(1_000_000)
        infos = [client.publish("large", payload, qos) for qos in (0, 1, 2)]
        for info in infos:
            info.wait_for_publish(20)
        self.assertTrue(all(message.payload == payload for message in client.wait(3)))


class Tls(unittest.TestCase):
    """MQTT over TLS and over WebSocket over TLS."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-tls-")
        cls.addClassCleanup(folder.cleanup)
        cls.certificate, key = certificate.make(folder.name)
        cls.gateway = gateway(cls, **{"tls.certificate": cls.certificate, "tls.key": key})
        cls.host, cls.port = cls.gateway.ready["mqtts"].rsplit(":", 1)

    def test_mosquitto_publishes_and_receives(self):
        options = ["-h", self.host, "-p", self.port, "--cafile", self.certificate, "-q", "1", "-t", "tls/m"]
        command = ["stdbuf", "-oL", program(self, "mosquitto_sub"), *options, "-d", "-C", "1", "-W", "20"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as subscriber:
            for line in subscriber.stdout:
                if "SUBACK" in line or line.startswith("Subscribed"):
                    break
            publish = [program(self, "mosquitto_pub"), *options, "-m", "21.5"]
            subprocess.run(publish, check=True, timeout=20)
            self.assertIn("21.5", subscriber.stdout.read().split())

    def test_mosquitto_refuses_a_certificate_that_it_does_not_know(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-tls-")
        self.addCleanup(folder.cleanup)
        options = ["-h", self.host, "-p", self.port, "--capath", folder.name, "-t", "tls/m", "-m", "1"]
        said = subprocess.run([program(self, "mosquitto_pub"), *options], capture_output=True, timeout=20)
        self.assertNotEqual(said.returncode, 0)

    def test_paho_over_both(self):
        for transport, address in (("tcp", self.gateway.ready["mqtts"]), ("websockets", self.gateway.ready["https"])):
            came, subscribed, arrived = [], threading.Event(), threading.Event()
            client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5, transport=transport)
            client.tls_set(ca_certs=self.certificate)
            client.on_subscribe = lambda *_, subscribed=subscribed: subscribed.set()
            client.on_message = lambda _c, _u, m, came=came, arrived=arrived: (came.append(m.payload), arrived.set())
            if transport == "websockets":
                client.ws_set_options(path="/mqtt")
            host, port = address.rsplit(":", 1)
            client.connect(host, int(port))
            client.loop_start()
            self.addCleanup(client.loop_stop)
            self.addCleanup(client.disconnect)
            client.subscribe(f"tls/{transport}", 2)
            self.assertTrue(subscribed.wait(20))
            client.publish(f"tls/{transport}", transport, 2).wait_for_publish(20)
            self.assertTrue(arrived.wait(20))
            self.assertEqual(came, [transport.encode()])
        page = self.gateway.request("GET", "/metrics")[2].decode()
        for scheme in ("mqtts", "mqtt+wss"):
            line = f'weir_binding_messages_total{{binding="mqtt",scheme="{scheme}",direction="in"}}'
            self.assertIn(line, page)

    def test_mqtt_js_over_both(self):
        if not pathlib.Path(__file__).parent.parent.joinpath("node_modules/mqtt").exists():
            program(self, "mqtt.js (npm)")
        script = pathlib.Path(__file__).parent.parent / "javascript/mqtt.mjs"
        for url in (f"mqtts://{self.gateway.ready['mqtts']}", f"wss://{self.gateway.ready['https']}/mqtt"):
            command = [program(self, "node"), str(script), url, "5"]
            environment = {**os.environ, "NODE_EXTRA_CA_CERTS": self.certificate}
            said = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(json.loads(said.stdout), {f"js/5/{qos}": str(qos) for qos in (0, 1, 2)})


class JavaScript(unittest.TestCase):
    def test_mqtt_js_in_both_versions_over_both_transports(self):
        if not pathlib.Path(__file__).parent.parent.joinpath("node_modules/mqtt").exists():
            program(self, "mqtt.js (npm)")
        made = Gateway(settings={"mqtt.listen": "127.0.0.1:0"})
        self.addCleanup(made.close)
        script = pathlib.Path(__file__).parent.parent / "javascript/mqtt.mjs"
        for url in (f"mqtt://{made.ready['mqtt']}", f"ws://{made.address}/mqtt"):
            for version in ("4", "5"):
                command = [program(self, "node"), str(script), url, version]
                said = subprocess.run(command, capture_output=True, text=True, timeout=60)
                self.assertEqual(said.returncode, 0, said.stderr)
                self.assertEqual(json.loads(said.stdout), {f"js/{version}/{qos}": str(qos) for qos in (0, 1, 2)})


class Own(unittest.TestCase):
    """`weir pub` and `weir sub` over MQTT."""

    @classmethod
    def setUpClass(cls):
        cls.gateway = gateway(cls)

    # [MQTT-6.0.0-3]
    def test_what_weir_pub_sends_weir_sub_receives(self):
        for url in (f"mqtt://{self.gateway.ready['mqtt']}", f"mqtt+ws://{self.gateway.address}"):
            subscriber = subprocess.Popen([BINARY, "sub", url, "own/#", "--count", "3"], stdout=subprocess.PIPE, text=True)
            self.addCleanup(subscriber.kill)
            watcher = Client.connected(self.gateway.ready["mqtt"])
            # It is there once a message comes through.
            publisher = subprocess.Popen([BINARY, "pub", url, "own/a"], stdin=subprocess.PIPE, text=True)
            said = []
            reader = threading.Thread(target=lambda: said.extend(subscriber.stdout))
            reader.start()
            while reader.is_alive():
                publisher.stdin.write('{"value":1}\n')
                publisher.stdin.flush()
                reader.join(0.2)
            publisher.stdin.close()
            self.assertEqual(publisher.wait(20), 0)
            self.assertEqual(subscriber.wait(20), 0)
            self.assertEqual([json.loads(line)["observations"][0]["value"] for line in said], [1, 1, 1])
            watcher.socket.close()

    def test_weir_pub_reaches_another_broker(self):
        mosquitto = program(self, "mosquitto")
        broker = Broker(mosquitto)
        self.addCleanup(broker.close)
        client = Client.connected(broker.address, version=4)
        client.subscribe(("there/#", 1))
        subprocess.run([BINARY, "pub", f"mqtt://{broker.address}", "there/a"], input='{"value":7}\n', text=True, check=True, timeout=30)
        self.assertEqual(json.loads(client.message().payload)["value"], 7)


class Broker:
    """Mosquitto on a free port."""

    def __init__(self, program_path):
        import time

        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self.folder = tempfile.TemporaryDirectory(prefix="weir-mosquitto-")
        config = pathlib.Path(self.folder.name) / "mosquitto.conf"
        config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
        self.process = subprocess.Popen([program_path, "-c", str(config)], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                Client.connected(self.address, version=4).leave()
                return
            except ConnectionRefusedError:
                time.sleep(0.05)
        raise TimeoutError("mosquitto does not listen")

    def close(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="weir-policy-")
        cls.addClassCleanup(folder.cleanup)
        made = [cls.token(name, role) for name, role in (("station", "publisher"), ("board", "reader"))]
        policy = pathlib.Path(folder.name) / "policy.toml"
        policy.write_text(POLICY + "".join(entry for _, entry in made))
        cls.writer, cls.reader = (secret for secret, _ in made)
        cls.gateway = gateway(cls, **{"access.policy": str(policy)})
        cls.address = cls.gateway.ready["mqtt"]

    @staticmethod
    def token(name, role):
        made = subprocess.run([BINARY, "token", name, "--role", role], capture_output=True, text=True, check=True)
        return made.stderr.strip().rpartition(" ")[2], made.stdout

    def client(self, secret, **options):
        return Client.connected(self.address, user="any", password=secret, **options)

    # [MQTT-3.1.4-2]
    def test_who_is_not_known_is_refused(self):
        for user, password, code in ((None, None, 0x87), ("any", "wrong", 0x86), ("any", None, 0x86)):
            client = Client(self.address)
            client.send(connect("x", user=user, password=password))
            self.assertEqual(client.closed(), code)

    def test_what_may_not_be_is_refused_topic_by_topic(self):
        writer, reader = self.client(self.writer), self.client(self.reader)
        self.assertEqual(reader.subscribe(("site/closed/#", 1), ("site/#", 1)), [0x87, 1])
        self.assertEqual(writer.publish("site/closed/a", "1"), 0)
        self.assertEqual(writer.publish("site/open/a", "2"), 0)
        self.assertEqual(writer.publish("elsewhere", "3"), 0x87)
        came = reader.message()
        self.assertEqual((came.kind, came.topic), (PUBLISH, "site/open/a"))
        self.assertTrue(reader.nothing())
        self.assertEqual(reader.publish("site/open/a", "4"), 0x87)

    def test_another_users_client_identifier_is_not_taken_over(self):
        mine = self.client(self.writer, client_id="mine")
        other = Client(self.address)
        other.send(connect("mine", user="any", password=self.reader))
        self.assertEqual(other.closed(), 0x85)
        mine.ping()

    def test_a_will_that_may_not_be_published_refuses_its_client(self):
        client = Client(self.address)
        client.send(connect("w", user="any", password=self.writer, will=("elsewhere", "x", 0, 0, [])))
        self.assertEqual(client.closed(), 0x87)
