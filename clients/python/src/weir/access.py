"""Addresses and credentials, the same for both clients."""

import base64
from dataclasses import dataclass
from urllib.parse import urlencode

import httpx

from .limits import CONNECT_S, SILENCE_S
from .operations import Request

TIMEOUT = httpx.Timeout(SILENCE_S, connect=CONNECT_S)


@dataclass(frozen=True)
class Access:
    """A gateway's address and who asks: a token, or a user with a password, or nobody."""

    base: str
    headers: dict[str, str]

    @classmethod
    def of(cls, url: str, token: str | None, user: str | None, password: str | None) -> "Access":
        """Takes one credential at most."""
        if token is not None and user is not None:
            raise ValueError("either a token or a user with a password")
        base = url if url.endswith("/") else f"{url}/"
        if token is not None:
            return cls(base, {"Authorization": f"Bearer {token}"})
        if user is None:
            return cls(base, {})
        pair = base64.b64encode(f"{user}:{password or ''}".encode()).decode()
        return cls(base, {"Authorization": f"Basic {pair}"})

    def address(self, request: Request) -> str:
        """The absolute address of a request."""
        query = f"?{urlencode(request.parameters)}" if request.parameters else ""
        return f"{self.base}{request.path}{query}"

    def socket(self, request: Request) -> str:
        """The same for a WebSocket."""
        return "ws" + self.address(request).removeprefix("http")
