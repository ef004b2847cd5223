"""Sweeps of a small experiment and the content of their folders, for tests of the program."""

import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import program
import tiny

SAMPLES = {"count": 100, "seed": 3, "over": {
    "partition_size": {"from": "64KiB", "to": "4MiB", "scale": "logarithmic"},
    "topology.groups.cpu.nics.0.rate": {"from": "1Gbps", "to": "10Gbps"}}}


def rows_of(folder, question):
    """The rows of all databases of a sweep, however their writers ended. No process may still write."""
    rows = []
    with tempfile.TemporaryDirectory() as copies:
        for file in sorted(folder.glob("runs-*.db")):
            for part in folder.glob(file.name + "*"):
                shutil.copy(part, copies)
            with sqlite3.connect(Path(copies) / file.name) as database:
                rows += database.execute(question).fetchall()
            database.close()
    return rows


class Case(tiny.Case):
    def setUp(self):
        super().setUp()
        self.results = self.folder / "results"

    def sampled(self, count=100, **more):
        self.write(sweep={}, **{"strategies": ["unified"], "samples": {**SAMPLES, "count": count}, **more})

    def sweep_command(self, *more, into=None):
        return self.command("sweep", "--results", into or self.results, *more)

    def sweep(self, *more, into=None, status=0):
        done = program.run("sweep", self.folder / "tiny.json", "--results", into or self.results, *more,
                           cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def ask(self, *more, into=None):
        done = program.run("sweep", "--results", into or self.results, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def table(self, into=None):
        """The results, as CSV."""
        self.ask("--export", self.folder / "table.csv", into=into)
        return (self.folder / "table.csv").read_text()

    def ended(self):
        """How many runs have ended, as seen by a reader of the running sweep."""
        if not (self.results / "design.json").is_file():
            return 0
        numbers = re.findall(r"^ *(\d+) (\w+)$", self.ask("--status"), re.MULTILINE)
        return sum(int(number) for number, word in numbers if word != "left")

    def keys(self, into=None):
        return [key for key, in rows_of(into or self.results, "SELECT key FROM runs")]

    def begun(self, into=None):
        """The runs whose computation has begun, once for each beginning."""
        return [key for key, in rows_of(into or self.results, "SELECT key FROM computations")]

    def started(self, *more):
        process = subprocess.Popen(self.sweep_command(*more), cwd=self.folder, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, true, what, patience=60):
        end = time.monotonic() + patience
        while not true():
            self.assertLess(time.monotonic(), end, f"{what} after {patience} s")
            time.sleep(0.05)


def children(process):
    """The ids of its child processes."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            fields = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if entry.isdigit() and int(fields[1]) == process.pid:
            found.append(int(entry))
    return found
