"""Writers and readers over several gateways, and what is held against them at the end.

They are those of the single machine (`faults.checker`). Each connection goes to another gateway than the one before,
so every break is a resume on another gateway.
"""

import itertools
import time

from faults import checker

WRITERS, READERS = 3, 2
MARK = "kept/0"


class Any:
    """All gateways as the one that a client is sent to next."""

    def __init__(self, gateways):
        self.gateways, self.turns = gateways, itertools.count()

    def connect(self):
        return self.gateways[next(self.turns) % len(self.gateways)].connect()

    def request(self, *arguments):
        return self.gateways[0].request(*arguments)

    def cursor(self):
        return self.gateways[0].cursor()


class Load:
    """Publishers and resuming subscribers; `name` begins the topics of the former."""

    def __init__(self, gateways, name="w"):
        self.gateways, each = gateways, Any(gateways)
        gateways[0].publish_value(MARK, -1)
        self.readers = [checker.Reader(each) for _ in range(READERS)]
        self.writers = [checker.Writer(each, f"{name}{at}") for at in range(WRITERS)]
        for thread in self.readers + self.writers:
            thread.start()

    @property
    def promised(self):
        return sum(writer.next for writer in self.writers)

    @property
    def delivered(self):
        return sum(len(reader.events) for reader in self.readers)

    def progress(self, least=20, within=60):
        """Waits until every writer was acknowledged some more."""
        before, until = [writer.next for writer in self.writers], time.monotonic() + within
        while any(writer.next < first + least for writer, first in zip(self.writers, before)):
            refused = [writer.refused for writer in self.writers]
            assert time.monotonic() < until, f"the writers stand still; refused: {refused}"
            time.sleep(0.05)

    def stop(self):
        for writer in self.writers:
            writer.stopped.set()
        for reader in self.readers:
            reader.stop()

    def end(self):
        """Stops the writers, waits for the readers and stops them; says what is wrong, in sentences."""
        for writer in self.writers:
            writer.stopped.set()
        for writer in self.writers:
            writer.join(timeout=60)
        # Whoever is acknowledged behind all of them has seen all of them.
        for gateway in self.gateways:
            gateway.publish_value(MARK, -2)
        kept = {writer.topic: len(self.gateways[0].history(writer.topic, limit=10_000)) for writer in self.writers}
        until = time.monotonic() + 60
        while not all(checker.has_all(reader, kept) for reader in self.readers) and time.monotonic() < until:
            time.sleep(0.1)
        found = []
        for gateway in self.gateways:
            found += checker.faults_of_history(self.writers, gateway)
        for reader in self.readers:
            reader.stop()
            # A number of an earlier load that was never acknowledged may have come late.
            reader.events = [it for it in reader.events if it is None or it[0] in kept]
            found += checker.faults_of_reader(reader, kept)
            found += ["a gap was told where nothing was lost"] * (None in reader.events)
        if self.delivered < self.promised:
            found.append(f"{self.promised} acknowledged, {self.delivered} delivered: the readers read nothing")
        return found
