"""A gateway in a control group that has little memory: whoever takes more is killed by the kernel."""

import contextlib
import os
import pathlib
import uuid

from gateway import Gateway
from skips import KERNEL, skip


class Group:
    """A control group of one limit; with the first hierarchy of Linux or the second, whichever there is."""

    def __init__(self, test, limit):
        one = pathlib.Path("/sys/fs/cgroup/memory")
        root, limits = (one, ("memory.limit_in_bytes",)) if (one / "cgroup.procs").exists() \
            else (pathlib.Path("/sys/fs/cgroup"), ("memory.max", "memory.swap.max"))
        self.folder = root / f"weir-{uuid.uuid4().hex[:8]}"
        try:
            self.folder.mkdir()
            (self.folder / limits[0]).write_text(str(limit))
            with contextlib.suppress(OSError):
                (self.folder / limits[-1]).write_text("0" if len(limits) > 1 else str(limit))
        except OSError as reason:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            skip(test, f"{KERNEL}no control group of memory can be made ({reason})")
        test.addCleanup(self.remove)

    def hold(self, process):
        (self.folder / "cgroup.procs").write_text(str(process))

    def most(self):
        """The most that it took, in bytes."""
        for name in ("memory.max_usage_in_bytes", "memory.peak"):
            with contextlib.suppress(OSError):
                return int((self.folder / name).read_text())
        return 0

    def remove(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()


class Small(Gateway):
    """A gateway that begins within a group, so that it finds its limit."""

    def __init__(self, group, settings=None):
        self.group = group
        super().__init__(settings=settings)

    def command(self):
        group = self.group.folder / "cgroup.procs"
        return ["sh", "-c", f'echo $$ > {group} && exec "$@"', "sh", *super().command()]

    @property
    def resident(self):
        """Bytes of memory that it holds."""
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
