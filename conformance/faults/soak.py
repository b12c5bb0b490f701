"""`python -m faults.soak [SECONDS]`: a day of a site within an hour, and whether memory and files stay flat.

A site of 500 sensors that say something every ten seconds is 50 observations a second; here it is twenty times as much, so
that an hour is most of a day: 3.6 million observations. Meanwhile readers come and go, by SSE and with MQTT sessions that
expire, and ask for the past; segments of the log fill up and are dropped, and so are chunks of the history. What the process
holds is looked at all the time; after a third of the time, in which caches and stores fill, it must not grow: the slope
is the median of those between all pairs of looks (Theil and Sen), which no single look moves.
"""

import contextlib
import http.client
import itertools
import json
import os
import pathlib
import random
import statistics
import sys
import threading
import time

from gateway import Gateway
from mqtt.raw import SESSION_EXPIRY, Client

SENSORS, OBSERVATIONS_A_SECOND, TIMES = 500, 50, 20
VALUES = 10  # of one sensor in a message
WRITERS = 4
LOOKS = 240
SETTINGS = {
    "log.segment_bytes": "1048576", "log.retention_bytes": "8388608",
    "history.retention_bytes": "8388608", "mqtt.sys_seconds": "0",
}
# Growth from the end of the first third to the end that is none.
BYTES, PART, FILES = 4 << 20, 0.05, 8


class Part(threading.Thread):
    """What is done again and again until it is over; says how often, and what went wrong."""

    def __init__(self, soak, seed):
        super().__init__(daemon=True)
        self.soak, self.chance, self.done, self.wrong = soak, random.Random(seed), 0, []

    def run(self):
        while not self.soak.over.is_set():
            try:
                self.once()
                self.done += 1
            except Exception as reason:  # noqa: BLE001: whatever it is, it is told at the end
                self.wrong.append(f"{type(self).__name__}: {reason!r}")
                time.sleep(0.5)


class Writing(Part):
    """Messages at their due times, late ones at once."""

    def __init__(self, soak, seed):
        super().__init__(soak, seed)
        self.connection = soak.gateway.connect()
        self.every = WRITERS * VALUES / (OBSERVATIONS_A_SECOND * TIMES)
        self.due = time.monotonic() + self.every * seed / WRITERS

    def once(self):
        time.sleep(max(0.0, self.due - time.monotonic()))
        self.due += self.every
        sensor = self.chance.randrange(SENSORS)
        body = json.dumps([{"value": round(self.chance.gauss(20, 5), 2)} for _ in range(VALUES)])
        try:
            self.soak.gateway.publish(f"soak/{sensor}", body, connection=self.connection)
        except (OSError, http.client.HTTPException):
            self.connection = self.soak.gateway.connect()
            raise


class Following(Part):
    """A page that is looked at for a second."""

    def once(self):
        connection = self.soak.gateway.connect()
        connection.timeout = 2
        with contextlib.closing(connection):
            path = f"/live/soak/{self.chance.choice(['%23', '%2B', '7'])}"
            connection.request("GET", path, headers={"Accept": "text/event-stream"})
            response, ends = connection.getresponse(), time.monotonic() + 1
            with contextlib.suppress(TimeoutError):
                while time.monotonic() < ends and response.readline():
                    pass


class Visiting(Part):
    """A client that leaves its session for a minute and may not come back for it."""

    def once(self):
        name, expiry = f"visitor-{self.chance.randrange(200)}", [(SESSION_EXPIRY, 60)]
        client = Client.connected(self.soak.gateway.ready["mqtt"], name, 5, clean=False, properties=expiry)
        with contextlib.closing(client.socket):
            client.subscribe((f"soak/{self.chance.randrange(SENSORS)}", 1))
            time.sleep(0.2)


class Asking(Part):
    """Means of windows, and pages of rows."""

    def once(self):
        gateway, sensor = self.soak.gateway, self.chance.randrange(SENSORS)
        for query in ("agg=mean:10s", "limit=100"):
            status, _, said = gateway.request("GET", f"/history/soak/{sensor}?{query}")
            assert status == 200, said
        time.sleep(0.2)


class Soak:
    """One gateway, all that is done to it, and what it held meanwhile: (seconds, bytes, files)."""

    def __init__(self, seconds):
        self.gateway, self.over, self.seconds, self.looks = Gateway(settings=SETTINGS), threading.Event(), seconds, []
        self.parts = [Writing(self, n) for n in range(WRITERS)] + [Following(self, 1), Following(self, 2)]
        self.parts += [Visiting(self, 3), Asking(self, 4)]

    def run(self):
        begin = time.monotonic()
        for part in self.parts:
            part.start()
        for look in range(1, LOOKS + 1):
            time.sleep(max(0.0, begin + look * self.seconds / LOOKS - time.monotonic()))
            self.looks.append((time.monotonic() - begin, *held(self.gateway.process.pid)))
        self.over.set()
        for part in self.parts:
            part.join(timeout=30)

    def wrong(self):
        """In sentences."""
        found = [sentence for part in self.parts for sentence in part.wrong[:3]]
        if self.gateway.process.poll() is not None:
            found.append("it ended")
        for name, index, least in (("bytes of memory", 1, BYTES), ("files", 2, FILES)):
            grown, usual = growth([(look[0], look[index]) for look in self.looks])
            if grown > max(least, PART * usual):
                found.append(f"{grown:,.0f} {name} more in the end, of {usual:,.0f}")
        return found


def held(process):
    """Bytes of memory that a process holds, and files that it has open."""
    pages = pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{process}/fd"))


def growth(course):
    """By how much a course, of (seconds, value), grows behind its first third, and the median there."""
    course = course[len(course) // 3:]
    slopes = [(b - a) / (t - s) for (s, a), (t, b) in itertools.combinations(course, 2) if t > s]
    return statistics.median(slopes) * (course[-1][0] - course[0][0]), statistics.median(value for _, value in course)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600
    soak = Soak(seconds)
    try:
        soak.run()
        found = soak.wrong()
    finally:
        soak.gateway.close()
    print("| after, s | memory, MB | files |\n|---|---|---|")
    for after, memory, files in soak.looks[:: LOOKS // 12]:
        print(f"| {after:.0f} | {memory / 1e6:.1f} | {files} |")
    observations = VALUES * sum(part.done for part in soak.parts if isinstance(part, Writing))
    others = {type(part).__name__: part.done for part in soak.parts if not isinstance(part, Writing)}
    for sentence in found:
        print(sentence)
    grown, usual = growth([(after, memory) for after, memory, _ in soak.looks])
    print(f"tried {seconds:.0f} s: {observations:,} observations, {others}; memory {usual / 1e6:.1f} MB, "
          f"{grown / 1e6:+.2f} MB behind the first third")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
