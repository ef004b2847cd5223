"""Tests for figures of searches. Run: /usr/bin/python3 plots/test_tuning.py"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "experiments" / "tuning" / "measured"
sys.path.insert(0, str(ROOT / "plots"))

import style  # noqa: E402  (found only with the path above)
import tuning  # noqa: E402


class Tuning(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        style.use()

    def main(self, *arguments):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = tuning.main([str(argument) for argument in arguments])
        return status, out.getvalue().split(), error.getvalue()

    def test_each_case_has_a_panel_with_each_credit_the_least_and_all_trials(self):
        cases = tuning.read(MEASURED)
        self.assertEqual(len(cases), 6)
        figure = tuning.figure(cases)
        titles = {axes.get_title(): axes for axes in figure.axes}
        for case in cases.values():
            axes = titles[f"{case['model']}, {case['strategy']}"]
            trials = case["searches"]["bayes"][0]
            self.assertEqual(len(axes.lines), len(case["values"]["credit"]) + 1 + len(trials))
            self.assertEqual([text.get_text() for text in axes.texts],
                             [str(i + 1) for i in range(len(trials))])
            best = min(one["iteration_ns"] for one in case["all"]) / 1e6
            self.assertEqual(min(min(line.get_ydata()) for line in axes.lines), best)

    def test_files_are_written(self):
        status, paths, _ = self.main(MEASURED, self.folder / "iteration")
        self.assertEqual((status, [Path(path).name for path in paths]),
                         (0, ["iteration.png", "iteration.pdf"]))

    def test_a_file_without_measurements_is_reported(self):
        self.assertIn("but there are none", self.main(self.folder, self.folder / "out")[2])
        (self.folder / "some.jsonl").write_text("{}")
        status, _, error = self.main(self.folder, self.folder / "out")
        self.assertEqual(status, 1)
        self.assertIn("some.jsonl: expected a file of", error)


if __name__ == "__main__":
    unittest.main()
