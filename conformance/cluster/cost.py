"""`python -m cluster.cost [--rounds N] [--seconds S]`: what replicas and syncing cost a publisher, in one run.

One gateway over each of five logs: its own disk, and JetStream with one server or three, of which each syncs every
write or leaves that to the operating system. All of them are there from the beginning, and each round measures them one
after the other, in an order that turns, so that what the machine does beside meets all of them: published one by one by
one connection (a message's time), and by `--connections` at once (messages a second). The table has the median of the
rounds, and the least and the most.
"""

import argparse
import contextlib
import socket
import statistics
import threading
import time
import unittest

from cluster.servers import Servers
from gateway import Gateway

BODY = b"21.5"
LOGS = [("its own disk", 0, ""), ("1", 1, "always"), ("1", 1, "2m"), ("3", 3, "always"), ("3", 3, "2m")]


class Publisher:
    """One connection that publishes and waits for each acknowledgment."""

    def __init__(self, gateway, topic):
        self.socket = socket.create_connection((gateway.host, gateway.port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = f"POST /live/{topic} HTTP/1.1\r\nHost: {gateway.address}\r\nContent-Type: text/plain\r\n"
        self.request = f"{head}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY
        self.times = []

    def run(self, until):
        while (begun := time.monotonic()) < until:
            self.socket.sendall(self.request)
            answer = self.socket.recv(4096)
            while not answer.endswith(b"\r\n\r\n"):
                answer += self.socket.recv(4096)
            assert answer.startswith(b"HTTP/1.1 204"), answer
            self.times.append(time.monotonic() - begun)


def measure(gateway, connections, seconds, turn):
    """Messages a second, and how long each took."""
    publishers = [Publisher(gateway, f"cost/{turn}/{at}") for at in range(connections)]
    begun = time.monotonic()
    threads = [threading.Thread(target=each.run, args=(begun + seconds,)) for each in publishers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lasted = time.monotonic() - begun
    times = sorted(time for each in publishers for time in each.times)
    for each in publishers:
        each.socket.close()
    return len(times) / lasted, times


def gateway_of(stack, replicas, sync):
    settings = {}
    if replicas:
        servers = stack.enter_context(Servers(unittest.TestCase(), replicas, sync=sync))
        settings = {"bus.url": servers.url, "bus.replicas": str(replicas)}
    return stack.enter_context(Gateway(settings=settings))


def row(name, sync, alone, many):
    """A line of the table: medians of the rounds, with the least and the most."""
    def of(values, form):
        low, middle, high = min(values), statistics.median(values), max(values)
        return f"{middle:{form}} ({low:{form}} to {high:{form}})"

    middle = [1000 * times[len(times) // 2] for _, times in alone]
    late = [1000 * times[len(times) * 99 // 100] for _, times in alone]
    rate = [rate for rate, _ in many]
    return f"| {name} | {sync or 'each write'} | {of(middle, '.2f')} | {of(late, '.2f')} | {of(rate, ',.0f')} |"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=3)
    arguments.add_argument("--connections", type=int, default=32)
    asked = arguments.parse_args()
    with contextlib.ExitStack() as stack:
        gateways = [gateway_of(stack, replicas, sync) for _, replicas, sync in LOGS]
        alone, many = [[] for _ in LOGS], [[] for _ in LOGS]
        for each in gateways:
            measure(each, asked.connections, 1, "first")
        for turn in range(asked.rounds):
            for at in (*range(turn % len(LOGS), len(LOGS)), *range(turn % len(LOGS))):
                alone[at].append(measure(gateways[at], 1, asked.seconds, turn))
                many[at].append(measure(gateways[at], asked.connections, asked.seconds, turn))
    print("| servers that have it | they sync | one at a time: median, ms | 99th of 100, ms | "
          f"{asked.connections} connections: messages a second |")
    print("|---|---|---|---|---|")
    for (name, _, sync), one, more in zip(LOGS, alone, many):
        said = {"always": "each write", "2m": "every two minutes (the default)"}.get(sync, sync)
        print(row(name, said, one, more), flush=True)


if __name__ == "__main__":
    main()
