"""The client for asyncio: each call is awaited, a subscription is iterated over by `async for`.

`plain.py` is made of this file by `make_plain.py`.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import httpx
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.asyncio.client import connect
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


class AsyncGateway:
    """A gateway at an address, with a token or with a user and password where it wants them."""

    def __init__(
        self, url: str, *, token: str | None = None, user: str | None = None, password: str | None = None
    ) -> None:
        self._access = Access.of(url, token, user, password)
        self._client = httpx.AsyncClient(headers=self._access.headers, timeout=TIMEOUT)

    async def publish(self, topic: str, value: Value, *, key: str | None = None, **members: Any) -> str:
        """Publishes one observation, with `time`, `unit`, `type`, `sensor`, `lat`, `lon` as wanted.

        Returns its cursor once it is on disk. A repeat with the same `key` is kept once.
        """
        return await self.publish_all(topic, [{"value": value, **members}], key=key)

    async def publish_all(
        self, topic: str, observations: Iterable[Observation | Mapping[str, Any]], *, key: str | None = None
    ) -> str:
        """Publishes a message; the topics of its observations lie at or under `topic`, or are not said."""
        content = operations.message_of(observations)
        return await self._run(operations.publish(topic, content, operations.JSON, key))

    async def publish_table(
        self, topic: str, table: "pyarrow.Table | pandas.DataFrame", *, key: str | None = None
    ) -> str:
        """Publishes a table or data frame with columns as docs/reference/formats-arrow.md names them."""
        return await self._run(operations.publish(topic, tables.payload_of(table), operations.ARROW, key))

    async def latest(self, *filters: str) -> list[Observation]:
        """The last observation of each datastream that a filter matches."""
        return await self._run(operations.latest(filters))

    async def catalog(self, filter: str = "#") -> list[Observation]:
        """The datastreams there are, with their last values."""
        return await self._run(operations.catalog(filter))

    async def history(
        self,
        filter: str,
        start: datetime | str | None = None,
        end: datetime | str | None = None,
        *,
        every: str | None = None,
        agg: str | None = None,
        unit: str | None = None,
        page_size: int = HISTORY_PAGE,
    ) -> AsyncIterator[Observation]:
        """What is kept, by time and then topic, a page asked for when it is needed; `start` and `end` are times or
        a span before now (`-1h`), `unit` a code of UCUM, or "" for the unit that each datastream has now."""
        parameters = operations.range_of(start, end, every, agg, unit, page_size)
        token: str | None = None
        while True:
            rows, token = await self._run(operations.rows(filter, operations.paged(parameters, token)))
            for row in rows:
                yield row
            if token is None:
                return

    async def history_table(
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
        return tables.joined(await self._run(operations.pages(filter, parameters)))

    async def history_frame(
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
            await self.history_table(filter, start, end, every=every, agg=agg, unit=unit, page_size=page_size)
        )

    def subscribe(
        self,
        *filters: str,
        delivery: Delivery = "sse",
        format: str = "json",
        since: str | None = None,
        snapshot: bool = False,
        **asked: str,
    ) -> "AsyncSubscription":
        """Follows filters from now, from behind the cursor `since`, or beginning with the last values.

        `asked` are `every`, `agg`, `where`, `unit` and `policy` of docs/reference/http.md.
        """
        wanted = Wanted(filters or ("#",), delivery, format, snapshot, list(asked.items()))
        return AsyncSubscription(self, Following(wanted, since))

    async def close(self) -> None:
        """Lets connections go."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, operation: Operation[Result]) -> Result:
        try:
            step = next(operation)
            while True:
                step = operations.advance(operation, await self._do(step))
        except StopIteration as end:
            result: Result = end.value
            return result

    async def _do(self, step: Request | Pause) -> httpx.Response | Unanswered | None:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        try:
            return await self._ask(step)
        except httpx.TransportError as error:
            return Unanswered(f"{self._access.address(step)}: {error}")

    async def _ask(self, request: Request) -> httpx.Response:
        answer = await self._client.send(self._request(request), stream=True)
        if not request.endless or not answer.is_success:
            await answer.aread()
        await answer.aclose()
        return answer

    def _request(self, request: Request) -> httpx.Request:
        address = self._access.address(request)
        return self._client.build_request(
            request.method, address, headers=request.headers, content=request.content
        )


class AsyncSubscription:
    """Messages and gaps, one after the other, for ever: a connection that ends is made anew and goes on behind the
    last event. Only a refusal that no attempt changes ends it, as `Refused`."""

    def __init__(self, gateway: AsyncGateway, following: Following) -> None:
        self._gateway = gateway
        self._following = following
        self._events = self._follow()

    @property
    def cursor(self) -> str | None:
        """Where a later subscription goes on, as `since`, behind the event that was given last."""
        return self._following.cursor

    async def close(self) -> None:
        """Ends the connection."""
        await self._events.aclose()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        return await anext(self._events)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _follow(self) -> AsyncGenerator[Event]:
        while True:
            error: Exception | None = None
            try:
                async with aclosing(self._attempt()) as events:
                    async for event in events:
                        self._following.seen(event)
                        yield event
            except (httpx.TransportError, OSError, WebSocketException, Refused, Unanswered) as reason:
                error = reason
            await asyncio.sleep(self._following.pause_s(error))

    async def _attempt(self) -> AsyncGenerator[Event]:
        following, wanted = self._following, self._following.wanted
        following.binary = await self._gateway._run(operations.is_binary(wanted.format))
        if following.begins_now:
            following.cursor = await self._gateway._run(operations.cursor(wanted.filters))
        attempts = {"sse": self._stream, "websocket": self._socket, "longpoll": self._polls}
        async with aclosing(attempts[wanted.delivery]()) as events:
            async for event in events:
                yield event

    async def _stream(self) -> AsyncGenerator[Event]:
        gateway, following = self._gateway, self._following
        answer = await gateway._client.send(gateway._request(following.stream()), stream=True)
        try:
            if not answer.is_success:
                raise operations.refusal(answer.status_code, answer.headers, await answer.aread())
            following.opened()
            events = following.events()
            async for piece in answer.aiter_bytes():
                for event in events.take(piece):
                    yield event
        finally:
            await answer.aclose()

    async def _socket(self) -> AsyncGenerator[Event]:
        access, following = self._gateway._access, self._following
        try:
            socket = await connect(
                access.socket(following.socket()),
                additional_headers=access.headers,
                subprotocols=[Subprotocol(f"weir.{following.wanted.format}")],
                open_timeout=CONNECT_S,
                max_size=MESSAGE_BYTES_MAX,
            )
        except InvalidStatus as invalid:
            answer = invalid.response
            raise operations.refusal(answer.status_code, answer.headers, answer.body or b"") from None
        async with socket:
            following.opened()
            frames = following.frames()
            async for frame in socket:
                for event in frames.take(frame):
                    yield event

    async def _polls(self) -> AsyncGenerator[Event]:
        gateway, following = self._gateway, self._following
        while True:
            answer = await gateway._ask(following.poll())
            if not answer.is_success:
                raise operations.refusal(answer.status_code, answer.headers, answer.content)
            for event in following.polled(answer.headers, answer.content):
                yield event
