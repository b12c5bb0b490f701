"""Why a request has no result, and what is worth another attempt."""

import random

from .limits import RETRY_FIRST_S, RETRY_MAX_S


class Refused(Exception):
    """The gateway answered with a status that is no success; `detail` is its own sentence."""

    def __init__(self, status: int, detail: str, retry_after_s: float | None = None) -> None:
        super().__init__(f"{status}: {detail}" if detail else f"the gateway answered {status}")
        self.status = status
        self.detail = detail
        self.retry_after_s = retry_after_s

    @property
    def lasting(self) -> bool:
        """Whether the same request would be refused again."""
        return 400 <= self.status < 500 and self.status not in (408, 429)


class Unanswered(Exception):
    """Nobody answered, or the connection ended before the answer did."""


def pause_s(failures: int, error: Exception | None) -> float:
    """Pause before attempt number `failures` + 1: what the gateway asked for, or half of a doubling bound and a
    random part of the rest, so that many clients do not come back at once."""
    if isinstance(error, Refused) and error.retry_after_s is not None:
        return error.retry_after_s
    bound = min(RETRY_MAX_S, RETRY_FIRST_S * 2.0 ** min(failures - 1, 30))
    return bound / 2 + random.random() * bound / 2
