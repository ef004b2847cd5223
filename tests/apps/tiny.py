"""A small experiment in a folder of its own, for tests of the program."""

import json
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import program

COUNT = "topology.groups.cpu.count"
TOPOLOGY = {"name": "lab", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]},
    {"name": "cpu", "count": 1, "nics": [{"at": "numa0", "rate": "8Gbps"}]}]}
TRACE = {"name": "net", "layers": [
    {"name": name, "forward": "1ms", "backward": "2ms", "tensors": [{"name": name, "elements": 500000}]}
    for name in ("a", "b")]}


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.out = self.folder / "out"
        self.write()

    def write(self, **more):
        whole = {"topology": TOPOLOGY, "trace": TRACE, "strategies": ["unified", "ring", "ps"],
                 "sweep": {COUNT: [0, 3], "policy": ["fifo", "priority"]}, **more}
        (self.folder / "tiny.json").write_text(json.dumps(whole, indent=1))

    def command(self, name, *more):
        return program.command(name, self.folder / "tiny.json", *more)

    def weir(self, name, *more):
        return program.run(name, self.folder / "tiny.json", *more, cwd=self.folder)

    def run_command(self, *more):
        return self.command("run", "--no-plots", "--out", str(self.out), *more)

    def run_weir(self, *more):
        return self.weir("run", "--no-plots", "--out", self.out, *more)

    def rows(self):
        return program.rows(self.out)

    def json(self):
        return program.whole(self.out)

    def long(self):
        """Hundreds of runs."""
        self.write(strategies=["ring", "unified"], seeds=list(range(1, 301)), model={"compute_jitter": 0.1})

    def started(self, *more, **how):
        """A running experiment of many runs, some of them done."""
        self.long()
        process = subprocess.Popen(self.run_command("--jobs", "2", *more), **how)
        self.addCleanup(process.kill)
        for _ in range(1200):
            if (self.out / "results.json").is_file():
                return process
            time.sleep(0.05)
        self.fail("no results came")
