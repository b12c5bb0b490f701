"""Frames of a WebSocket with subprotocol `weir.ENC` (docs/reference/http.md).

A cursor comes in a control frame behind the messages that it covers. Messages are held until then, so that each is
given with a cursor that is true: the last of a batch with its own, those before it with that of the batch before.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .events import Event, Message, control_of, gap_of
from .limits import BATCH_MESSAGES_MAX


class Frames:
    """Takes frames as they arrive and gives events; `cursor` is that of the last. Where windows are asked for no
    cursors come, and nothing `holds` a message back."""

    def __init__(self, format: str, cursor: str | None, holds: bool = True) -> None:
        self.cursor = cursor
        self._format = format
        self._held: list[Message] = []
        self._held_max = BATCH_MESSAGES_MAX if holds else 1

    def take(self, frame: str | bytes) -> Iterator[Event]:
        """Events that are whole with this frame."""
        control = control_of(frame) if isinstance(frame, str) else None
        if control is not None:
            yield from self._control(control)
            return
        payload = frame.encode() if isinstance(frame, str) else frame
        self._held.append(Message(payload, self._format, self.cursor))
        if len(self._held) >= self._held_max:
            yield from self._release()

    def _control(self, members: dict[str, Any]) -> Iterator[Event]:
        gap, cursor = members.get("gap"), members.get("cursor")
        if gap is not None:
            # The cursor beside a gap is that of the message behind it, which is not here yet.
            yield from self._release()
            yield gap_of(gap, self.cursor)
        elif cursor is not None:
            self.cursor = cursor
            yield from self._release()

    def _release(self) -> Iterator[Event]:
        held, self._held = self._held, []
        if held:
            held[-1] = replace(held[-1], cursor=self.cursor)
        yield from held
