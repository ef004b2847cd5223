"""weir export goal: schedules that a program independent of Weir reads and replays.
Run: python3 tests/apps/formats/test_goal.py WEIR"""

import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import goal  # noqa: E402  pylint: disable=wrong-import-position
import program  # noqa: E402  pylint: disable=wrong-import-position

TRACE = {"name": "net", "layers": [
    {"name": name, "forward": "1ms", "backward": "2ms", "tensors": [{"name": name, "elements": 500000}]}
    for name in ("a", "b")]}
NODE = {"numa": [{"memory_rate": "100GB/s", "sum_rate": "20GB/s"}],
        "nics": [{"at": "numa0", "rate": "100Gbps"}]}
TOPOLOGY = {"name": "mixed", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"count": 2, "at": "numa0", "rate": "10GB/s"}], **NODE},
    {"name": "cpu", "count": 2, **NODE}]}
STRATEGIES = program.strategies()
SEND = re.compile(r"^ *\d+ send \S+\[\d+\+(\d+)\]")


class Goal(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.file = Path(temporary.name) / "small.json"
        self.file.write_text(json.dumps({"topology": TOPOLOGY, "trace": TRACE, "strategies": STRATEGIES}))

    def weir(self, *arguments, status=0):
        done = program.run(*map(str, arguments))
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def sent_by_plan(self, strategy):
        """The bytes that each machine sends, from the plan's own text."""
        sent, machine = {}, -1
        for line in self.weir("plan", self.file, "--strategy", strategy, "--text").stdout.split("\n"):
            if found := re.match(r"machine (\d+)", line):
                machine = int(found[1])
            elif found := SEND.match(line):
                sent[machine] = sent.get(machine, 0) + int(found[1])
        self.assertGreater(sum(sent.values()), 0)
        return sent

    def test_every_strategy_replays_with_the_plans_bytes_and_in_no_less_time_than_its_computation(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy=strategy):
                one = goal.replay(self.weir("export", "goal", self.file, "--strategy", strategy).stdout)
                time, sent, received = one
                self.assertEqual(sent, self.sent_by_plan(strategy))
                self.assertEqual(sum(sent.values()), sum(received.values()))
                self.assertGreaterEqual(time, 6_000_000)
                time_of_three, sent_in_three, _ = goal.replay(
                    self.weir("export", "goal", self.file, "--strategy", strategy, "--iterations", 3).stdout)
                self.assertEqual(sent_in_three, {rank: 3 * size for rank, size in sent.items()})
                self.assertGreaterEqual(time_of_three, 18_000_000)
                self.assertLessEqual(time_of_three, 3 * time)

    def test_a_missing_edge_a_missing_receive_and_a_circle_would_be_found(self):
        text = self.weir("export", "goal", self.file, "--strategy", "ring").stdout
        lines = text.split("\n")
        without = next(line for line in lines if " recv " in line)
        label = without.split(":")[0]
        broken = [line for line in lines if line != without and label not in line.split()]
        with self.assertRaisesRegex(ValueError, "no match"):
            goal.replay("\n".join(broken))
        edge = next(line for line in lines if " requires " in line)
        after, _, before = edge.split()
        with self.assertRaisesRegex(ValueError, "wait for each other"):
            goal.replay(text.replace(edge + "\n", f"{edge}\n{before} requires {after}\n", 1))

    def test_the_text_goes_to_a_file_and_mistakes_are_reported(self):
        out = self.file.with_suffix(".goal")
        self.weir("export", "goal", self.file, "--out", out)
        self.assertEqual(out.read_text(),
                         self.weir("export", "goal", self.file, "--strategy", "unified").stdout)
        self.assertIn("--strategy: ",
                      self.weir("export", "goal", self.file, "--strategy", "rings", status=2).stderr)
        error = self.weir("export", "goal", self.file, "--strategy", "ddp",
                          "--set", "collective=nccl", status=2).stderr
        self.assertIn("GOAL has messages, and no all-reduce as one op", error)
        self.assertIn("no such file", self.weir("export", "goal", "none.json", status=2).stderr)
        before = self.file.read_bytes()
        self.assertIn("this file is an input",
                      self.weir("export", "goal", self.file, "--out", self.file, status=2).stderr)
        self.assertEqual(self.file.read_bytes(), before)


if __name__ == "__main__":
    program.main()
