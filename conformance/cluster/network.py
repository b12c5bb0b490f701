"""Machines on one switch, each a network namespace of its own: cables are pulled, pairs cut off from each other.

For a process that is alone in its network (`schedules` enters one): the switch is made in that.
"""

import os
import subprocess

PREFIX = "10.79.0."
HERE = f"{PREFIX}254"
SWITCH = "switch"
# No card has this address, so what is sent there is lost without a word.
NOBODYS_CARD = "02:00:00:00:00:ff"
# How a process gets a network of its own; another user than root keeps its name, which PostgreSQL insists on.
ENTER = ["unshare", "-n"] if os.getuid() == 0 else ["unshare", "--map-current-user", "--keep-caps", "-n"]


def unable():
    """Why no namespaces can be had; nothing where they can."""
    try:
        made = "ip link add switch type bridge && ip link add one type veth peer name two && unshare -n true"
        tried = subprocess.run([*ENTER, "sh", "-c", made], capture_output=True, text=True)
    except OSError as reason:
        return str(reason)
    return tried.stderr.strip() or "refused" if tried.returncode else None


def run(*command):
    """Runs a command of the network, which must succeed."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"


class Machine:
    """One namespace with one cable to the switch."""

    def __init__(self, number, name):
        self.name, self.address = name, f"{PREFIX}{number}"
        self.card, self.port = f"02:00:00:00:00:{number:02x}", f"port{number}"
        self.holder = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "echo in; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.holder.stdout.readline()
        peer = ("peer", "name", "eth0", "address", self.card, "netns", str(self.holder.pid))
        run("ip", "link", "add", self.port, "type", "veth", *peer)
        run("ip", "link", "set", self.port, "master", SWITCH, "up")
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")

    def inside(self):
        """What a command begins with to run here; it becomes the command, so its process is the command's."""
        return ["nsenter", "-t", str(self.holder.pid), "-n", "--"]

    def run(self, *command):
        run(*self.inside(), *command)

    def pull(self):
        """Takes the cable out of the switch."""
        run("ip", "link", "set", self.port, "down")

    def plug(self):
        """Puts it back."""
        run("ip", "link", "set", self.port, "up")

    def sends(self, other, card):
        """Says to which card goes what is for another machine."""
        self.run("ip", "neigh", "replace", other.address, "lladdr", card, "dev", "eth0", "nud", "permanent")

    def lose(self, other):
        """What this one sends to the other is lost; the other way it may be heard."""
        self.sends(other, NOBODYS_CARD)

    def reach(self, other):
        """It arrives again."""
        self.sends(other, other.card)

    def close(self):
        # By itself it goes only when the kernel comes to clean up behind the namespace, perhaps after the next is made.
        run("ip", "link", "del", self.port)
        self.holder.stdin.close()
        self.holder.wait()
        self.holder.stdout.close()


class Network:
    """The switch, and machines by name; a context. This process has a cable to it, too."""

    def __init__(self, names):
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", SWITCH, "type", "bridge")
        run("ip", "addr", "add", f"{HERE}/24", "dev", SWITCH)
        run("ip", "link", "set", SWITCH, "up")
        self.machines = {name: Machine(number, name) for number, name in enumerate(names, 1)}

    def __getitem__(self, name):
        return self.machines[name]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for machine in self.machines.values():
            machine.close()
        run("ip", "link", "del", SWITCH)
