"""Cables that are pulled and pairs that are cut off are so, and are well again afterwards."""

import subprocess
import sys
import unittest

import skips
from cluster import network


PORT = 7000
LISTENS = f"import socket; s = socket.create_server(('', {PORT})); print('in', flush=True)\nwhile True: s.accept()"
CALLS = f"import socket, sys; socket.create_connection((sys.argv[1], {PORT}), 1)"


def listens(machine):
    """A program that takes every connection there."""
    command = [*machine.inside(), sys.executable, "-c", LISTENS]
    program = subprocess.Popen(command, stdout=subprocess.PIPE)
    program.stdout.readline()
    return program


def hears(one, other):
    """Whether a connection of one to the other comes about."""
    call = [*one.inside(), sys.executable, "-c", CALLS, other.address]
    return subprocess.run(call, capture_output=True).returncode == 0


def faults():
    """In a network of this process's own: what is heard in each state."""
    with network.Network(("a", "b", "c")) as machines:
        a, b, c = (machines[name] for name in "abc")
        programs = [listens(machine) for machine in (b, c)]
        assert hears(a, b) and hears(a, c)
        a.lose(b)
        assert not hears(a, b) and hears(a, c) and hears(b, c)
        a.reach(b)
        assert hears(a, b)
        b.pull()
        assert not hears(a, b) and hears(a, c)
        b.plug()
        assert hears(a, b)
        for program in programs:
            program.kill()
            program.communicate()


class Network(unittest.TestCase):
    def test_what_is_cut_is_not_heard_and_the_rest_is(self):
        if refused := network.unable():
            skips.skip(self, f"{skips.KERNEL}no network namespaces: {refused}")
        command = [*network.ENTER, sys.executable, "-c", "from cluster.test_network import faults; faults()"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
