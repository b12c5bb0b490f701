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


def hold(name):
    """A name that one process can have: what holds it for as long as this lives, or None where another has it."""
    held = socket.socket(socket.AF_UNIX)
    try:
        held.bind(f"\0weir-test-{name}")
    except OSError:
        held.close()
        return None
    return held


@functools.cache
def mine():
    """What holds the ports of this process, and these in turn."""
    for first in range(FIRST, last() - EACH + 1, EACH):
        held = hold(f"ports-{first}")
        if held:
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
