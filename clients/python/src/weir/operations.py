"""What is asked of the gateway and what an answer means, without a socket: each operation is a generator that yields
requests and pauses, is sent answers, and returns its result. `plain` and `aio` drive them.

A request that nobody answered is made again; a publication carries an `Idempotency-Key`, so that the gateway keeps it
once however often it comes.
"""

import json
import uuid
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from numbers import Integral
from typing import Any, TypeVar
from urllib.parse import parse_qs, quote, urlsplit

import httpx

from .errors import Refused, Unanswered, pause_s
from .limits import ATTEMPTS_MAX, REFUSAL_CHARACTERS_MAX
from .observation import Observation, rfc3339

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
Parameters = list[tuple[str, str]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Request:
    """A request; `path` is relative to the gateway's address."""

    method: str
    path: str
    parameters: Parameters = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    # Whether the answer's body is left unread, since it has no end.
    endless: bool = False


@dataclass(frozen=True)
class Pause:
    """So many seconds in which nothing is asked."""

    seconds: float


Operation = Generator[Request | Pause, httpx.Response | None, Result]


def advance(operation: Operation[Result], answer: httpx.Response | Unanswered | None) -> Request | Pause:
    """Hands an operation what became of its last step, nothing after a pause; gives the next step, or ends as
    generators do."""
    if isinstance(answer, Unanswered):
        return operation.throw(answer)
    return operation.send(answer)


def publish(topic: str, content: bytes, media: str, key: str | None) -> Operation[str]:
    """Publishes; returns the cursor of what is now on disk."""
    headers = {"Content-Type": media, "Idempotency-Key": key or str(uuid.uuid4())}
    answer = yield from _asked(Request("POST", f"live/{quoted(topic)}", headers=headers, content=content))
    return answer.headers["Weir-Cursor"]


def message_of(observations: Iterable[Observation | Mapping[str, Any]]) -> bytes:
    """A message in JSON, which has no NaN and no infinity: a ValueError."""
    rows = [row.to_json() if isinstance(row, Observation) else dict(row) for row in observations]
    return json.dumps({"observations": rows}, default=_plain, allow_nan=False).encode()


def _plain(value: Any) -> Any:
    """What JSON has for times, and for numbers that are none of Python's own: numpy's, decimals."""
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Integral):
        return int(value)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return value.item()
    raise TypeError(f"no JSON: {value!r}")


def latest(filters: tuple[str, ...]) -> Operation[list[Observation]]:
    """The last observation of each datastream; none where nothing was published yet."""
    path, parameters = live(filters)
    try:
        answer = yield from _asked(Request("GET", path, parameters, {"Accept": JSON}))
    except Refused as refused:
        if refused.status == 404:
            return []
        raise
    return _observations(answer.json()["observations"])


def cursor(filters: tuple[str, ...]) -> Operation[str]:
    """Where a subscription that begins now begins."""
    path, parameters = live(filters)
    headers = {"Accept": "text/event-stream"}
    answer = yield from _asked(Request("GET", path, parameters, headers, endless=True))
    return answer.headers["Weir-Cursor"]


def page(filter: str, parameters: Parameters, media: str) -> Operation[tuple[httpx.Response, str | None]]:
    """A page of history, and the token of the next."""
    answer = yield from _asked(Request("GET", f"history/{quoted(filter)}", parameters, {"Accept": media}))
    link = answer.links.get("next", {}).get("url")
    return answer, None if link is None else parse_qs(urlsplit(link).query)["page"][0]


def pages(filter: str, parameters: Parameters) -> Operation[list[bytes]]:
    """All pages of history in Arrow."""
    bodies: list[bytes] = []
    token: str | None = None
    while True:
        answer, token = yield from page(filter, paged(parameters, token), ARROW)
        bodies.append(answer.content)
        if token is None:
            return bodies


def rows(filter: str, parameters: Parameters) -> Operation[tuple[list[Observation], str | None]]:
    """A page of history as observations, and the token of the next."""
    answer, token = yield from page(filter, parameters, JSON)
    return _observations(answer.json()["observations"]), token


def catalog(filter: str) -> Operation[list[Observation]]:
    """The datastreams; what the catalog knows beside an observation's members is in `more`."""
    answer = yield from _asked(Request("GET", f"catalog/{quoted(filter)}", headers={"Accept": JSON}))
    found = answer.json()
    # A filter that is a topic is answered with its entry alone.
    return _observations(found.get("datastreams", [found]))


def is_binary(format: str) -> Operation[bool]:
    """Whether messages of a format are bytes; a format that the gateway has not is a ValueError."""
    if format in ("json", "arrow"):
        return format == "arrow"
    answer = yield from _asked(Request("GET", "formats"))
    texts = {row["name"]: bool(row["text"]) for row in answer.json()}
    if format not in texts:
        raise ValueError(f"no format {format!r}; the gateway has {', '.join(texts)}")
    return not texts[format]


def range_of(
    start: datetime | str | None,
    end: datetime | str | None,
    every: str | None,
    agg: str | None,
    unit: str | None,
    limit: int,
) -> Parameters:
    """The parameters of a question to history."""
    asked = {
        "from": None if start is None else rfc3339(start),
        "to": None if end is None else rfc3339(end),
        "every": every,
        "agg": agg,
        "unit": unit,
        "limit": str(limit),
    }
    return [(name, value) for name, value in asked.items() if value is not None]


def paged(parameters: Parameters, token: str | None) -> Parameters:
    """The parameters of the page with this token."""
    return parameters if token is None else [*parameters, ("page", token)]


def live(filters: tuple[str, ...]) -> tuple[str, Parameters]:
    """Path and parameters of a live resource: one filter is the path, several are parameters."""
    if len(filters) == 1:
        return f"live/{quoted(filters[0])}", []
    return "live", [("topic", filter) for filter in filters]


def quoted(topic: str) -> str:
    """A topic or filter as a path. Where a level is `.` or `..`, which are taken out of paths on the way, the slashes
    are no path's."""
    if topic in (".", ".."):
        raise ValueError(f"the topic {topic!r} cannot be asked for by HTTP")
    steps = any(level in (".", "..") for level in topic.split("/"))
    return quote(topic, safe="" if steps else "/")


def refusal(status: int, headers: Mapping[str, str], body: bytes) -> Refused:
    """What the gateway said instead of an answer."""
    detail = body.decode(errors="replace").strip()[:REFUSAL_CHARACTERS_MAX]
    seconds = headers.get("Retry-After", "")
    return Refused(status, detail, float(seconds) if seconds.isdigit() else None)


def _asked(request: Request) -> Operation[httpx.Response]:
    """The answer, asked for again where another attempt may bring one."""
    for failures in range(1, ATTEMPTS_MAX + 1):
        try:
            return _accepted((yield request))
        except (Refused, Unanswered) as error:
            if failures == ATTEMPTS_MAX or (isinstance(error, Refused) and error.lasting):
                raise
            yield Pause(pause_s(failures, error))
    raise AssertionError("the last attempt returns or raises")


def _accepted(answer: httpx.Response | None) -> httpx.Response:
    assert answer is not None, "a request is answered"
    if answer.is_success:
        return answer
    raise refusal(answer.status_code, answer.headers, answer.content)


def _observations(members: Iterable[Mapping[str, Any]]) -> list[Observation]:
    return [Observation.of_json(row) for row in members]
