"""weir bench as users call it, small: loose limits that only gross regressions break.
Run: python3 tests/apps/test_bench.py WEIR"""

import json
import os
import unittest

import program


class Sum(unittest.TestCase):
    def measure(self, *arguments):
        done = program.run("bench", "sum", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_sums_achieve_much_of_the_memory_limit(self):
        measured = self.measure("--size", "16MiB", "--repetitions", "15")
        threads = sorted({1, len(os.sched_getaffinity(0))})
        self.assertEqual({row["threads"] for row in measured["rows"]}, set(threads))
        self.assertEqual(len(measured["rows"]), 6 * 4 * len(threads))
        shares = sorted(row["share"] for row in measured["rows"])
        # Half of them, since other processes may take a core from some.
        self.assertGreater(shares[len(shares) // 2], 0.7, measured)
        for row in measured["rows"]:
            with self.subTest(**row):
                self.assertGreater(row["sum_bytes_per_s"], 2e8)
                self.assertAlmostEqual(row["share"], row["sum_bytes_per_s"] / row["limit_bytes_per_s"],
                                       places=3)

    def test_more_sources_at_once_are_faster_than_one(self):
        rows = self.measure("--dtypes", "f32", "--threads", "1", "--sources", "1,8",
                            "--size", "32MiB")["rows"]
        self.assertGreater(rows[1]["sum_bytes_per_s"], rows[0]["sum_bytes_per_s"])

    def test_wrong_arguments_are_reported(self):
        for arguments, word in ((["--size", "64"], "try 64MB"), (["--dtypes", "f8"], "unknown type 'f8'"),
                                (["--sources", "9"], "9"), (["--numa", "4711"], "no NUMA node 4711"),
                                (["--threads", "0"], "0"), (["--size", "100B"], "try 64MiB")):
            with self.subTest(arguments):
                done = program.run("bench", "sum", *arguments)
                self.assertIn(done.returncode, (1, 2))
                self.assertIn(word, done.stderr)
        too_large = program.run("bench", "sum", "--size", "64TB")
        self.assertEqual(too_large.returncode, 1)
        self.assertIn("of memory left, not 640 TB", too_large.stderr)


class Collectives(unittest.TestCase):
    def measure(self, *arguments):
        done = program.run("bench", *arguments, "--iterations", "3", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_all_reduces_over_both_transports_and_by_each_strategy(self):
        for transport, strategy, nodes in (("tcp", "unified", 2), ("shm", "unified", 4), ("tcp", "ring", 3)):
            with self.subTest(transport=transport, strategy=strategy):
                result = self.measure("allreduce", "--nodes", str(nodes), "--transport", transport,
                                      "--strategy", strategy, "--bytes", "64KiB,3MiB")
                self.assertEqual([row["bytes"] for row in result["rows"]], [64 << 10, 3 << 20])
                for row in result["rows"]:
                    self.assertEqual(len(row["iterations_s"]), 3)
                    # Each machine sends 2 (n - 1) / n of the gradients' bytes, up to the rounding of parts.
                    self.assertAlmostEqual(row["bus_bytes_per_s"] / row["algorithm_bytes_per_s"],
                                           2 * (nodes - 1) / nodes, delta=0.02)
                    self.assertAlmostEqual(row["moved_bytes_per_s"] / row["algorithm_bytes_per_s"],
                                           2 * (nodes - 1), delta=0.02)
                    self.assertGreater(row["share"], 0)

    def test_servers_take_and_give_all_gradients(self):
        result = self.measure("pushpull", "--workers", "3", "--servers", "1", "--bytes", "1MiB")
        row = result["rows"][0]
        self.assertEqual((result["workers"], result["servers"]), (3, 1))
        self.assertAlmostEqual(row["bus_bytes_per_s"] / row["algorithm_bytes_per_s"], 3, places=3)
        self.assertAlmostEqual(row["moved_bytes_per_s"] / row["algorithm_bytes_per_s"], 6, places=3)

    def test_wrong_arguments_are_reported(self):
        for arguments, word in ((["allreduce", "--bytes", "4"], "--bytes"),
                                (["allreduce", "--nodes", "1"], "1"),
                                (["allreduce", "--bytes", "6B"], "whole number"),
                                (["pushpull", "--part", "x"], "--part"),
                                (["allreduce", "--part", "0B"], "--part: expected at least 1KB"),
                                (["allreduce", "--strategy", "ps"], "ps"),
                                (["pushpull", "--transport", "rdma"], "rdma not in {tcp,shm}"),
                                (["transport", "--engine", "auto"], "auto not in {tcp,shm,rdma}")):
            with self.subTest(arguments):
                done = program.run("bench", *arguments)
                self.assertIn(done.returncode, (1, 2))
                self.assertIn(word, done.stderr)


class Transport(unittest.TestCase):
    def test_impossible_message_sizes_are_reported(self):
        for size, why in (("0B", "a message has at least one byte; try 4MiB"),
                          ("64TB", "8 messages of 64 TB under way each way do not fit")):
            for engine in ("tcp", "shm"):
                done = program.run("bench", "transport", "--sizes", f"4KiB,{size}", "--engine", engine)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(why, done.stderr)


if __name__ == "__main__":
    program.main()
