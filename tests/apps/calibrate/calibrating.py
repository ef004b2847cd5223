"""A small cluster, times of its messages, and calibrations with them, for tests of the program."""

import json
import tempfile
import unittest
from pathlib import Path

import program

RATE = 1.1e9  # bytes per second that messages achieve; the topology says 1.25e9
OVERHEAD = 20e-6  # seconds of each message

TOPOLOGY = {"name": "small", "groups": [
    {"name": "gpu", "count": 2, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10Gbps"}]},
    {"name": "cpu", "count": 0, "nics": [{"at": "numa0", "rate": "10Gbps"}]}]}
TRACE = {"name": "net", "layers": [{"name": "a", "forward": "1ms", "backward": "1ms",
                                    "tensors": [{"name": "w", "elements": 4_000_000}]}]}
SIZES = [4096, 65536, 1 << 20, 1 << 22, 1 << 24]


def transport(sizes=tuple(SIZES), wrong=()):
    """The output of weir bench transport --engine rdma --json."""
    rows = [{"message_bytes": size,
             "nodes_bytes_per_s": size / (OVERHEAD + size / RATE) * (0.2 if size in wrong else 1)}
            for size in sizes]
    return {"weir": "1", "engine": "rdma", "rows": rows}


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.write("small.json", TOPOLOGY)
        self.write("trace.json", TRACE)
        self.write("transport.json", transport())

    def write(self, name, document):
        (self.folder / name).write_text(json.dumps(document))

    def weir(self, *arguments, status=0):
        done = program.run(*arguments, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def calibrate(self, *more, files=("transport.json",)):
        return self.weir("calibrate", "small.json", *files, "--output", "calibrated.json", *more)

    def values(self):
        calibration = json.loads((self.folder / "calibrated.json").read_text())["calibration"]
        return {value["path"]: value for value in calibration["values"]}
