"""What was asked, what was promised and what came, and whether the three go together.

Writers publish numbers, one after another, each under a key, and try a number again until it is acknowledged. Readers
follow all of them by cursor and take up where they were. The checker then holds that

- nothing acknowledged is missing from history, and nothing is there twice or out of order;
- a reader that was told of no gap has every number of every writer exactly once, in order;
- where a reader misses a number or has it twice, a gap was told in between.
"""

import contextlib
import http.client
import json
import threading
import time

FILTER = "kept/%23"


class Writer(threading.Thread):
    """Publishes numbers to one topic until it is told to stop; `next` is the first that was not acknowledged."""

    def __init__(self, gateway, name):
        super().__init__(daemon=True)
        self.gateway, self.topic, self.next, self.stopped = gateway, f"kept/{name}", 0, threading.Event()
        self.refused = {}

    def run(self):
        connection = None
        while not self.stopped.is_set():
            try:
                connection = connection or self.gateway.connect()
                fields = {"Content-Type": "application/json", "Idempotency-Key": f"{self.topic}-{self.next}"}
                body = f'{{"value":{self.next}}}'
                status, _, _ = self.gateway.request("POST", f"/live/{self.topic}", body, fields, connection)
                if status == 204:
                    self.next += 1
                    continue
                self.refused[status] = self.refused.get(status, 0) + 1
            except (OSError, http.client.HTTPException):
                connection = None
            time.sleep(0.005)


class Reader(threading.Thread):
    """Follows all topics; what came before its control line did not come, since it comes again."""

    def __init__(self, gateway):
        super().__init__(daemon=True)
        self.gateway, self.cursor, self.stopped = gateway, gateway.cursor(), threading.Event()
        self.events = []  # (topic, number), or None for a gap
        self.connection = None

    def run(self):
        while not self.stopped.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError, AttributeError):
                self.follow()
            time.sleep(0.005)

    def follow(self):
        self.connection = self.gateway.connect()
        path = f"/live/{FILTER}?stream&since={self.cursor}"
        self.connection.request("GET", path, headers={"Accept": "application/json"})
        response, came = self.connection.getresponse(), []
        while line := response.readline():
            said = json.loads(line) if line.strip() else {}
            control = said.get("weir")
            if control is None:
                came += [(row["topic"], int(row["value"])) for row in said.get("observations", [])]
                continue
            if control.get("gap"):
                self.events.append(None)
            self.events += came
            self.cursor, came = control.get("cursor", self.cursor), []

    def stop(self):
        self.stopped.set()
        with contextlib.suppress(AttributeError, OSError):
            self.connection.sock.shutdown(2)


def faults_of_history(writers, gateway):
    """What is wrong with what is kept, in sentences."""
    found = []
    for writer in writers:
        kept = [int(row["value"]) for row in gateway.history(writer.topic, limit=10_000)]
        promised = writer.next
        if kept[:promised] != list(range(promised)):
            lost = sorted(set(range(promised)) - set(kept))[:5]
            found.append(f"{writer.topic}: {promised} acknowledged, {len(kept)} kept; missing {lost}")
        if len(set(kept)) != len(kept):
            found.append(f"{writer.topic}: stored twice: {sorted(n for n in set(kept) if kept.count(n) > 1)[:5]}")
        if len(kept) > promised + 1:
            found.append(f"{writer.topic}: {len(kept)} kept, {promised} acknowledged")
    return found


def faults_of_reader(reader, upto):
    """What is wrong with what a reader was given, once it has all numbers below those of `upto` by topic."""
    found, due = [], {topic: 0 for topic in upto}
    excused = {topic: False for topic in upto}
    for event in reader.events:
        if event is None:
            excused = dict.fromkeys(excused, True)
            continue
        topic, number = event
        if number != due[topic] and not excused[topic]:
            found.append(f"{topic}: {number} came where {due[topic]} was due, and no gap was told")
        due[topic], excused[topic] = number + 1, False
    for topic, first in upto.items():
        if due[topic] < first and not excused[topic]:
            found.append(f"{topic}: all up to {first} are kept, and {due[topic]} never came")
    return found


def has_all(reader, upto):
    """Whether a reader has come to the end of what is kept."""
    last = {}
    for event in reader.events:
        if event:
            last[event[0]] = event[1]
    return all(last.get(topic, -1) >= first - 1 for topic, first in upto.items())
