"""One foreign client a binding, all with the same two deeds: publish a message, and follow a topic.

`publish` returns once the gateway has acknowledged. `follow` begins behind the cursor `since` where the binding
can say one, else from when it has returned, and gives an object whose `next()` waits for a message and gives its
bytes and its cursor.
"""

import asyncio
import atexit
import base64
import contextlib
import datetime
import json
import queue
import threading

import aiocoap
import paho.mqtt.client as paho
import pika
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

import amqp.peers
import dds.peer
import readers
import xmpp.client
from amqp.rabbitmq import RabbitMQ
from decoders import seconds
from xmpp.prosody import Prosody

WAIT_S = 30
GAP_OPTION = 65000


class Followed:
    """Messages that a client's thread hands over."""

    def __init__(self):
        self.came = queue.Queue()

    def next(self):
        message = self.came.get(timeout=WAIT_S)
        if isinstance(message, Exception):
            raise message
        return message


class Read:
    """Messages of one of `readers`."""

    def __init__(self, reader):
        self.reader = reader

    def next(self):
        messages, cursor = next(self.reader)
        return messages[0], cursor


class Http:
    """A POST by http.client; followed by a delivery scheme of HTTP or a WebSocket."""

    def __init__(self, gateway, scheme):
        self.gateway, self.read = gateway, readers.SCHEMES[scheme]

    def publish(self, topic, payload, form):
        self.gateway.publish(topic, payload, form["media"])

    @contextlib.contextmanager
    def follow(self, topic, form, since):
        with contextlib.closing(self.read(self.gateway, topic, form, since=since)) as reader:
            yield Read(reader)


class Mqtt:
    """paho by MQTT 5: the format is the content type of what is published, and a prefix of what is followed."""

    def __init__(self, gateway):
        self.host, port = gateway.ready["mqtt"].rsplit(":", 1)
        self.port = int(port)

    @contextlib.contextmanager
    def client(self):
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        connected = threading.Event()
        client.on_connect = lambda *_: connected.set()
        client.connect(self.host, self.port)
        client.loop_start()
        try:
            assert connected.wait(WAIT_S), "MQTT: not connected"
            yield client
        finally:
            client.disconnect()
            client.loop_stop()

    def publish(self, topic, payload, form):
        properties = Properties(PacketTypes.PUBLISH)
        properties.ContentType = form["media"]
        with self.client() as client:
            client.publish(topic, payload, 1, properties=properties).wait_for_publish(WAIT_S)

    @contextlib.contextmanager
    def follow(self, topic, form, since):
        followed, subscribed = Followed(), threading.Event()
        properties = Properties(PacketTypes.SUBSCRIBE)
        properties.UserProperty = ("weir-cursor", since)
        with self.client() as client:
            client.on_subscribe = lambda *_: subscribed.set()
            client.on_message = lambda *told: self.hand_over(told[2], followed)
            client.subscribe(f"$as/{form['name']}/{topic}", 1, properties=properties)
            assert subscribed.wait(WAIT_S), "MQTT: no SUBACK"
            yield followed

    @staticmethod
    def hand_over(message, followed):
        said = dict(message.properties.UserProperty)
        if "weir-gap" in said:
            followed.came.put(readers.Gap(said["weir-gap"]))
        followed.came.put((message.payload, said["weir-cursor"]))


class Coap:
    """aiocoap: POST and Observe. The formats without a number are told by the query `as`."""

    def __init__(self, gateway):
        self.url = "coap://" + gateway.ready["coap"] + "/live/"

    def publish(self, topic, payload, form):
        asyncio.run(self.post(topic, payload, form))

    async def post(self, topic, payload, form):
        context = await aiocoap.Context.create_client_context()
        try:
            message = aiocoap.Message(code=aiocoap.POST, uri=self.uri(topic, form), payload=payload)
            message.opt.content_format = form["contentFormat"]
            answer = await asyncio.wait_for(context.request(message).response, WAIT_S)
            assert answer.code.is_successful(), f"CoAP: {answer.code} {answer.payload!r}"
        finally:
            await context.shutdown()

    def uri(self, topic, form, **query):
        if form["contentFormat"] is None:
            query["as"] = form["name"]
        return self.url + topic + "".join(f"{'&' if n else '?'}{k}={v}" for n, (k, v) in enumerate(query.items()))

    @contextlib.contextmanager
    def follow(self, topic, form, since):
        followed, loop = Followed(), asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_until_complete, args=(self.observe(topic, form, since, followed),))
        thread.start()
        try:
            yield followed
        finally:
            loop.call_soon_threadsafe(followed.stop.set)
            thread.join(WAIT_S)

    async def observe(self, topic, form, since, followed):
        followed.stop = asyncio.Event()
        context = await aiocoap.Context.create_client_context()
        try:
            message = aiocoap.Message(code=aiocoap.GET, uri=self.uri(topic, form, since=since) + "&stream", observe=0)
            message.opt.accept = form["contentFormat"]
            request = context.request(message)
            telling = asyncio.ensure_future(self.tell(request, followed))
            await followed.stop.wait()
            telling.cancel()
        except Exception as reason:  # noqa: BLE001: told to who waits for it
            followed.came.put(reason)
        finally:
            await context.shutdown()

    async def tell(self, request, followed):
        try:
            answer = await request.response
            self.hand_over(answer, followed)
            async for answer in request.observation:
                self.hand_over(answer, followed)
        except Exception as reason:  # noqa: BLE001: told to who waits for it
            followed.came.put(reason)

    @staticmethod
    def hand_over(answer, followed):
        for gap in answer.opt.get_option(aiocoap.OptionNumber(GAP_OPTION)):
            followed.came.put(readers.Gap(gap.value.decode()))
        if not answer.code.is_successful():
            followed.came.put(AssertionError(f"CoAP: {answer.code} {answer.payload!r}"))
        elif answer.payload:
            followed.came.put((answer.payload, cursor_of_tag(answer.opt.etag)))


class BehindProsody:
    """Configuration of a gateway behind a Prosody, which runs from when it is asked for until the program ends."""

    server = None

    def items(self):
        kind = type(self)
        kind.server = kind.server or Prosody(ForAll(), atexit.register)
        return kind.server.settings().items()


class ForAll(contextlib.ExitStack):
    """Stands for a test where something is everybody's."""

    addCleanup = contextlib.ExitStack.callback

    def id(self):
        return "every_binding"


class Xmpp:
    """slixmpp behind a Prosody: a node names the format."""

    SETTINGS = BehindProsody()

    def __init__(self, gateway):
        self.prosody = BehindProsody.server
        self.prosody.await_component(gateway)

    @contextlib.contextmanager
    def client(self):
        with ForAll() as cleanups:
            yield xmpp.client.Client(cleanups, self.prosody)

    def publish(self, topic, payload, form):
        text = base64.b64encode(payload).decode()
        with self.client() as client:
            client.publish(f"$as/{form['name']}/{topic}", f"<data xmlns='urn:weir:message:0' type='-'>{text}</data>")

    @contextlib.contextmanager
    def follow(self, topic, form, since):
        with self.client() as client:
            client.subscribe(f"$as/{form['name']}/{topic}", since)
            yield XmppFollowed(client)


class XmppFollowed:
    """Items of a client."""

    def __init__(self, client):
        self.client = client

    def next(self):
        item = self.client.next()
        if isinstance(item, xmpp.client.Gap):
            raise readers.Gap(item.reason)
        return item.bytes, item.id


class Amqp:
    """Qpid Proton by AMQP 1.0: the format is the content type of what is published, and a filter of what is followed."""

    def __init__(self, gateway):
        self.gateway = gateway

    def publish(self, topic, payload, form):
        message = amqp.peers.Message(body=payload, inferred=True, content_type=form["media"])
        with amqp.peers.connection(self.gateway) as connection:
            # It raises where the gateway does not accept.
            connection.create_sender(f"$as/{form['name']}/{topic}").send(message)

    @contextlib.contextmanager
    def follow(self, topic, form, since):
        asked = amqp.peers.Weir(format=form["name"], since=since)
        with amqp.peers.connection(self.gateway) as connection:
            yield AmqpFollowed(connection.create_receiver(topic, credit=10, options=asked))


class AmqpFollowed:
    """Deliveries of a link."""

    def __init__(self, receiver):
        self.receiver, self.last = receiver, None

    def next(self):
        # A gap and a message come as one: the gap is told first.
        message, self.last = self.last or self.receiver.receive(WAIT_S), None
        gap = amqp.peers.annotation(message, "weir-gap")
        if gap:
            message.annotations = {"weir-cursor": amqp.peers.annotation(message, "weir-cursor")}
            self.last = message
            raise readers.Gap(gap)
        self.receiver.accept()
        return bytes(message.body), amqp.peers.annotation(message, "weir-cursor")


class BehindRabbitMQ:
    """Configuration of a gateway with a bridge to a RabbitMQ, which runs as Prosody does."""

    broker = None
    LINES = {"in": ("pairs/amqp091", "formats/amqp091/#"), "out": ("pairs/#", "formats/amqp091/#")}

    def items(self):
        kind = type(self)
        kind.broker = kind.broker or RabbitMQ(ForAll(), atexit.register)
        lines = {f"{way}.{at}.filter": line for way, of in self.LINES.items() for at, line in enumerate(of)}
        settings = {"url": kind.broker.url(), "max_retry_seconds": "1", **lines}
        return {f"amqp.bridge.pairs.{key}": value for key, value in settings.items()}.items()


class Amqp091:
    """pika by AMQP 0.9.1 at a RabbitMQ, to which the gateway has a bridge: a key is a topic with its levels as words.

    Messages go as they were published, so that there is no choice of a format; the broker knows no cursor, and where
    a message is in the log is asked of the gateway. Its queues begin when they are bound.
    """

    SETTINGS = BehindRabbitMQ()
    FORMATS = ("json",)
    AS_PUBLISHED = True
    RESUMES = False
    EXCHANGE = "amq.topic"

    def __init__(self, gateway):
        self.gateway, self.log = gateway, Http(gateway, "sse")
        dds.peer.until(self.is_bridged, "a bridge to RabbitMQ")

    def is_bridged(self):
        page = self.gateway.request("GET", "/metrics")[2].decode()
        return 'weir_bridge_connected{bridge="amqp/pairs"} 1' in page

    @contextlib.contextmanager
    def channel(self):
        at = pika.ConnectionParameters("127.0.0.1", BehindRabbitMQ.broker.port, heartbeat=0)
        with contextlib.closing(pika.BlockingConnection(at)) as connection:
            yield connection.channel()

    def publish(self, topic, payload, form):
        # The broker has it then; the gateway acknowledges to the broker alone.
        with self.log.follow(topic, form, self.gateway.cursor()) as logged, self.channel() as channel:
            channel.confirm_delivery()
            properties = pika.BasicProperties(content_type=form["media"])
            channel.basic_publish(self.EXCHANGE, topic.replace("/", "."), payload, properties)
            logged.next()

    @contextlib.contextmanager
    def follow(self, topic, form, since):
        with self.log.follow(topic, form, since) as logged, self.channel() as channel:
            queue = channel.queue_declare("", exclusive=True).method.queue
            channel.queue_bind(queue, self.EXCHANGE, topic.replace("/", "."))
            yield Amqp091Followed(topic, channel.consume(queue, auto_ack=True, inactivity_timeout=WAIT_S), logged)


class Amqp091Followed:
    """Messages of a queue, each with its place in the log."""

    def __init__(self, topic, consumed, logged):
        self.topic, self.consumed, self.logged = topic, consumed, logged

    def next(self):
        method, _, body = next(self.consumed)
        assert method, f"nothing came of {self.topic}"
        said = json.loads(body)
        # One observation may stand for a message when it is published.
        whole = said if "observations" in said else {"observations": [said]}
        _, cursor = self.logged.next()
        return json.dumps(whole).encode(), cursor


class Dds:
    """Cyclone DDS in the gateway's domain: the type is what it has for a format, told here in JSON.

    Its readers hear its writers themselves, with no gateway between and no cursor. They cannot ask to begin behind
    one either: one reader hears all, and who follows looks for its topic.
    """

    NUMBER = next(dds.peer.DOMAINS)
    SETTINGS = {"dds.domain": str(NUMBER)}
    FORMATS = ("json",)
    RESUMES = False

    def __init__(self, gateway):
        self.gateway, self.log = gateway, Http(gateway, "sse")
        self.peer = dds.peer.Peer(self.NUMBER, gateway)
        self.reader, self.writer = self.peer.reader(), self.peer.writer()

    def publish(self, topic, payload, form):
        said = json.loads(payload)
        [said] = said.get("observations", [said])
        place = [dds.peer.Location(said["lat"], said["lon"])] if "lat" in said else []
        sample = dds.peer.Observation(
            topic=topic, value=dds.peer.Result(number=said["value"]), time=round(seconds(said["time"]) * 1e3) * 10**6,
            sensor=said.get("sensor", ""), type=said.get("type", ""), unit=said.get("unit", ""), location=place)
        # A writer hears of no acknowledgement but of its reader's stack.
        with self.log.follow(topic, form, self.gateway.cursor()) as logged:
            self.writer.write(sample)
            logged.next()

    @contextlib.contextmanager
    def follow(self, topic, form, since):
        yield DdsFollowed(self.reader, topic)


class DdsFollowed:
    """Samples of a topic."""

    def __init__(self, reader, topic):
        self.reader, self.topic = reader, topic

    def next(self):
        [sample] = dds.peer.take(self.reader, 1, lambda one: one.topic == self.topic)
        said = {"topic": sample.topic, "value": sample.value.value, "time": iso(sample.time)}
        said |= {name: getattr(sample, name) for name in ("sensor", "type", "unit") if getattr(sample, name)}
        for place in sample.location:
            said |= {"lat": place.latitude, "lon": place.longitude}
        return json.dumps({"observations": [said]}).encode(), sample.cursor


def iso(nanos):
    """A time as RFC 3339 has it, to the millisecond."""
    at = datetime.datetime.fromtimestamp(nanos // 10**9, datetime.UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{nanos // 10**6 % 1000:03}Z"


def cursor_of_tag(tag):
    """The text of a cursor that is an ETag: two bytes of the epoch, six of the number."""
    return f"{int.from_bytes(tag[:2], 'big'):x}-{int.from_bytes(tag[2:], 'big'):x}"


PEERS = {
    "http": lambda gateway: Http(gateway, "long_polling"),
    "sse": lambda gateway: Http(gateway, "sse"),
    "websocket": lambda gateway: Http(gateway, "websocket"),
    "mqtt": Mqtt,
    "coap": Coap,
    "xmpp": Xmpp,
    "amqp": Amqp,
    "amqp091": Amqp091,
    "dds": Dds,
}
"""Every binding; one that is missing here is missing from every pair."""
