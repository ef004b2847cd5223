"""What others' runtimes get wrong, held against real runs (tests/README.md has the list).

Run as: python3 tests/apps/real/test_defects.py WEIR [TEST...]
"""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
from real import Real, layers, nodes_of  # noqa: E402  pylint: disable=wrong-import-position

GIB = 1 << 30


def busy(pid):
    """The CPU seconds of a process's threads."""
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        total += int(path.read_text().split()[0])
    return total / 1e9


def peak(pid):
    """The peak memory of the process, in bytes; 0 after its end."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def available():
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


class Rounds(Real):
    def check_held_up(self, *more):
        """Machines stand still for many iterations, one after another: all sums are still those of their own
        iteration."""
        self.write(strategies=["unified"], baseline="unified", iterations=400,
                   trace={"name": "net", "layers": layers("f32", 20_000, "3ms")})
        process = subprocess.Popen(self.run_command("--on", "local", "--verify", *more),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 30
        while len(nodes_of(process)) < 5:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        nodes = nodes_of(process)
        time.sleep(0.7)
        for machine in (1, 4, 0):  # a worker, a CPU machine, a worker
            os.kill(nodes[machine], signal.SIGSTOP)
            time.sleep(0.5)
            os.kill(nodes[machine], signal.SIGCONT)
            time.sleep(0.1)
        self.assertIsNone(process.poll(), "the run was over too early")
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (0, ""))

    def test_a_machine_held_up_for_many_iterations_gets_the_sums_of_its_own(self):
        self.check_held_up()

    def test_a_machine_held_up_gets_the_sums_of_its_own_iteration_in_shared_memory_too(self):
        self.check_held_up("--transport", "shm")


class Idle(Real):
    """Waiting processes sleep: they use less than 1 % of a core, where waking up is cheap."""

    def check_idle(self, pids, seconds=3.0):
        # On a shared host each waking is expensive. This thread wakes as often as a node's, to measure how
        # expensive.
        wakings = int(20 * seconds)
        before = {pid: busy(pid) for pid in pids}
        waking = time.thread_time()
        for _ in range(wakings):
            time.sleep(seconds / wakings)
        limit = max(0.01, 5 * (time.thread_time() - waking) / seconds)
        for pid in pids:
            used = (busy(pid) - before[pid]) / seconds
            self.assertGreaterEqual(used, 0)
            self.assertLess(used, limit, Path(f"/proc/{pid}/cmdline").read_bytes())

    def test_nodes_and_their_coordinator_sleep_while_a_long_computation_runs(self):
        for transport in ("tcp", "shm"):
            self.write(strategies=["ring"], iterations=1,
                       trace={"name": "net", "layers": layers("f32", 1000, "6s")[:1]})
            process = subprocess.Popen(self.run_command("--on", "local", "--transport", transport),
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            deadline = time.monotonic() + 30
            while len(nodes_of(process)) < 5:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            time.sleep(1.5)
            self.check_idle([*nodes_of(process).values(), process.pid])
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=20)

    def test_nodes_and_their_coordinator_sleep_while_others_have_not_joined(self):
        self.write(strategies=["ring"])
        key = self.folder / "key"
        run = subprocess.Popen(self.run_command("--on", "cluster", "--listen", "127.0.0.1",
                                                "--key", str(key)),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.wait_for_key(key)
        command = program.command("node", "--job", str(key), "--listen", "127.0.0.1", "--machine", "0")
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as node:
            time.sleep(1)
            self.check_idle([run.pid, node.pid])
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=20)
            node.kill()


class Start(Real):
    def test_machines_that_do_not_join_are_named(self):
        self.write(strategies=["ring"])
        key = self.folder / "key"
        run = subprocess.Popen(self.run_command("--on", "cluster", "--listen", "127.0.0.1", "--key", str(key),
                                                "--patience", "3"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.wait_for_key(key)
        command = program.command("node", "--job", str(key), "--listen", "127.0.0.1", "--machine")
        nodes = [subprocess.Popen([*command, str(machine)], stderr=subprocess.PIPE, text=True)
                 for machine in (0, 2, 3)]
        run.communicate(timeout=20)
        self.assertEqual(run.returncode, 1)
        why = self.json()["failed"][0]["why"]
        self.assertIn("have not joined: gpu[1], cpu[1]", why)
        for node in nodes:  # each node says it too
            _, error = node.communicate(timeout=10)
            self.assertIn("have not joined: gpu[1], cpu[1]", error)


class Memory(Real):
    MODEL = 128 << 20
    PARTITION = 1_000_000
    CREDIT = 4

    def peak_of_summer(self, model):
        """The peak memory of the CPU machine beside four workers."""
        machine = {"nics": [{"at": "numa0", "rate": "8Gbps"}]}
        self.write(
            topology={"name": "five",
                      "groups": [{"name": "gpu", "count": 4, "gpus": [{"at": "numa0"}], **machine},
                                 {"name": "cpu", "count": 1, **machine}]},
            trace={"name": "net", "layers": [{"name": "a", "forward": "1ms", "backward": "1ms",
                                              "tensors": [{"name": "a", "elements": model // 4}]}]},
            strategies=["unified"], baseline="unified", iterations=4, partition_size=f"{self.PARTITION}B",
            credit=self.CREDIT)
        process = subprocess.Popen(self.run_command("--on", "local"), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        most = 0
        while process.poll() is None:
            summer = nodes_of(process).get(4)
            if summer:
                most = max(most, peak(summer))
            time.sleep(0.01)
        _, errors = process.communicate()
        self.assertEqual((process.returncode, errors), (0, ""))
        return most

    def test_a_summing_machine_needs_its_share_of_the_model_and_a_window_for_each_sender(self):
        used = self.peak_of_summer(self.MODEL) - self.peak_of_summer(1 << 16)
        share = self.MODEL * 6 // 18  # 2 (n - 1) / (n^2 + kn - 2k) of it
        windows = 4 * self.CREDIT * self.PARTITION
        self.assertGreater(used, share)  # otherwise something else was measured
        self.assertLess(used, 1.5 * (share + windows), f"share {share}, windows {windows}")
        print(f"a summing machine used {used >> 20} MiB: {used / (share + windows):.2f} of share and windows")


class Large(Real):
    """A tensor of 5 GB, whose sizes and offsets exceed 32 bits."""

    def test_a_tensor_larger_than_4_gib_sums_right(self):
        if available() < 13 * GIB:
            self.skipTest("two machines with 5 GB each need 13 GiB of memory")
        machine = {"gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "80Gbps"}]}
        self.write(topology={"name": "two", "groups": [{"name": "gpu", "count": 2, **machine}]},
                   trace={"name": "net", "layers": [
                       {"name": "a", "forward": "1ms", "backward": "1ms",
                        "tensors": [{"name": "a", "elements": 2_500_000_001, "dtype": "f16"}]}]},
                   strategies=["flat-ring"], baseline="flat-ring", iterations=1,
                   warm_up=0, partition_size="8GB")
        for transport in ("tcp", "shm"):
            done = self.run_on_local("--verify", "--transport", transport)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


if __name__ == "__main__":
    program.main()
