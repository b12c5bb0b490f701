"""Makes `plain.py` of `aio.py`: the same client without asyncio. `python make_plain.py` writes it, a test compares.

Words are replaced and nothing else is looked at, as unasync does it; a client that needs more than that is written so
that it does not.
"""

import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parent / "src/weir/aio.py"
TARGET = SOURCE.with_name("plain.py")

HEAD = '''"""The client for programs without asyncio: each call waits for its answer, a subscription is iterated over.

For use by one thread at a time; a program with several subscriptions at once is better off with `aio`, of which this
file is made by `make_plain.py`.
"""
'''

WORDS = {
    "AsyncGateway": "Gateway",
    "AsyncSubscription": "Subscription",
    "AsyncGenerator": "Generator",
    "AsyncIterator": "Iterator",
    "AsyncClient": "Client",
    "StopAsyncIteration": "StopIteration",
    "aclosing": "closing",
    "aclose": "close",
    "aread": "read",
    "aiter_bytes": "iter_bytes",
    "anext": "next",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
}


def plain(source: str) -> str:
    """The text of the client without asyncio."""
    _, body = source.split('"""\n', 1)
    body = body.replace("websockets.asyncio", "websockets.sync").replace("asyncio", "time")
    body = re.sub(r"\basync (?=def|with|for)|\bawait ", "", body)
    return HEAD + re.sub(r"\w+", lambda word: WORDS.get(word[0], word[0]), body)


if __name__ == "__main__":
    TARGET.write_text(plain(SOURCE.read_text()))
