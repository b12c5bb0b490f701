"""`python -m cluster.schedules [--seed S] [--count N]`: faults of a cluster by seed, under load, and what is found wrong.

Three gateways, three nats-servers and a PostgreSQL, each on a machine of its own (`network`). A schedule is some steps
of one fault or two at once, for a while; then all is made well and the load must go on. Seeds give faults, targets and
times, not the instants at which the machine runs what.
"""

import argparse
import contextlib
import itertools
import os
import random
import signal
import sys
import time
import unittest

from cluster import network
from cluster.database import Database
from cluster.load import Load
from cluster.servers import Servers
from gateway import Gateway

SERVERS, GATEWAYS, DATABASE = ("n0", "n1", "n2"), ("g0", "g1", "g2"), "db"
MACHINES = (*SERVERS, *GATEWAYS, DATABASE)
# Who talks to whom.
LINKS = (
    *itertools.combinations(SERVERS, 2),
    *itertools.product(GATEWAYS, (*SERVERS, DATABASE)),
)
STEPS, HOLD_S_MAX = 4, 5
# So many schedules have one cluster; then another begins.
OF_ONE_CLUSTER = 10
CLIENT_WAIT_S = 5
INSIDE = "WEIR_INSIDE_OWN_NETWORK"


class Remote(Gateway):
    """A gateway on a machine of its own, whose clients lose patience sooner."""

    def __init__(self, machine, settings):
        self.machine = machine
        listen = {"http.listen": f"{machine.address}:0"}
        off = {f"{name}.listen": "" for name in ("mqtt", "coap", "amqp")}
        super().__init__(settings={**listen, **off, "amqp.listen_tls": "", **settings}, arguments=("serve", "--open"))

    def command(self):
        return [*self.machine.inside(), *super().command()]

    def connect(self):
        connection = super().connect()
        connection.timeout = CLIENT_WAIT_S
        return connection


class Cluster:
    """All of it, by the names of machines; a context."""

    def __init__(self, test):
        with contextlib.ExitStack() as stack:
            self.machines = stack.enter_context(network.Network(MACHINES))
            self.servers = stack.enter_context(Servers(test, 3, [self.machines[name] for name in SERVERS]))
            self.database = stack.enter_context(Database(test, self.machines[DATABASE]))
            settings = {"bus.url": self.servers.url, "bus.replicas": "3", "store.url": self.database.url}
            made = [stack.enter_context(Remote(self.machines[name], settings)) for name in GATEWAYS]
            self.gateways = made
            self.stack = stack.pop_all()
        self.programs = {
            **dict(zip(SERVERS, self.servers.all)),
            **dict(zip(GATEWAYS, self.gateways)),
            DATABASE: self.database,
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    # Each fault is a pair: how it is made, and how it is made well.

    def kill(self, name):
        self.programs[name].kill()

    def start(self, name):
        self.programs[name].start()

    def pause(self, name):
        self.programs[name].process.send_signal(signal.SIGSTOP)

    def wake(self, name):
        self.programs[name].process.send_signal(signal.SIGCONT)

    def pull(self, name):
        self.machines[name].pull()

    def plug(self, name):
        self.machines[name].plug()

    def cut(self, one, other):
        self.deafen(one, other)
        self.deafen(other, one)

    def join(self, one, other):
        self.hear(one, other)
        self.hear(other, one)

    def deafen(self, one, other):
        self.machines[other].lose(self.machines[one])

    def hear(self, one, other):
        self.machines[other].reach(self.machines[one])

    def kill_servers(self):
        self.servers.kill_all()

    def start_servers(self):
        self.servers.start_all()

    def restart_all(self):
        """Every server and gateway in turn, each asked to end and waited for."""
        for server in self.servers.all:
            server.process.terminate()
            server.process.wait()
            server.start()
            self.servers.wait()
        for gateway in self.gateways:
            gateway.terminate()
            gateway.start()

    def nothing(self):
        pass


# Of each: what makes it, what makes it well, and how many machines it is about. Made well in this order.
FAULTS = (
    ("cut", "join", 2),
    ("deafen", "hear", 2),
    ("pull", "plug", 1),
    ("pause", "wake", 1),
    ("kill_servers", "start_servers", 0),
    ("restart_all", "nothing", 0),
    ("kill", "start", 1),
)


def drawn(chance):
    """One fault, as (its place in FAULTS, its machines)."""
    at = chance.choices(range(len(FAULTS)), weights=(4, 2, 3, 4, 2, 1, 4))[0]
    if FAULTS[at][2] == 2:
        return at, tuple(chance.sample(chance.choice(LINKS), 2))
    return at, tuple(chance.sample(MACHINES, FAULTS[at][2]))


def steps(seed):
    """The schedule of a seed: steps of (faults that are there at once, seconds that they stay)."""
    chance = random.Random(seed)
    for _ in range(STEPS):
        faults = [drawn(chance)]
        second = drawn(chance)
        apart = not set(faults[0][1]) & set(second[1])
        if chance.random() < 0.3 and apart and faults[0][1] and second[1]:
            faults.append(second)
        yield sorted(faults), chance.uniform(0.3, HOLD_S_MAX)


def said(faults, hold_s):
    """A step in words."""
    each = [" ".join([FAULTS[at][0].replace("_", " "), *machines]) for at, machines in faults]
    return f"{' and '.join(each)} for {hold_s:.1f} s"


def run(cluster, seed):
    """One schedule; the load that it ran under, and what is wrong."""
    load = Load(cluster.gateways, f"{seed}-")
    try:
        load.progress()
        for faults, hold_s in steps(seed):
            for at, machines in faults:
                getattr(cluster, FAULTS[at][0])(*machines)
            time.sleep(hold_s)
            for at, machines in sorted(faults, key=servers_first):
                getattr(cluster, FAULTS[at][1])(*machines)
            load.progress(least=5)
        return load, load.end() + faults_of_rows(cluster.database, load)
    except AssertionError as failed:
        return load, [str(failed)]
    finally:
        load.stop()


def servers_first(fault):
    """Links before processes, and servers before the gateways that look for them when they start."""
    at, machines = fault
    return at, [name in GATEWAYS for name in machines]


def faults_of_rows(database, load):
    """What the database has twice, where `load` wrote."""
    found = []
    for writer in load.writers:
        query = f"SELECT number::bigint FROM weir.observations WHERE topic = '{writer.topic}' GROUP BY 1"
        found += [f"{writer.topic}: {row} is there twice" for row in database.sql(f"{query} HAVING count(*) > 1")]
    return found


def schedules(seed, count):
    """Runs them; prints each, and ends the program at the first that fails."""
    done = promised = delivered = faulted = 0
    while done < count:
        with Cluster(unittest.TestCase()) as cluster:
            for _ in range(min(OF_ONE_CLUSTER, count - done)):
                tried = list(steps(seed))
                print(f"seed {seed}: " + "; ".join(said(*step) for step in tried), flush=True)
                load, found = run(cluster, seed)
                print(f"  {load.promised} acknowledged, {load.delivered} delivered, {len(found)} wrong", flush=True)
                if found:
                    keep(cluster, found)
                done, seed, faulted = done + 1, seed + 1, faulted + sum(len(faults) for faults, _ in tried)
                promised, delivered = promised + load.promised, delivered + load.delivered
    numbers = f"{done} schedules, {faulted} faults, {promised} messages acknowledged, {delivered} delivered"
    print(f"{numbers}, none lost, none twice, no gap told")


def keep(cluster, found):
    """Says what is wrong and what the programs said last, and ends the program."""
    for sentence in found:
        print(f"  {sentence}")
    logs = {name: cluster.programs[name].folder / "log" for name in (*SERVERS, DATABASE)}
    logs |= {name: cluster.programs[name].log.name for name in GATEWAYS}
    for name, path in logs.items():
        with open(path, errors="replace") as log:
            print(f"---- {name}\n{log.read()[-3000:]}")
    sys.exit(1)


def main():
    """Runs the schedules in a network of this process's own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, default=50)
    chosen = parser.parse_args()
    if os.environ.get(INSIDE):
        return schedules(chosen.seed, chosen.count)
    refused = network.unable()
    if refused:
        sys.exit(f"no network namespaces: {refused}")
    again = [sys.executable, "-m", "cluster.schedules", f"--seed={chosen.seed}", f"--count={chosen.count}"]
    return os.execvpe(network.ENTER[0], [*network.ENTER, *again], {**os.environ, INSIDE: "1"})


if __name__ == "__main__":
    main()
