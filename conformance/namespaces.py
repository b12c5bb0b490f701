"""Network namespaces of one's own, for programs that are to be at other places than this one."""

import os
import subprocess
import sys

import skips

INSIDE = "INSIDE_OWN_NETWORK"
# What enters a new one; who is not root is root of that alone.
ENTER = ["unshare", "-n"] if os.getuid() == 0 else ["unshare", "-rn"]


def run(*command):
    """Runs a command of the network, which must succeed."""
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"


class Namespace:
    """Another one than this process's; gone with the process."""

    def __init__(self):
        self.holder = subprocess.Popen(
            ["unshare", "-n", "sh", "-c", "echo in; exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.holder.stdout.readline()
        run(*self.inside("ip", "link", "set", "lo", "up"))

    @property
    def pid(self):
        return str(self.holder.pid)

    def inside(self, *command, user=None):
        """A command that runs in it, as this user where one is given."""
        as_user = ["-S", str(user), "-G", str(user)] if user else []
        return ["nsenter", "-t", self.pid, "-n", *as_user, "--", *command]

    def close(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdin.close()
        self.holder.stdout.close()


def unable():
    """Why no namespaces can be had; nothing where they can."""
    try:
        tried = subprocess.run([*ENTER, "unshare", "-n", "true"], capture_output=True, text=True)
    except OSError as reason:
        return str(reason)
    return tried.stderr.strip() if tried.returncode != 0 else None


def enter(module):
    """Has a module's program run once more in a namespace of its own; says whether this is that run.

    Where no namespace can be had it says so, which is excused where the kernel does not give the right.
    """
    if os.environ.get(INSIDE):
        run("ip", "link", "set", "lo", "up")
        return True
    if refused := unable():
        reason = f"{skips.KERNEL}no network namespaces: {refused}"
        if path := os.environ.get("WEIR_SKIPS"):
            with open(path, "a") as file:
                file.write(f"conformance: {module}: {reason}\n")
        print(f"0 passed, 0 failed\n{reason}")
        return False
    command = [*ENTER, sys.executable, "-m", module, *sys.argv[1:]]
    return os.execvpe(command[0], command, {**os.environ, INSIDE: "1"})
