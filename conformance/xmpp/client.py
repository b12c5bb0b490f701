"""slixmpp in a thread of its own: publishes, subscribes, asks, and hands over what comes."""

import asyncio
import base64
import contextlib
import logging
import queue
import threading
import xml.etree.ElementTree as ET

import slixmpp
from slixmpp.exceptions import IqError
from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import MatchXPath

from xmpp.prosody import USERS

SERVICE = "weir.localhost"
PUBSUB = "{http://jabber.org/protocol/pubsub}"
EVENT = "{http://jabber.org/protocol/pubsub#event}"
WEIR = "{urn:weir:message:0}"
OBSERVATIONS = "{urn:weir:observations:0}"
JSON = "{urn:xmpp:json:0}json"
WAIT_S = 30
logging.getLogger("slixmpp").setLevel(logging.CRITICAL)
# RFC 6120 section 8.3.3.12, which slixmpp 1.17 can send and not read: it drops the answer, and who asked waits.
slixmpp.stanza.error.Error.conditions.add("policy-violation")


class Refused(Exception):
    """What the service answers instead of a result: the condition, and those of XEP-0060 beside it."""

    def __init__(self, error):
        super().__init__(error["condition"], error["text"])
        self.conditions = [child.tag.split("}")[1] for child in error.xml]


class Client:
    """A user's session; everything waits until it is answered."""

    def __init__(self, test, prosody, user="ann"):
        self.loop = asyncio.new_event_loop()
        self.came = queue.Queue()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.up = threading.Event()
        self.call(self.open(prosody, user))
        assert self.up.wait(WAIT_S), "slixmpp: no session"
        test.addCleanup(self.close)

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(WAIT_S)

    async def open(self, prosody, user):
        self.client = slixmpp.ClientXMPP(f"{user}@localhost", USERS[user])
        self.client.ca_certs = prosody.certificate
        for plugin in ("xep_0030", "xep_0060", "xep_0199"):
            self.client.register_plugin(plugin)
        self.client.add_event_handler("session_start", lambda _: self.up.set())
        matcher = MatchXPath("{jabber:client}message")
        self.client.register_handler(Callback("messages", matcher, lambda message: self.came.put(message.xml)))
        self.client.connect("127.0.0.1", prosody.c2s)

    def close(self):
        async def leave():
            self.client.disconnect(wait=0.5)
            await asyncio.wait_for(self.client.disconnected, 5)

        with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
            self.call(leave())
        self.call(self.end_tasks())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)

    async def end_tasks(self):
        """Ends what slixmpp leaves running behind a connection, which would complain of a loop that is closed."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=5)

    @property
    def jid(self):
        return self.client.boundjid.full

    @property
    def bare(self):
        return self.client.boundjid.bare

    def ask(self, kind, xml, service=SERVICE):
        """A request with this XML in it; gives the answer's first child, or None."""

        async def send():
            iq = self.client.make_iq(ito=service, itype=kind)
            iq.append(ET.fromstring(xml))
            return await iq.send(timeout=WAIT_S)

        try:
            answer = self.call(send())
        except IqError as refused:
            raise Refused(refused.iq["error"]) from None
        return next(iter(answer.xml), None)

    def pubsub(self, kind, inner, owner=False):
        namespace = PUBSUB[1:-1] + ("#owner" if owner else "")
        return self.ask(kind, f"<pubsub xmlns='{namespace}'>{inner}</pubsub>")

    def publish(self, node, payload, name=""):
        """Gives the item's identifier."""
        item = f"<item id='{name}'>" if name else "<item>"
        answer = self.pubsub("set", f"<publish node='{node}'>{item}{payload}</item></publish>")
        return answer.find(f".//{PUBSUB}item").get("id")

    def publish_value(self, node, value, name=""):
        return self.publish(node, f"<json xmlns='urn:xmpp:json:0'>{{\"value\":{value}}}</json>", name)

    def subscribe(self, node, since=None, jid=None):
        form = "" if since is None else (
            "<options><x xmlns='jabber:x:data' type='submit'><field var='weir#since'>"
            f"<value>{since}</value></field></x></options>")
        answer = self.pubsub("set", f"<subscribe node='{node}' jid='{jid or self.jid}'/>{form}")
        return answer.find(f"{PUBSUB}subscription").get("subid")

    def items(self, node, attributes="", inner="", page=""):
        answer = self.pubsub("get", f"<items node='{node}' {attributes}>{inner}</items>{page}")
        return [Item(node, item) for item in answer.iter(f"{PUBSUB}item")], answer

    def next(self):
        """The next item, or the gap before it."""
        message = self.came.get(timeout=WAIT_S)
        gap = message.find(f"{WEIR}gap")
        if gap is not None:
            return Gap(gap.get("reason"), gap.get("count"))
        items = message.find(f"{EVENT}event/{EVENT}items")
        return Item(items.get("node"), items.find(f"{EVENT}item"), message)

    def send(self, text):
        self.loop.call_soon_threadsafe(self.client.send_raw, text)


class Gap:
    def __init__(self, reason, count):
        self.reason, self.count = reason, count


class Item:
    """Its node, its identifier, and the element that it carries."""

    def __init__(self, node, item, message=None):
        self.node, self.id, self.message = node, item.get("id"), message
        self.payload = next(iter(item))

    @property
    def text(self):
        return self.payload.text

    @property
    def bytes(self):
        """The message in its format."""
        if self.payload.tag == f"{WEIR}data":
            return base64.b64decode(self.text)
        if self.payload.tag.startswith(OBSERVATIONS):
            for element in self.payload.iter():
                element.tag = element.tag.removeprefix(OBSERVATIONS)
            return ET.tostring(self.payload)
        return self.text.encode()
