"""A bridge to a real RabbitMQ: nothing acknowledged lost, in order, poison set aside, over restarts of either."""

import contextlib
import json
import pathlib
import queue
import shutil
import tempfile
import threading
import time
import unittest

import certificate
import paho.mqtt.client as paho
import pika
from amqp.rabbitmq import RabbitMQ
from gateway import Gateway
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

ASIDE = "$SYS/broker/connection/amqp/site/aside"
WAIT_S = 60


def until(condition):
    """Waits until something holds that has no event of its own, and gives it."""
    deadline = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.05)
    return found


def lines(direction, *of, name="site"):
    """Settings of a bridge's lines, each a dictionary or a filter."""
    settings = {}
    for at, line in enumerate(of):
        for key, value in ({"filter": line} if isinstance(line, str) else line).items():
            settings[f"amqp.bridge.{name}.{direction}.{at}.{key}"] = value
    return settings


def metric(made, name, bridge="amqp/site"):
    page = made.request("GET", "/metrics")[2].decode()
    found = (line for line in page.splitlines() if line.startswith(f'{name}{{bridge="{bridge}"}}'))
    return next((int(line.split()[-1]) for line in found), 0)


class Named:
    """Stands for a test where something is everybody's."""

    @staticmethod
    def id():
        return __name__


def setUpModule():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-amqp-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    Bridged.certificate = certificate.make(folder)
    Bridged.broker = RabbitMQ(Named, unittest.addModuleCleanup, Bridged.certificate)


class Bridged(unittest.TestCase):
    def gateway(self, *settings, url=None):
        """A gateway with a bridge, quick to come back, and to notice that a broker says nothing any more."""
        merged = {
            "amqp.bridge.site.url": url or self.broker.url(), "amqp.bridge.site.max_retry_seconds": "1",
            "amqp.bridge.site.queue": self.id(), "amqp.bridge.site.heartbeat": "5",
        }
        for more in settings:
            merged |= more
        made = Gateway(settings=merged)
        self.addCleanup(made.close)
        return made

    def bridged(self, made):
        until(lambda: metric(made, "weir_bridge_connected") == 1)

    def connection(self):
        parameters = pika.ConnectionParameters("127.0.0.1", self.broker.port, heartbeat=0)
        connection = pika.BlockingConnection(parameters)
        self.addCleanup(self.close, connection)
        return connection

    def channel(self):
        channel = self.connection().channel()
        channel.confirm_delivery()
        return channel

    @staticmethod
    def close(connection):
        # Its broker may have been killed meanwhile.
        with contextlib.suppress(pika.exceptions.AMQPError):
            connection.close()

    def queue(self, channel, key, name=""):
        """A queue of what comes by a pattern; a named one is kept."""
        name = channel.queue_declare(name, durable=bool(name), exclusive=not name).method.queue
        channel.queue_bind(name, "amq.topic", key)
        return name

    def publish(self, channel, key, body, **properties):
        properties = pika.BasicProperties(delivery_mode=2, **properties)
        channel.basic_publish("amq.topic", key, body, properties)

    def come(self, channel, queue, last):
        """Bodies up to the last one, acknowledged."""
        got = []
        for method, _, body in channel.consume(queue, inactivity_timeout=WAIT_S):
            self.assertIsNotNone(method, got[-3:])
            channel.basic_ack(method.delivery_tag)
            got.append(body.decode())
            if got[-1] == str(last):
                channel.cancel()
                return got

    def values(self, made, topic, last):
        """Values of a topic in the order of the log, once the last one is there."""
        until(lambda: any(row["value"] == last for row in made.history(topic)))
        return [row["value"] for row in made.history(topic)]

    def mqtt(self, made, **hears):
        """A client of MQTT 5, with what it calls."""
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        for name, call in hears.items():
            setattr(client, name, call)
        host, at = made.ready["mqtt"].rsplit(":", 1)
        client.connect(host, int(at))
        client.loop_start()
        self.addCleanup(client.loop_stop)
        return client

    def aside(self, made):
        """What is set aside from now on."""
        came, subscribed = queue.Queue(), threading.Event()
        hears = {"on_message": lambda *told: came.put(told[2]), "on_subscribe": lambda *_: subscribed.set()}
        reader = self.mqtt(made, **hears)
        reader.subscribe(ASIDE, qos=1)
        self.assertTrue(subscribed.wait(WAIT_S))
        return came


class BothWays(Bridged):
    def test_messages_keep_their_names_types_and_properties(self):
        up = {"filter": "up/#", "local": "site/", "remote": "plant/"}
        down = {"filter": "down/#", "local": "site/", "remote": "plant/"}
        made = self.gateway(lines("out", up), lines("in", down))
        self.bridged(made)
        channel = self.channel()
        queue = self.queue(channel, "plant.up.#")
        body = json.dumps({"value": 21.5})
        made.publish("site/up/a.b", body)
        method, properties, came = next(channel.consume(queue, inactivity_timeout=WAIT_S))
        # A point in a topic is a slash there, by which it comes back as it was.
        self.assertEqual((method.routing_key, came.decode()), ("plant.up.a/b", body))
        self.assertEqual(properties.content_type, "application/json")
        self.assertEqual(properties.delivery_mode, 2)
        self.publish(channel, "plant.down.t", b'{"value": 3.5}', content_type="application/json")
        self.assertEqual(self.values(made, "site/down/t", 3.5), [3.5])

    def test_one_filter_in_both_directions_is_no_loop(self):
        made = self.gateway(lines("out", "both/#"), lines("in", "both/#"))
        self.bridged(made)
        channel = self.channel()
        queue = self.queue(channel, "both.#")
        for at in range(20):
            made.publish_value("both/here", at)
            self.publish(channel, "both.there", str(at).encode())
        self.assertEqual(self.values(made, "both/there", 19), list(range(20)))
        until(lambda: metric(made, "weir_bridge_looped_messages_total") == 20)
        self.publish(channel, "both.end", b"end")
        got = self.come(channel, queue, "end")
        # Each once: 20 of the gateway's, 20 of the broker's own, and the last.
        self.assertEqual(len(got), 41)
        self.assertEqual(made.history("both/here")[-1]["value"], 19)
        self.assertEqual(len(made.history("both/here")), 20)

    def test_what_a_line_no_longer_wants_comes_no_more(self):
        made = self.gateway(lines("in", "old/#", "kept/#"))
        self.bridged(made)
        channel = self.channel()
        self.publish(channel, "old.a", b"1")
        self.assertEqual(self.values(made, "old/a", 1), [1])
        made.kill()
        made.settings = {key: value for key, value in made.settings.items() if ".in." not in key}
        made.settings |= lines("in", "kept/#")
        made.start()
        self.bridged(made)
        self.publish(channel, "old.a", b"2")
        self.publish(channel, "kept.a", b"3")
        self.assertEqual(self.values(made, "kept/a", 3), [3])
        self.assertEqual(metric(made, "weir_bridge_refused_messages_total"), 0)
        self.assertEqual(len(made.history("old/a")), 1)

    def test_a_queue_from_which_nothing_is_wanted_is_not_filled(self):
        made = self.gateway(lines("in", "gone/#", "left/#"), lines("out", "up/#"))
        self.bridged(made)
        channel = self.channel()
        self.publish(channel, "gone.a", "1")
        self.values(made, "gone/a", 1)
        made.settings = {key: value for key, value in made.settings.items() if ".in." not in key}
        made.restart()
        self.bridged(made)
        for key in ("gone.a", "left.a"):
            self.publish(channel, key, "2")
        declared = channel.queue_declare(self.id(), passive=True)
        self.assertEqual(declared.method.message_count, 0)
        queue = self.queue(channel, "up.#")
        made.publish_value("up/a", 3)
        self.assertEqual(len(self.come(channel, queue, json.dumps({"value": 3}))), 1)

    def test_a_subscription_by_1_0_unwanted_now_ends_at_the_peer(self):
        there = Gateway()
        self.addCleanup(there.close)
        wanted = {"kept": lines("in", "kept/#"), "both": lines("in", "kept/#", "old/#"), "none": lines("out", "up/#")}
        made = self.gateway(wanted["both"], url=f"amqp10://{there.ready['amqp']}")
        self.bridged(made)
        # Each value is published while these lines are: what is subscribed to comes later, the rest never.
        for value, lines_of in enumerate(["kept", "both", "none", "both"], 1):
            made.settings = {key: of for key, of in made.settings.items() if ".in." not in key and ".out." not in key}
            made.settings |= wanted[lines_of]
            made.restart()
            self.bridged(made)
            for topic in ("old/a", "kept/a"):
                there.publish_value(topic, value)
            if lines_of != "none":
                self.values(made, "kept/a", value)
        self.assertEqual(self.values(made, "kept/a", 4), [1, 2, 4])
        self.assertEqual(self.values(made, "old/a", 4), [2, 4])

    def test_a_binding_that_1_0_cannot_end_is_ended_by_0_9_1(self):
        channel = self.channel()
        self.queue(channel, "stays.#", self.id())
        made = self.gateway(lines("in", "stays/#"), lines("out", "up/#"), url=self.broker.url("amqp10"))
        self.bridged(made)
        made.settings = {key: value for key, value in made.settings.items() if ".in." not in key}
        for scheme, left in (("amqp10", 1), ("amqp091", 1)):
            made.settings["amqp.bridge.site.url"] = self.broker.url(scheme)
            made.restart()
            self.bridged(made)
            self.publish(channel, "stays.a", "1")
            # By 1.0 the queue got one more; since 0.9.1 it gets none.
            self.assertEqual(channel.queue_declare(self.id(), passive=True).method.message_count, left, scheme)
        said = pathlib.Path(f"{made.data}.log").read_text()
        self.assertEqual(said.count("no line takes `stays/#` any more, and AMQP 1.0 cannot unbind `stays.#`"), 1)

    def test_by_1_0_and_by_tls_too(self):
        certificate_file = {"amqp.bridge.site.ca_file": self.certificate[0]}
        for scheme in ("amqps091", "amqp10", "amqps10"):
            channel = self.channel()
            # RabbitMQ's 1.0 makes no queue that stays.
            queue = f"{self.id()}-{scheme}"
            self.queue(channel, f"{scheme}.down.#", queue)
            named = {"amqp.bridge.site.queue": queue}
            settings = [lines("out", f"{scheme}/up/#"), lines("in", f"{scheme}/down/#"), named, certificate_file]
            made = self.gateway(*settings, url=self.broker.url(scheme))
            self.bridged(made)
            watched = self.queue(channel, f"{scheme}.up.#")
            for at in range(20):
                made.publish_value(f"{scheme}/up/t", at)
                self.publish(channel, f"{scheme}.down.t", str(at).encode())
            self.assertEqual(self.values(made, f"{scheme}/down/t", 19), list(range(20)))
            got = [json.loads(body)["value"] for body in self.come(channel, watched, '{"value": 19}')]
            self.assertEqual(got, list(range(20)), scheme)
            made.kill()


class Faults(Bridged):
    def test_credentials_that_are_wrong_are_told_and_tried_again(self):
        wrong = self.broker.url(login="site:wrong")
        made = self.gateway(lines("in", "down/#"), url=wrong)
        log = pathlib.Path(f"{made.data}.log")
        until(lambda: "refuses user `site`" in log.read_text())
        self.assertNotIn("wrong@", log.read_text())
        self.assertEqual(metric(made, "weir_bridge_connected"), 0)
        # Once somebody has made the user, it goes on by itself.
        made.publish_value("other", 1)
        made.kill()
        made.settings["amqp.bridge.site.url"] = self.broker.url()
        made.start()
        self.bridged(made)

    def test_poison_is_set_aside_and_the_rest_flows_on(self):
        made = self.gateway(lines("in", "down/#"))
        self.bridged(made)
        aside = self.aside(made)
        channel = self.channel()
        self.publish(channel, "down.*", b"a topic with a wildcard")
        self.publish(channel, "down.t", b"1")
        self.publish(channel, "down.t", b"{no json", content_type="application/json")
        self.publish(channel, "down.t", b"2")
        self.assertEqual(self.values(made, "down/t", 2), [1, 2])
        message = aside.get(timeout=WAIT_S)
        self.assertEqual(message.payload, b"a topic with a wildcard")
        said = dict(message.properties.UserProperty)
        self.assertEqual((said["weir-way"], said["weir-name"]), ("in", "down.*"))
        self.assertIn("`*`", said["weir-reason"])
        self.assertEqual(metric(made, "weir_bridge_refused_messages_total"), 1)
        self.assertEqual(metric(made, "weir_bridge_received_messages_total"), 3)
        # Nothing waits at the broker.
        declared = lambda: channel.queue_declare(self.id(), passive=True).method
        until(lambda: declared().message_count == 0)

    def test_properties_longer_than_a_frame_are_set_aside(self):
        made = self.gateway(lines("out", "up/#"))
        self.bridged(made)
        aside = self.aside(made)
        channel = self.channel()
        watched = self.queue(channel, "up.#")
        properties = Properties(PacketTypes.PUBLISH)
        # With what stands before them they are just over the 131,072 bytes of a frame.
        properties.UserProperty = [("a", "x" * 65_520), ("b", "x" * 65_520)]
        sender = self.mqtt(made)
        sender.publish("up/t", "1", qos=1, properties=properties).wait_for_publish(WAIT_S)
        sender.publish("up/t", "2", qos=1).wait_for_publish(WAIT_S)
        self.assertEqual(self.come(channel, watched, 2), ["2"])
        message = aside.get(timeout=WAIT_S)
        said = dict(message.properties.UserProperty)
        self.assertEqual((message.payload, said["weir-way"], said["weir-name"]), (b"1", "out", "up/t"))
        self.assertIn("longer than a frame", said["weir-reason"])

    def test_a_message_that_ends_connections_is_set_aside(self):
        at = {"user": "topical", "vhost": "/"}
        self.broker.define({
            "users": [{"name": "topical", "password": "secret", "tags": ""}],
            "permissions": [at | {"configure": ".*", "write": ".*", "read": ".*"}],
            "topic_permissions": [at | {"exchange": "amq.topic", "write": r"^topical\.free\.", "read": ".*"}],
        })
        for scheme in ("amqp091", "amqp10"):
            with self.subTest(scheme=scheme):
                made = self.gateway(lines("out", "topical/#"), url=self.broker.url(scheme, "topical:secret"))
                self.bridged(made)
                aside = self.aside(made)
                channel = self.channel()
                watched = self.queue(channel, "topical.#")
                for at in range(20):
                    made.publish_value(f"topical/{'shut' if at in (5, 6) else 'free'}/t", at)
                got = [json.loads(body)["value"] for body in self.come(channel, watched, '{"value": 19}')]
                # Those that were under way with a forbidden one come twice, and each behind the first time.
                self.assertEqual(list(dict.fromkeys(got)), [at for at in range(20) if at not in (5, 6)])
                for value in (5, 6):
                    message = aside.get(timeout=WAIT_S)
                    said = dict(message.properties.UserProperty)
                    self.assertEqual(json.loads(message.payload)["value"], value)
                    self.assertEqual((said["weir-way"], said["weir-name"]), ("out", "topical/shut/t"))
                    self.assertIn("topical.shut.t", said["weir-reason"])
                made.kill()

    def test_a_broker_low_on_disk_is_waited_for_in_order(self):
        made = self.gateway(lines("out", "full/#"))
        self.bridged(made)
        channel = self.channel()
        watched = self.queue(channel, "full.#")
        # No disk has as much free, so the broker blocks whoever publishes next.
        self.broker.control("set_disk_free_limit", "1000000GB")
        self.addCleanup(self.broker.control, "set_disk_free_limit", "50MB")
        for at in range(50):
            made.publish_value("full/n", at)
        log = pathlib.Path(f"{made.data}.log")
        until(lambda: "takes nothing for now: low on disk" in log.read_text())
        self.assertLess(metric(made, "weir_bridge_sent_messages_total"), 50)
        self.assertEqual(metric(made, "weir_bridge_connected"), 1)
        self.broker.control("set_disk_free_limit", "50MB")
        got = [json.loads(body)["value"] for body in self.come(channel, watched, '{"value": 49}')]
        self.assertEqual(got, list(range(50)))
        self.assertEqual(metric(made, "weir_bridge_refused_messages_total"), 0)

    def test_a_broker_killed_meanwhile_loses_no_message_in_order(self):
        made = self.gateway(lines("out", "up/#"), lines("in", "down/#"))
        self.bridged(made)
        channel = self.channel()
        self.queue(channel, "up.#", "there")
        wanted = range(500)

        def feed():
            for at in wanted:
                made.publish_value("up/n", at)

        thread = threading.Thread(target=feed)
        thread.start()
        for at in range(100):
            self.publish(channel, "down.n", str(at).encode())
        until(lambda: metric(made, "weir_bridge_sent_messages_total") > 20)
        self.broker.stop()
        self.broker.start()
        self.bridged(made)
        thread.join(WAIT_S)
        channel = self.channel()
        for at in range(100, 200):
            self.publish(channel, "down.n", str(at).encode())
        got = [json.loads(body)["value"] for body in self.come(channel, "there", '{"value": 499}')]
        self.assertEqual(list(dict.fromkeys(got)), list(wanted))
        down = self.values(made, "down/n", 199)
        self.assertEqual(list(dict.fromkeys(down)), list(range(200)))

    def test_a_gateway_killed_meanwhile_loses_no_message_in_order(self):
        made = self.gateway(lines("out", "up/#"), lines("in", "down/#"))
        self.bridged(made)
        channel = self.channel()
        queue = self.queue(channel, "up.#", "away")
        wanted = range(300)
        for at in wanted:
            made.publish_value("up/n", at)
            self.publish(channel, "down.n", str(at).encode())
            if at % 100 == 50:
                made.restart()
        got = [json.loads(body)["value"] for body in self.come(channel, queue, '{"value": 299}')]
        self.assertEqual(list(dict.fromkeys(got)), list(wanted))
        down = self.values(made, "down/n", 299)
        self.assertEqual(list(dict.fromkeys(down)), list(wanted))
