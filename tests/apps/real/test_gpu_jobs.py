"""Real runs on GPUs, with NCCL among machines that share this host's GPUs. Ends with status 77 without GPUs.
Run: python3 tests/apps/real/test_gpu_jobs.py WEIR"""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
import real  # noqa: E402  pylint: disable=wrong-import-position

NO_GPU = 77
FRAMEWORKS = ["ddp", "horovod", "bytescheduler"]


class Nccl(real.Real):
    """Three machines of one GPU each, on any of the host's GPUs; and CPU machines, which do not use NCCL."""

    def write(self, **more):
        groups = [{**real.GPUS, "gpus": [{"at": "numa0"}]}, real.CPUS]
        super().write(**{"topology": {"name": "lab", "groups": groups},
                         "strategies": FRAMEWORKS, "baseline": "ddp", "collective": "nccl", **more})

    def test_sums_over_machines_are_right_for_every_dtype(self):
        for dtype in ("f16", "bf16", "f32", "f64", "i32", "i64"):
            with self.subTest(dtype=dtype):
                self.write(trace={"name": "net", "layers": real.layers(dtype, 100_000)}, bucket_size="300KB")
                done = self.run_on_local("--gpus", "--verify")
                self.assertEqual(done.returncode, 0, done.stderr)
                for row in self.rows():
                    self.assertEqual(int(row["checked_elements"]),
                                     3 * 3 * (3 * 2 * 100_000 + 6))  # machines, iterations

    def test_one_table_has_nccl_and_weir(self):
        self.write(strategies=["unified", {"name": "ddp", "as": "NCCL", "collective": "nccl"}],
                   baseline="NCCL", collective="flat_ring")
        done = self.run_on_local("--gpus")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["strategy"]: row for row in self.rows()}
        self.assertGreater(int(rows["NCCL"]["predicted_ns"]), int(rows["NCCL"]["bound_ns"]) * 0.99)
        self.assertEqual(float(rows["NCCL"]["speedup"]), 1)

    def test_a_machine_that_dies_or_stops_within_an_all_reduce_is_named_and_no_process_stays(self):
        for how, named, most in ((signal.SIGKILL, "the process of gpu[1] was killed by signal 9", 5),
                                 (signal.SIGSTOP, "gpu[1] has said nothing for 3s", 12)):
            with self.subTest(how=how):
                self.write(strategies=["ddp"], iterations=10_000,
                           trace={"name": "net", "layers": real.layers("f32", 3_000_000)})
                process = subprocess.Popen(self.run_command("--on", "local", "--gpus"),
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.addCleanup(process.kill)
                deadline = time.monotonic() + 30
                # Ten seconds to get to work.
                while len(real.nodes_of(process)) < 5 or time.monotonic() < deadline - 20:
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.1)
                nodes = real.nodes_of(process)
                began = time.monotonic()
                os.kill(nodes[1], how)
                out, errors = process.communicate(timeout=60)
                self.assertIn(named, out + errors)
                self.assertLess(time.monotonic() - began, most)
                self.assertTrue(self.gone(nodes))


if __name__ == "__main__":
    if (shutil.which("nvidia-smi") is None
            or subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode != 0):
        print("skipped: this host has no GPU")
        sys.exit(NO_GPU)
    program.main()
