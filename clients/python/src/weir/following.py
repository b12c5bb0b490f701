"""A subscription without its connection: where it is, what the next attempt asks for, how long to wait before it.

A delivery scheme is an attempt to follow until the connection ends; all of them resume and fail alike.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .errors import Refused, pause_s
from .events import Event, Gap, Message, gap_of
from .frames import Frames
from .limits import WAIT_S
from .operations import Parameters, Request, live
from .sse import EventStream

Delivery = Literal["sse", "websocket", "longpoll"]
LOG = logging.getLogger("weir")


@dataclass(frozen=True)
class Wanted:
    """What a subscriber asked for; `asked` are `every`, `agg`, `where`, `unit` and `policy`."""

    filters: tuple[str, ...]
    delivery: Delivery
    format: str
    snapshot: bool
    asked: Parameters

    @property
    def windows(self) -> bool:
        """Whether what comes has no place in the log."""
        return any(name in ("agg", "every") for name, _ in self.asked)


class Following:
    """Position and failures of one subscription."""

    def __init__(self, wanted: Wanted, since: str | None) -> None:
        self.wanted = wanted
        self.cursor = since
        self.binary = False
        self._failures = 0

    @property
    def begins_now(self) -> bool:
        """Whether the place to begin at is to be asked for, so that a first attempt that fails loses nothing."""
        return self.cursor is None and not self.wanted.snapshot and not self.wanted.windows

    def stream(self) -> Request:
        """The request of server-sent events."""
        path, parameters = self._live()
        parameters.append(("as", self.wanted.format))
        return Request("GET", path, parameters, {"Accept": "text/event-stream"}, endless=True)

    def socket(self) -> Request:
        """The request that becomes a WebSocket."""
        path, parameters = self._live()
        return Request("GET", path, parameters)

    def poll(self) -> Request:
        """The next long poll; the first of one that begins with the last values does not wait."""
        path, parameters = live(self.wanted.filters)
        parameters = [*parameters, ("as", self.wanted.format)]
        if self.cursor is None and self.wanted.snapshot:
            return Request("GET", path, parameters)
        since = [] if self.cursor is None else [("since", self.cursor)]
        return Request("GET", path, [*parameters, *self.wanted.asked, *since, ("wait", str(WAIT_S))])

    def events(self) -> EventStream:
        """What reads the body of `stream`."""
        return EventStream(self.wanted.format, self.binary, self.cursor)

    def frames(self) -> Frames:
        """What reads the frames of `socket`."""
        return Frames(self.wanted.format, self.cursor, holds=not self.wanted.windows)

    def polled(self, headers: Mapping[str, str], body: bytes) -> list[Event]:
        """What an answer to `poll` says."""
        cursor = headers.get("Weir-Cursor", self.cursor)
        events: list[Event] = []
        if "Weir-Gap" in headers:
            events.append(gap_of(headers["Weir-Gap"], self.cursor if body else cursor))
        if body:
            events.append(Message(body, self.wanted.format, cursor))
        self.opened(None if events else cursor)
        return events

    def opened(self, cursor: str | None = None) -> None:
        """The gateway has answered, perhaps with the place where the subscription begins."""
        self._failures = 0
        if cursor is not None:
            self.cursor = cursor

    def seen(self, event: Event) -> None:
        """An event goes to the subscriber; what comes next is behind it."""
        self.cursor = event.cursor or self.cursor
        if isinstance(event, Gap):
            LOG.warning("gap: %s, %s messages", event.reason, event.count or "unknown")

    def pause_s(self, error: Exception | None) -> float:
        """How long to wait until the next attempt; raises what no attempt changes."""
        if isinstance(error, Refused) and error.lasting:
            raise error
        self._failures += 1
        pause = pause_s(self._failures, error)
        LOG.info("%s; again in %.1f s", error or "the gateway closed the connection", pause)
        return pause

    def _live(self) -> tuple[str, Parameters]:
        path, parameters = live(self.wanted.filters)
        parameters = [*parameters, *self.wanted.asked]
        if self.cursor is not None:
            parameters.append(("since", self.cursor))
        elif self.wanted.snapshot:
            parameters.append(("snapshot", ""))
        return path, parameters
