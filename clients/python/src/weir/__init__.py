"""A client of the weir gateway: `Gateway` for plain programs, `AsyncGateway` for asyncio.

Both speak HTTP and WebSocket as docs/reference/http.md has it. What is said and what an answer means stands once, in
`operations` and `following`, which touch no socket; `plain` and `aio` carry it. MQTT, CoAP, AMQP and XMPP have clients
of their own and are deliberately not here.
"""

from .aio import AsyncGateway, AsyncSubscription
from .errors import Refused, Unanswered
from .events import Event, Gap, Message
from .observation import Observation, Value
from .plain import Gateway, Subscription

__all__ = [
    "AsyncGateway",
    "AsyncSubscription",
    "Event",
    "Gap",
    "Gateway",
    "Message",
    "Observation",
    "Refused",
    "Subscription",
    "Unanswered",
    "Value",
]
