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

    def test_sums_reach_much_of_what_memory_allows(self):
        measured = self.measure("--size", "16MiB", "--repetitions", "15")
        threads = sorted({1, len(os.sched_getaffinity(0))})
        self.assertEqual({row["threads"] for row in measured["rows"]}, set(threads))
        self.assertEqual(len(measured["rows"]), 6 * 4 * len(threads))
        shares = sorted(row["share"] for row in measured["rows"])
        # Half of them: other processes take a core away from any one.
        self.assertGreater(shares[len(shares) // 2], 0.7, measured)
        for row in measured["rows"]:
            with self.subTest(**row):
                self.assertGreater(row["sum_bytes_per_s"], 2e8)
                self.assertAlmostEqual(row["share"], row["sum_bytes_per_s"] / row["limit_bytes_per_s"], places=3)

    def test_more_sources_at_once_are_faster_than_one(self):
        rows = self.measure("--dtypes", "f32", "--threads", "1", "--sources", "1,8", "--size", "32MiB")["rows"]
        self.assertGreater(rows[1]["sum_bytes_per_s"], rows[0]["sum_bytes_per_s"])

    def test_wrong_arguments_are_told(self):
        for arguments, word in ((["--size", "64"], "try 64MB"), (["--dtypes", "f8"], "'f8' is no type"),
                                (["--sources", "9"], "9"), (["--numa", "4711"], "no NUMA node 4711"),
                                (["--threads", "0"], "0"), (["--size", "100B"], "try 64MiB")):
            with self.subTest(arguments):
                done = program.run("bench", "sum", *arguments)
                self.assertIn(done.returncode, (1, 2))
                self.assertIn(word, done.stderr)
        too_large = program.run("bench", "sum", "--size", "64TB")
        self.assertEqual(too_large.returncode, 1)
        self.assertIn("more than the", too_large.stderr)


if __name__ == "__main__":
    program.main()
