"""An observation as the gateway's JSON has it (docs/reference/formats.md). Times are kept to the microsecond that
`datetime` has; tables keep nanoseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Value = float | int | bool | str | None | list[Any] | dict[str, Any]

_NAMED = ("topic", "value", "time", "unit", "type", "sensor", "lat", "lon")


@dataclass(frozen=True, slots=True)
class Observation:
    """A result of a datastream. What is not known is None; members that are rare stand in `more` by their names."""

    topic: str
    value: Value
    time: datetime | None = None
    unit: str | None = None
    type: str | None = None
    sensor: str | None = None
    lat: float | None = None
    lon: float | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_json(cls, members: Mapping[str, Any]) -> "Observation":
        """Reads an observation of a message or of history, or a datastream of the catalog."""
        time = members.get("time")
        return cls(
            topic=members["topic"],
            value=members.get("value"),
            time=None if time is None else datetime.fromisoformat(time),
            unit=members.get("unit"),
            type=members.get("type"),
            sensor=members.get("sensor"),
            lat=members.get("lat"),
            lon=members.get("lon"),
            more={name: member for name, member in members.items() if name not in _NAMED},
        )

    def to_json(self) -> dict[str, Any]:
        """The members that are known, as JSON has them; a result of None is one."""
        members = {name: getattr(self, name) for name in _NAMED}
        known = {name: member for name, member in members.items() if member is not None or name == "value"}
        if self.time is not None:
            known["time"] = rfc3339(self.time)
        return {**known, **self.more}


def rfc3339(time: datetime | str) -> str:
    """A time as the gateway reads it; text (`-1h`, `2026-11-20T09:41:00Z`) goes as it is, a naive time is local. What
    pandas has for no time, `NaT`, is refused."""
    if isinstance(time, str):
        return time
    if time != time:
        raise ValueError("a time is NaT")
    if time.tzinfo is None:
        # What pandas has for a time has no local zone of its own.
        wall = datetime(time.year, time.month, time.day, time.hour, time.minute, time.second, fold=time.fold)
        time = time.replace(tzinfo=wall.astimezone().tzinfo)
    return time.isoformat()
