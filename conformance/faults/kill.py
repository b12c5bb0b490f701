"""`python -m faults.kill [COUNT] [SEED]`: kills a gateway at random instants and checks; prints what was tried."""

import random
import sys
import time

from faults.checker import Reader, Writer, faults_of_history, faults_of_reader, has_all
from gateway import Gateway

WRITERS, READERS = 6, 2
WAIT_S = 60


def until(holds, what):
    ends = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > ends:
            return f"not within {WAIT_S} s: {what}"
        time.sleep(0.01)
    return None


class Run:
    """One gateway that is killed again and again, and what is found wrong."""

    def __init__(self, seed):
        self.chance, self.seed, self.found = random.Random(seed), seed, []
        # Small segments, so that kills hit their changes too.
        self.gateway = Gateway(settings={"log.segment_bytes": "1048576"})
        self.writers = [Writer(self.gateway, str(n)) for n in range(WRITERS)]
        self.readers = [Reader(self.gateway) for _ in range(READERS)]
        for thread in self.writers + self.readers:
            thread.start()

    def kill(self):
        """Once: at an instant after the first acknowledgement of this run, or while it starts."""
        before = self.promised()
        late = until(lambda: self.promised() > before, "an acknowledgement")
        if late:
            self.found.append(late)
        time.sleep(self.chance.expovariate(12))
        self.gateway.kill()
        if self.chance.random() < 0.2:
            self.hurry()
        self.gateway.start()

    def hurry(self):
        """Kills it while it recovers, before it is ready."""
        import subprocess

        process = subprocess.Popen(self.gateway.command(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(self.chance.random() * 0.1)
        process.kill()
        process.wait()
        process.stdout.close()

    def promised(self):
        return sum(writer.next for writer in self.writers)

    def check(self):
        """Everything, at rest."""
        for writer in self.writers:
            writer.stopped.set()
        for writer in self.writers:
            writer.join()
        self.found += faults_of_history(self.writers, self.gateway)
        upto = {it.topic: len(self.gateway.history(it.topic, limit=10_000)) for it in self.writers}
        for reader in self.readers:
            late = until(lambda reader=reader: has_all(reader, upto), "a reader has all")
            self.found += [late] if late else []
            self.found += faults_of_reader(reader, upto)
            reader.stop()

    def close(self):
        self.gateway.close()


def schedule(seed, kills):
    """Some kills of one gateway; what is wrong, and what was promised and delivered."""
    run = Run(seed)
    try:
        for _ in range(kills):
            run.kill()
        run.check()
    finally:
        run.close()
    return run.found, run.promised(), sum(len(reader.events) for reader in run.readers)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    done = promised = delivered = 0
    while done < count:
        kills = min(10, count - done)
        found, acknowledged, came = schedule(seed, kills)
        done, promised, delivered = done + kills, promised + acknowledged, delivered + came
        print(f"seed {seed}: {kills} kills, {acknowledged} acknowledged, {came} delivered, {len(found)} wrong", flush=True)
        for sentence in found:
            print(f"  {sentence}")
        if found:
            sys.exit(1)
        seed += 1
    print(f"{done} kills, {promised} messages acknowledged, {delivered} delivered, none lost, none twice")


if __name__ == "__main__":
    main()
