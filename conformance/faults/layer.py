"""A gateway above a layer of faults (`layer.c`), which a test turns on and off while it runs."""

import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

from gateway import Gateway
from skips import program

NONE, FULL, READ_ONLY, SLOW, BROKEN_SYNC, SHORT, LYING = range(7)
SOURCE = pathlib.Path(__file__).with_name("layer.c")


class Layer:
    """`set` says what goes wrong from now on."""

    def __init__(self, test):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-faults-"))
        test.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.file, library = self.folder / "control", self.folder / "layer.so"
        self.set(NONE)
        command = [program(test, "cc", "gcc"), "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)
        self.data = self.folder / "data"
        self.data.mkdir()
        self.variables = {"LD_PRELOAD": str(library), "WEIR_FAULTS": str(self.file),
                          "WEIR_FAULTS_BELOW": str(self.data)}

    def set(self, kind, value=0, clock_s=0):
        with open(self.file, "r+b" if self.file.exists() else "wb") as file:
            file.write(struct.pack("<qqq", kind, value, clock_s * 1_000_000_000))


class Faulty(Gateway):
    """A gateway that writes through a layer."""

    def __init__(self, layer, settings=None):
        self.layer = layer
        super().__init__(data=str(layer.data), settings=settings)

    def start(self):
        before = {name: os.environ.get(name) for name in self.layer.variables}
        os.environ.update(self.layer.variables)
        try:
            super().start()
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
