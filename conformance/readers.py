"""The five delivery schemes and WebSocket, each read with a foreign client.

Every reader is a generator of (messages, cursor): what arrived together, as a list of bytes, and the
cursor that stands for all of it. Gaps are raised, since a
test that expects one says so. Readers given `since` miss nothing, so no test needs to wait until
one has subscribed.
"""

import base64
import contextlib
import itertools
import json
import struct

import httpx
import httpx_sse
import websockets.sync.client

WAIT_S = 20
# Text formats whose message may take several lines; the control line ends it.
MANY_LINES = {"csv", "plain", "influx", "swe-text", "turtle", "ntriples"}


class Gap(Exception):
    """The gateway says that something was missed."""


def control(text):
    """The object of a control line or frame, or None."""
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    if not text.startswith('{"weir"'):
        return None
    said = json.loads(text)["weir"]
    if said.get("gap"):
        raise Gap(said["gap"])
    return said


def polling(gateway, topic, form, since=None, client=httpx):
    """The latest values, once."""
    response = client.get(f"{gateway.url}/live/{topic}", headers={"Accept": form["media"]})
    response.raise_for_status()
    yield [response.content], response.headers["Weir-Cursor"]


def long_polling(gateway, topic, form, since=None, client=httpx):
    """One request a message, each from the cursor of the one before."""
    while True:
        query = {"wait": WAIT_S} | ({"since": since} if since else {})
        response = client.get(
            f"{gateway.url}/live/{topic}",
            params=query,
            headers={"Accept": form["media"]},
            timeout=WAIT_S + 10,
        )
        response.raise_for_status()
        if response.headers.get("Weir-Gap"):
            raise Gap(response.headers["Weir-Gap"])
        since = response.headers["Weir-Cursor"]
        if response.status_code == 200:
            yield [response.content], since


def streaming(gateway, topic, form, since=None, client=httpx):
    """Lines for text, lengths for binary; a control line after each batch."""
    query = "stream" + (f"&since={since}" if since else "")
    url = f"{gateway.url}/live/{topic}?{query}"
    with client.stream("GET", url, headers={"Accept": form["media"]}, timeout=WAIT_S) as response:
        response.raise_for_status()
        frames = lengths(response.iter_bytes()) if not form["text"] else lines(response.iter_lines())
        batch = []
        for frame in frames:
            said = control(frame)
            if said is None:
                batch.append(frame)
                continue
            if batch:
                whole = [b"\n".join(batch)] if form["name"] in MANY_LINES else batch
                yield whole, said["cursor"]
            batch = []


def lines(source):
    yield from (line.encode() for line in source if line)


def lengths(source):
    rest = b""
    for chunk in source:
        rest += chunk
        while len(rest) >= 4:
            (length,) = struct.unpack(">I", rest[:4])
            if len(rest) < 4 + length:
                break
            frame, rest = rest[4 : 4 + length], rest[4 + length :]
            if frame:
                yield frame


def sse(gateway, topic, form, since=None, client=None):
    """httpx-sse; a cursor goes back as Last-Event-ID."""
    headers = {"Last-Event-ID": since} if since else {}
    with client or httpx.Client(timeout=WAIT_S) as opened:
        url = f"{gateway.url}/live/{topic}?as={form['name']}"
        with httpx_sse.connect_sse(opened, "GET", url, headers=headers) as source:
            source.response.raise_for_status()
            for event in source.iter_sse():
                if event.event == "gap":
                    raise Gap(event.data)
                if event.event == "message" and event.data:
                    data = event.data.encode()
                    yield [data if form["text"] else base64.b64decode(data)], event.id


def placed(gateway, topic, since, count=1):
    """The cursors of so many messages of a topic behind one: the log's own end moves by its own records, too."""
    with contextlib.closing(sse(gateway, topic, {"name": "json", "text": True}, since)) as messages:
        return [cursor for _, cursor in itertools.islice(messages, count)]


def websocket(gateway, topic, form, since=None, url=None):
    """Python websockets; the subprotocol says the format."""
    query = f"?since={since}" if since else ""
    with websockets.sync.client.connect(
        f"{url or gateway.ws_url}/live/{topic}{query}", subprotocols=[f"weir.{form['name']}"]
    ) as socket:
        assert socket.subprotocol == f"weir.{form['name']}", socket.subprotocol
        pending = []
        while True:
            frame = socket.recv(timeout=WAIT_S)
            said = control(frame)
            if said is None:
                pending.append(frame.encode() if isinstance(frame, str) else frame)
                continue
            if pending:
                yield pending, said["cursor"]
            pending = []


SCHEMES = {
    "polling": polling,
    "long_polling": long_polling,
    "streaming": streaming,
    "sse": sse,
    "websocket": websocket,
}
RESUMABLE = {name: read for name, read in SCHEMES.items() if name != "polling"}
