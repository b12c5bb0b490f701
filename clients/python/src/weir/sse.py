"""Server-sent events (HTML Living Standard section 9.2) as the gateway sends them: fields `id`, `event` and `data`.

`retry` is passed over: pauses are drawn at random by `errors.pause_s`.
"""

import base64
from collections.abc import Iterator

from .events import Event, Message, control_of, gap_of
from .limits import MESSAGE_BYTES_MAX


class EventStream:
    """Takes the pieces of an event stream as they arrive and gives events; `cursor` is that of the last."""

    def __init__(self, format: str, binary: bool, cursor: str | None) -> None:
        self.cursor = cursor
        self._format = format
        self._binary = binary
        self._rest = bytearray()
        self._data: list[str] = []
        self._bytes = 0
        self._kind = "message"

    def take(self, piece: bytes) -> Iterator[Event]:
        """Events that are whole with this piece."""
        searched = len(self._rest)
        self._rest += piece
        start = 0
        while (end := self._rest.find(b"\n", max(start, searched))) >= 0:
            yield from self._line(self._rest[start:end].removesuffix(b"\r").decode())
            start = end + 1
        del self._rest[:start]
        if len(self._rest) + self._bytes > MESSAGE_BYTES_MAX:
            raise ValueError(f"an event exceeds {MESSAGE_BYTES_MAX} bytes")

    def _line(self, line: str) -> Iterator[Event]:
        if line == "":
            yield from self._dispatch()
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self.cursor = value
        elif name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)
            self._bytes += len(value) + 1

    def _dispatch(self) -> Iterator[Event]:
        kind, data = self._kind, self._data
        self._kind, self._data, self._bytes = "message", [], 0
        if data:
            yield from self._event(kind, "\n".join(data))

    def _event(self, kind: str, data: str) -> Iterator[Event]:
        if kind == "message":
            payload = base64.b64decode(data) if self._binary else data.encode()
            yield Message(payload, self._format, self.cursor)
        elif kind == "gap":
            yield gap_of(data, self.cursor)
        elif kind == "weir":
            self._control(data)

    def _control(self, data: str) -> None:
        cursor = (control_of(data) or {}).get("cursor")
        self.cursor = cursor or self.cursor
