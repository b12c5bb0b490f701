"""Ports for servers that keep theirs while they are down: none that the kernel gives to a connection, and none that
another suite gives away at the same time."""

import functools
import itertools
import pathlib
import socket

# The first port of all and how many each process has; below what connections and `:0` get of Linux.
FIRST, EACH = 12_000, 200
EPHEMERAL = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")


def last():
    """Behind the last port that a server may have; 28,000 and what follows are taken by the tests in the browser."""
    return min(28_000, int(EPHEMERAL.read_text().split()[0]))


@functools.cache
def mine():
    """The ports of this process, in turn: held for as long as it lives by a name that one process can have."""
    for first in range(FIRST, last() - EACH + 1, EACH):
        held = socket.socket(socket.AF_UNIX)
        try:
            held.bind(f"\0weir-test-ports-{first}")
        except OSError:
            held.close()
            continue
        return held, itertools.cycle(range(first, first + EACH))
    raise RuntimeError(f"all ports from {FIRST} to {last()} are held by other tests")


def is_free(port):
    """By TCP and by UDP: who has one for both listens at the same number."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True


def free_port():
    """One that nothing listens at, and that comes again only after all others of this process."""
    _, ports = mine()
    for port in itertools.islice(ports, EACH):
        if is_free(port):
            return port
    raise RuntimeError(f"all {EACH} ports of this process are taken")


def free_ports(count):
    return [free_port() for _ in range(count)]
