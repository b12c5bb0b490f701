"""What a subscription gives: messages, and gaps where something is missing."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import tables
from .observation import Observation

if TYPE_CHECKING:
    import pandas
    import pyarrow


@dataclass(frozen=True, slots=True)
class Message:
    """Observations that travelled together, in the format that was subscribed to.

    A subscription that begins with `since=cursor` goes on behind this message. It is None until the gateway
    has told one.
    """

    payload: bytes
    format: str
    cursor: str | None = None

    @property
    def observations(self) -> list[Observation]:
        """The observations of a message of format `json` or `arrow`."""
        if self.format == "arrow":
            return tables.observations_of(self.table())
        self._must_be("json")
        return [Observation.of_json(members) for members in json.loads(self.payload)["observations"]]

    def table(self) -> "pyarrow.Table":
        """The message as a table of Arrow; of format `arrow`."""
        self._must_be("arrow")
        return tables.table_of(self.payload)

    def frame(self) -> "pandas.DataFrame":
        """The message as a data frame of pandas; of format `arrow`."""
        return tables.frame_of(self.table())

    def _must_be(self, format: str) -> None:
        if self.format != format:
            raise ValueError(f"the message is {self.format}; subscribe with format={format!r} for this")


@dataclass(frozen=True, slots=True)
class Gap:
    """Something is missing here: `reason` is `rollback`, `retention`, `policy`, `foreign` or `damage`
    (docs/concepts/cursors.md); `count` of messages where the gateway knows it."""

    reason: str
    count: int | None = None
    cursor: str | None = None


Event = Message | Gap


def control_of(text: str) -> dict[str, Any] | None:
    """Reads `{"weir":{...}}`; None where the text is a message."""
    if not text.startswith('{"weir":'):
        return None
    members = json.loads(text)["weir"]
    return members if isinstance(members, dict) else {}


def gap_of(source: str | dict[str, Any], cursor: str | None) -> Gap:
    """Reads a gap: members, JSON text of them, or `reason:3` of a header field."""
    if isinstance(source, str) and not source.startswith("{"):
        reason, _, count = source.partition(":")
        return Gap(reason, int(count) if count.isdigit() else None, cursor)
    members = json.loads(source) if isinstance(source, str) else source
    return Gap(str(members.get("reason", "unknown")), members.get("count"), cursor)
