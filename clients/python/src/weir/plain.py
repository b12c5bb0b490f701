"""The client for programs without asyncio: each call waits for its answer, a subscription is iterated over.

For use by one thread at a time; a program with several subscriptions at once is better off with `aio`, of which this
file is made by `make_plain.py`.
"""

import time
from collections.abc import Generator, Iterator, Iterable, Mapping
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import httpx
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from . import operations, tables
from .access import TIMEOUT, Access
from .errors import Refused, Unanswered
from .events import Event
from .following import Delivery, Following, Wanted
from .limits import CONNECT_S, HISTORY_PAGE, MESSAGE_BYTES_MAX
from .observation import Observation, Value
from .operations import Operation, Pause, Request, Result

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Gateway:
    """A gateway at an address, with a token or with a user and password where it wants them."""

    def __init__(
        self, url: str, *, token: str | None = None, user: str | None = None, password: str | None = None
    ) -> None:
        self._access = Access.of(url, token, user, password)
        self._client = httpx.Client(headers=self._access.headers, timeout=TIMEOUT)

    def publish(self, topic: str, value: Value, *, key: str | None = None, **members: Any) -> str:
        """Publishes one observation, with `time`, `unit`, `type`, `sensor`, `lat`, `lon` as wanted.

        Returns its cursor once it is on disk. A repeat with the same `key` is kept once.
        """
        return self.publish_all(topic, [{"value": value, **members}], key=key)

    def publish_all(
        self, topic: str, observations: Iterable[Observation | Mapping[str, Any]], *, key: str | None = None
    ) -> str:
        """Publishes a message; the topics of its observations lie at or under `topic`, or are not said."""
        content = operations.message_of(observations)
        return self._run(operations.publish(topic, content, operations.JSON, key))

    def publish_table(
        self, topic: str, table: "pyarrow.Table | pandas.DataFrame", *, key: str | None = None
    ) -> str:
        """Publishes a table or data frame with columns as docs/reference/formats-arrow.md names them."""
        return self._run(operations.publish(topic, tables.payload_of(table), operations.ARROW, key))

    def latest(self, *filters: str) -> list[Observation]:
        """The last observation of each datastream that a filter matches."""
        return self._run(operations.latest(filters))

    def catalog(self, filter: str = "#") -> list[Observation]:
        """The datastreams there are, with their last values."""
        return self._run(operations.catalog(filter))

    def history(
        self,
        filter: str,
        start: datetime | str | None = None,
        end: datetime | str | None = None,
        *,
        every: str | None = None,
        agg: str | None = None,
        unit: str | None = None,
        page_size: int = HISTORY_PAGE,
    ) -> Iterator[Observation]:
        """What is kept, by time and then topic, a page asked for when it is needed; `start` and `end` are times or
        a span before now (`-1h`), `unit` a code of UCUM, or "" for the unit that each datastream has now."""
        parameters = operations.range_of(start, end, every, agg, unit, page_size)
        token: str | None = None
        while True:
            rows, token = self._run(operations.rows(filter, operations.paged(parameters, token)))
            for row in rows:
                yield row
            if token is None:
                return

    def history_table(
        self,
        filter: str,
        start: datetime | str | None = None,
        end: datetime | str | None = None,
        *,
        every: str | None = None,
        agg: str | None = None,
        unit: str | None = None,
        page_size: int = HISTORY_PAGE,
    ) -> "pyarrow.Table":
        """The same as one table of Arrow."""
        parameters = operations.range_of(start, end, every, agg, unit, page_size)
        return tables.joined(self._run(operations.pages(filter, parameters)))

    def history_frame(
        self,
        filter: str,
        start: datetime | str | None = None,
        end: datetime | str | None = None,
        *,
        every: str | None = None,
        agg: str | None = None,
        unit: str | None = None,
        page_size: int = HISTORY_PAGE,
    ) -> "pandas.DataFrame":
        """The same as a data frame of pandas."""
        return tables.frame_of(
            self.history_table(filter, start, end, every=every, agg=agg, unit=unit, page_size=page_size)
        )

    def subscribe(
        self,
        *filters: str,
        delivery: Delivery = "sse",
        format: str = "json",
        since: str | None = None,
        snapshot: bool = False,
        **asked: str,
    ) -> "Subscription":
        """Follows filters from now, from behind the cursor `since`, or beginning with the last values.

        `asked` are `every`, `agg`, `where`, `unit` and `policy` of docs/reference/http.md.
        """
        wanted = Wanted(filters or ("#",), delivery, format, snapshot, list(asked.items()))
        return Subscription(self, Following(wanted, since))

    def close(self) -> None:
        """Lets connections go."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, operation: Operation[Result]) -> Result:
        try:
            step = next(operation)
            while True:
                step = operations.advance(operation, self._do(step))
        except StopIteration as end:
            result: Result = end.value
            return result

    def _do(self, step: Request | Pause) -> httpx.Response | Unanswered | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        try:
            return self._ask(step)
        except httpx.TransportError as error:
            return Unanswered(f"{self._access.address(step)}: {error}")

    def _ask(self, request: Request) -> httpx.Response:
        answer = self._client.send(self._request(request), stream=True)
        if not request.endless or not answer.is_success:
            answer.read()
        answer.close()
        return answer

    def _request(self, request: Request) -> httpx.Request:
        address = self._access.address(request)
        return self._client.build_request(
            request.method, address, headers=request.headers, content=request.content
        )


class Subscription:
    """Messages and gaps, one after the other, for ever: a connection that ends is made anew and goes on behind the
    last event. Only a refusal that no attempt changes ends it, as `Refused`."""

    def __init__(self, gateway: Gateway, following: Following) -> None:
        self._gateway = gateway
        self._following = following
        self._events = self._follow()

    @property
    def cursor(self) -> str | None:
        """Where a later subscription goes on, as `since`, behind the event that was given last."""
        return self._following.cursor

    def close(self) -> None:
        """Ends the connection."""
        self._events.close()

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return next(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _follow(self) -> Generator[Event]:
        while True:
            error: Exception | None = None
            try:
                with closing(self._attempt()) as events:
                    for event in events:
                        self._following.seen(event)
                        yield event
            except (httpx.TransportError, OSError, WebSocketException, Refused, Unanswered) as reason:
                error = reason
            time.sleep(self._following.pause_s(error))

    def _attempt(self) -> Generator[Event]:
        following, wanted = self._following, self._following.wanted
        following.binary = self._gateway._run(operations.is_binary(wanted.format))
        if following.begins_now:
            following.cursor = self._gateway._run(operations.cursor(wanted.filters))
        attempts = {"sse": self._stream, "websocket": self._socket, "longpoll": self._polls}
        with closing(attempts[wanted.delivery]()) as events:
            for event in events:
                yield event

    def _stream(self) -> Generator[Event]:
        gateway, following = self._gateway, self._following
        answer = gateway._client.send(gateway._request(following.stream()), stream=True)
        try:
            if not answer.is_success:
                raise operations.refusal(answer.status_code, answer.headers, answer.read())
            following.opened()
            events = following.events()
            for piece in answer.iter_bytes():
                for event in events.take(piece):
                    yield event
        finally:
            answer.close()

    def _socket(self) -> Generator[Event]:
        access, following = self._gateway._access, self._following
        try:
            socket = connect(
                access.socket(following.socket()),
                additional_headers=access.headers,
                subprotocols=[Subprotocol(f"weir.{following.wanted.format}")],
                open_timeout=CONNECT_S,
                max_size=MESSAGE_BYTES_MAX,
            )
        except InvalidStatus as invalid:
            answer = invalid.response
            raise operations.refusal(answer.status_code, answer.headers, answer.body or b"") from None
        with socket:
            following.opened()
            frames = following.frames()
            for frame in socket:
                for event in frames.take(frame):
                    yield event

    def _polls(self) -> Generator[Event]:
        gateway, following = self._gateway, self._following
        while True:
            answer = gateway._ask(following.poll())
            if not answer.is_success:
                raise operations.refusal(answer.status_code, answer.headers, answer.content)
            for event in following.polled(answer.headers, answer.content):
                yield event
