"""Helpers for tests that import traces."""

import json
import tempfile
import unittest
from pathlib import Path

import program

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def nanoseconds(text):
    unit = next(unit for unit in UNITS if text.endswith(unit))
    return round(float(text[:-len(unit)]) * UNITS[unit])


def total(trace):
    return sum(nanoseconds(layer[way]) for layer in trace["layers"] for way in ("forward", "backward"))


class Case(unittest.TestCase):
    format = ""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write(self, content, name):
        file = self.folder / name
        file.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=1).encode())
        return file

    def imported(self, *arguments):
        """The trace, which must pass weir check, and the error stream."""
        out = self.folder / "out.json"
        done = program.run("import", self.format, *map(str, arguments), "--out", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("trace: ok", program.run("check", str(out)).stdout)
        return json.loads(out.read_text()), done.stderr

    def refused(self, *arguments):
        done = program.run("import", self.format, *map(str, arguments))
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr
