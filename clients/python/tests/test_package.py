"""What is handed out: the wheel in an empty environment, the examples of README.md as they stand there, the types."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import venv

import gateway as process

HERE = pathlib.Path(__file__).resolve().parent.parent
# What the wheel needs, fetched by scripts/peers: the test asks no registry.
WHEELS = HERE.parent.parent / "build/wheels"
EXAMPLES = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)


def run(*command, **more):
    """What a program prints; a failure with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.process = cls.enterClassContext(process.Gateway())
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", cls.folder, HERE)
        venv.create(cls.folder / "empty", symlinks=True)
        cls.python = cls.folder / "empty/bin/python"
        wheel = next(cls.folder.glob("weir_client-*.whl"))
        pip = (sys.executable, "-m", "pip", f"--python={cls.python}", "install", "-q", "--no-index")
        run(*pip, "--find-links", WHEELS, wheel)

    def example(self, python, example):
        return run(python, "-c", example, self.process.url, cwd=self.folder).splitlines()

    def test_the_wheel_works_in_an_empty_environment(self):
        found = run(self.python, "-c", "import weir; print(weir.__file__)", cwd=self.folder)
        self.assertIn(str(self.folder), found)
        said = self.example(self.python, EXAMPLES[1])
        self.assertEqual(said[0], "[0.29]")
        self.assertEqual(said[1], "[0.31, 0.29]")

    def test_the_first_example_reads_the_past_as_a_data_frame(self):
        # pandas is of the tests' own environment, the client out of the wheel.
        packages = next((self.folder / "empty/lib").glob("python*/site-packages"))
        program = f"import sys; sys.path.insert(0, {str(packages)!r})\n{EXAMPLES[0]}"
        said = self.example(sys.executable, program)
        self.assertEqual(said[0], "kitchen/temperature 21.75 Cel")
        self.assertRegex(said[2], r"kitchen/temperature +21\.625")

    def test_without_pyarrow_it_says_what_is_missing(self):
        program = f"from weir import Gateway; Gateway({self.process.url!r}).history_table('#')"
        done = subprocess.run([self.python, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertIn("weir-client[arrow]", done.stderr)

    def test_the_types_hold(self):
        run(sys.executable, "-m", "mypy", "--strict", "--cache-dir", self.folder / "mypy", "src", cwd=HERE)
