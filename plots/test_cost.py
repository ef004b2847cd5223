"""Tests for figures of costs. Run: /usr/bin/python3 plots/test_cost.py

With WEIR_PLAN_AND_SIMULATE, the benchmark's path, it also runs the benchmark small and draws its output.
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "benchmarks" / "measured" / "plan-and-simulate.jsonl"
sys.path.insert(0, str(ROOT / "plots"))

import cost  # noqa: E402  (found only with the path above)
import style  # noqa: E402


class Cost(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        style.use()

    def main(self, *arguments):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = cost.main([str(argument) for argument in arguments])
        return status, out.getvalue().split(), error.getvalue()

    def test_every_measured_time_has_a_point_and_memory_too(self):
        rows = cost.read(MEASURED)
        time, memory = cost.figure(rows).axes
        points = sum(row.get(key) is not None for row in rows for key, *_ in cost.TIMES)
        self.assertEqual(sum(len(line.get_xdata()) for line in time.lines), points)
        self.assertEqual(list(memory.lines[0].get_xdata()), [row["gpu_machines"] for row in rows])

    def test_files_are_written(self):
        status, paths, _ = self.main(MEASURED, self.folder / "cost")
        self.assertEqual((status, [Path(path).name for path in paths]), (0, ["cost.png", "cost.pdf"]))

    def test_a_file_without_measurements_is_reported(self):
        (self.folder / "empty").write_text("")
        self.assertIn("the file is empty", self.main(self.folder / "empty", self.folder / "out")[2])
        (self.folder / "other").write_text("{}\n")
        status, _, error = self.main(self.folder / "other", self.folder / "out")
        self.assertEqual(status, 1)
        self.assertIn("other: expected the output of", error)

    @unittest.skipUnless("WEIR_PLAN_AND_SIMULATE" in os.environ,
                         "WEIR_PLAN_AND_SIMULATE does not name the benchmark")
    def test_the_benchmark_output_is_drawn(self):
        benchmark = os.environ["WEIR_PLAN_AND_SIMULATE"]
        done = subprocess.run([benchmark, "--json", "4"], capture_output=True, text=True, check=True,
                              timeout=120)
        (self.folder / "small.jsonl").write_text(done.stdout)
        (row,) = cost.read(self.folder / "small.jsonl")
        self.assertEqual((row["gpu_machines"], row["cpu_machines"]), (4, 2))
        self.assertIsNotNone(row["simgrid_s"])
        self.assertEqual(self.main(self.folder / "small.jsonl", self.folder / "small")[0], 0)


if __name__ == "__main__":
    unittest.main()
