"""weir run --on local, as users call it. Run: python3 tests/apps/real/test_real.py WEIR"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
from real import (  # noqa: E402  pylint: disable=wrong-import-position
    CPUS, GPUS, STRATEGIES, Real, layers, nodes_of)


class Sums(Real):
    def test_every_strategy_sums_every_element_right_and_has_a_row(self):
        for dtype in ("f32", "f16", "bf16"):
            self.write(trace={"name": "net", "layers": layers(dtype, 30_001)})
            done = self.run_on_local("--verify")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual({row["strategy"] for row in self.rows()}, set(STRATEGIES))
        self.assertEqual(self.json()["world"]["name"], "processes on one host")

    def test_sums_are_checked_in_one_iteration_ahead_unless_in_all_or_none(self):
        self.write(strategies=["unified", "ring"], iterations=2, warm_up=1)
        once = 6 * sum(tensor["elements"] for layer in layers("f32", 100_000) for tensor in layer["tensors"])
        for options, checked in (((), once), (("--verify",), 3 * once), (("--no-verify",), None)):
            for transport in ("tcp", "shm"):
                done = self.run_on_local("--transport", transport, "--records", *options)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                rows = self.rows()
                self.assertEqual([row["checked_elements"] for row in rows], [str(checked or "")] * 2)
                line = f"sums of {2 * (checked or 0)} elements were checked in 2 runs: all are right"
                self.assertEqual(line in done.stdout, checked is not None)
                # The iteration that was checked first is not in the record.
                for file in self.out.glob("record-*"):
                    self.assertEqual(json.loads(file.read_bytes().split(b"\n", 1)[0])["iterations"], 3)
        done = self.run_on_local("--verify", "--no-verify")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--verify excludes --no-verify", done.stderr)

    def test_a_host_without_ipv4_uses_the_loopback_of_ipv6(self):
        without = ["unshare", "--net", "sh", "-c", "ip link set lo up && ip addr del 127.0.0.1/8 dev lo && "
                   'exec "$@"', "sh"]
        probe = [*without, "sh", "-c", "ip addr show lo | grep -q ::1"]
        if subprocess.run(probe, capture_output=True).returncode != 0:
            self.skipTest("this host lets nobody make networks, or has no IPv6")
        self.write(strategies=["unified"], baseline="unified")
        done = subprocess.run([*without, *self.run_command("--on", "local", "--transport", "tcp")],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_local_stages_over_several_gpus_sum_right(self):
        for local in ("reduce", "reduce_scatter"):
            self.write(strategies=["unified", "ps"], baseline="ps", local=local)
            done = self.run_on_local("--verify")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_sums_over_several_connections_and_threads_are_right(self):
        done = self.run_on_local("--verify", "--channels", "3", "--io-threads", "2", "--workers", "3",
                                 "--set", "credit=1", "--set", 'strategies=["unified","ring"]')
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_connections_that_share_a_pace_are_held_to_it(self):
        trace = {"name": "net", "layers": [{"name": "all", "forward": "1us", "backward": "1us", "tensors": [
            {"name": "all", "elements": 16_000_000}]}]}
        groups = [{"name": "gpu", "count": 2, "gpus": [{"at": "numa0"}],
                   "nics": [{"at": "numa0", "rate": "8Gbps"}]}]
        self.write(strategies=["ring"], baseline="ring", sweep={}, iterations=2, trace=trace,
                   topology={"name": "two", "groups": groups})
        done = self.run_on_local("--verify", "--pace", "0.2", "--channels", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        row, = self.rows()
        for time_ns in (row["iteration_ns"], row["predicted_ns"]):
            self.assertGreater(int(time_ns), 0.95 * 64e6 / 0.2)  # 64 MB each way at 0.2 GB/s
        self.assertLess(int(row["bound_ns"]), 64e6 / 0.2)  # a pace is chosen, and no bound

    def test_machines_with_several_cards_sum_right(self):
        cards = [{"at": "numa0", "rate": "8Gbps"}, {"at": "numa0", "rate": "4Gbps"}]
        topology = {"name": "cards", "groups": [{**GPUS, "nics": cards}, CPUS]}
        for transport in ("tcp", "shm"):
            strategies = [name for name in STRATEGIES if name != "hierarchical"]
            self.write(topology=topology, strategies=strategies)
            done = self.run_on_local("--verify", "--transport", transport)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual({row["strategy"] for row in self.rows()}, set(strategies))
        self.write(topology=topology, strategies=["hierarchical"], baseline="hierarchical")
        done = self.run_on_local()
        self.assertEqual(done.returncode, 1)
        self.assertIn("each GPU of gpu[0] sends its share through the NIC beside it, which real runs do not "
                      "support yet", done.stderr)

    def test_machines_that_share_memory_sum_right(self):
        for dtype in ("f32", "bf16"):
            self.write(trace={"name": "net", "layers": layers(dtype, 30_001)})
            done = self.run_on_local("--verify", "--transport", "shm")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual({row["strategy"] for row in self.rows()}, set(STRATEGIES))
        self.write(strategies=["unified", "ring"], local="reduce_scatter")
        done = self.run_on_local("--verify", "--transport", "shm", "--channels", "3", "--io-threads", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("transport=shm", json.dumps(self.json()["world"]))
        self.assertEqual({row["bound_percent"] for row in self.rows()}, {""})  # no bytes moved through links
        self.assertIn("bounds are for the topology's links, but machines shared memory", done.stdout)

    def test_an_iteration_takes_at_least_its_computation(self):
        self.write(strategies=["ring"], trace={"name": "net", "layers": layers("f32", 1000, "50ms")})
        self.run_on_local()
        self.assertGreater(int(self.rows()[0]["iteration_ns"]), 102e6)


def shared_memory(nodes):
    """Mappings of other nodes' memory, and named objects that outlive processes."""
    mapped = sum("/memfd:weir-" in Path(f"/proc/{pid}/maps").read_text() for pid in nodes.values())
    return mapped, sorted(os.listdir("/dev/shm"))


class Refused(Real):
    def test_values_that_are_not_numbers_are_refused(self):
        for option in ("--patience", "--pace"):
            done = self.run_weir("--on", "local", option, "nan")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, f"{option}: expected a number from [0-9.]+ to [0-9]+, got 'nan'")

    def test_options_for_polling_need_rdma(self):
        done = self.run_weir("--on", "local", "--poll", "1ms")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--poll: it is for RDMA", done.stderr)

    def test_features_of_simulation_are_refused_before_a_real_run_starts(self):
        self.write(strategies=["colocated-ps"], baseline="colocated-ps", loopback="nic")
        done = self.run_on_local()
        self.assertEqual(done.returncode, 1)
        self.assertIn("would send messages to itself through its NIC", done.stdout + done.stderr)

    def test_gpus_on_a_host_without_any_are_refused_in_plain_words(self):
        if Path("/dev/nvidiactl").exists():
            self.skipTest("this host has GPUs")
        self.write(strategies=["unified"], baseline="unified")
        done = self.run_on_local("--gpus")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout + done.stderr,
                         "this host has no NVIDIA GPU, or no driver for it|without CUDA")
        self.assertNotIn("CUDA driver version", done.stdout + done.stderr)

    def test_sums_by_nccl_need_gpus(self):
        self.write(strategies=["ddp"], baseline="ddp", collective="nccl")
        done = self.run_on_local()
        self.assertEqual(done.returncode, 1)
        self.assertIn("ddp: NCCL sums on GPUs, which this run does not use", done.stdout + done.stderr)

    def test_a_job_that_this_host_has_no_memory_for_is_refused_before_it_starts(self):
        self.write(trace={"name": "net", "layers": layers("f32", 10**11)}, strategies=["ps"], baseline="ps",
                   partition_size="1GB", prove=False)
        done = self.run_on_local()
        self.assertEqual(done.returncode, 1)
        self.assertIn("of memory together, and this host has", done.stdout + done.stderr)


    def test_more_machines_than_this_host_has_memory_for_are_refused_before_they_are_planned(self):
        groups = [{"name": "gpu", "count": 1000, "gpus": [{"at": "numa0"}],
                   "nics": [{"at": "numa0", "rate": "8Gbps"}]}]
        self.write(strategies=["ring"], topology={"name": "large", "groups": groups}, sweep={},
                   trace={"name": "net", "layers": layers("f32", 10**9)})
        begin = time.monotonic()
        done = self.run_on_local()
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(done.returncode, 1)
        self.assertIn("of memory together, and this host has", done.stderr)


class Failures(Real):
    def check_killed(self, *more):
        process, nodes = self.long_run(*more)
        mapped, named = shared_memory(nodes)
        os.kill(nodes[1], signal.SIGKILL)
        begin = time.monotonic()
        _, errors = process.communicate(timeout=20)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(process.returncode, 1)
        self.assertIn("gpu[1]", json.dumps(self.json()["failed"]) + errors)
        self.assertTrue(self.gone(nodes))
        return mapped, [name for name in named if "weir" in name]

    def test_a_machine_that_is_killed_is_named_and_nothing_is_left(self):
        self.assertEqual(self.check_killed()[0], 0)

    def test_a_machine_that_shares_memory_is_named_when_killed_and_nothing_is_left(self):
        mapped, named = self.check_killed("--transport", "shm")
        self.assertGreaterEqual(mapped, 3)  # of the ring, which has only the GPU machines
        self.assertEqual(named, [])

    def test_a_machine_that_falls_silent_is_named_within_five_seconds(self):
        process, nodes = self.long_run()
        os.kill(nodes[2], signal.SIGSTOP)
        begin = time.monotonic()
        process.communicate(timeout=20)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(process.returncode, 1)
        self.assertIn("gpu[2]", self.json()["failed"][0]["why"])
        self.assertTrue(self.gone(nodes))

    def test_nobody_can_connect_to_a_machine_that_has_met_its_peers(self):
        process, nodes = self.long_run()
        listening = {words[9] for words in map(str.split, Path("/proc/net/tcp").read_text().splitlines())
                     if words[3] == "0A"}
        for pid in nodes.values():
            held = [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
            self.assertFalse({f"socket:[{inode}]" for inode in listening}.intersection(held))
        process.kill()
        process.communicate(timeout=20)

    def test_a_signal_ends_all_processes(self):
        process, nodes = self.long_run()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertTrue(self.gone(nodes))

    def test_a_killed_run_leaves_nothing(self):
        process, nodes = self.long_run()
        process.kill()
        process.communicate(timeout=20)
        self.assertTrue(self.gone(nodes))


if __name__ == "__main__":
    program.main()
