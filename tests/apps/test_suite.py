"""weir run over a folder of experiments, as users call it. Run: python3 tests/apps/test_suite.py WEIR"""

import csv
import json

import program
from tiny import Case


class Suite(Case):
    def suite(self, published):
        """A suite of two experiments, one with published values."""
        tiny = json.loads((self.folder / "tiny.json").read_text())
        (self.folder / "suite/second").mkdir(parents=True)
        (self.folder / "suite/first.json").write_text(json.dumps(tiny))
        tiny["published"] = published
        (self.folder / "suite/second/experiment.json").write_text(json.dumps(tiny))
        (self.folder / "suite/note.json").write_text("[]")

    def published(self, times, tolerance):
        curve = {"strategy": "unified", "measure": "iteration", "values": times, "tolerance": tolerance}
        return {"source": "A paper, Fig. 1", "calibrated_on": "nothing", "curves": [curve]}

    def run_suite(self):
        return program.run("run", "suite", "--no-plots", "--page", "page.md", cwd=self.folder)

    def times(self):
        self.run_weir()
        return [int(row["iteration_ns"]) for row in program.rows(self.out) if row["strategy"] == "unified"]

    def test_all_experiments_of_a_folder_run_and_are_compared_with_what_is_published(self):
        times = self.times()
        self.suite(self.published([f"{time}ns" for time in times], 1e-5))
        done = self.run_suite()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn(f"{len(times)} of {len(times)} published values are met", done.stdout)
        self.assertTrue((self.folder / "results/suite/first/results.csv").is_file())
        with (self.folder / "results/suite/second/published.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([round(float(row["ours"]) * 1e9, -3) for row in rows],
                         [round(time, -3) for time in times])
        self.assertEqual({row["within"] for row in rows}, {"yes"})
        page = (self.folder / "page.md").read_text()
        self.assertIn("### second\n\nA paper, Fig. 1. Calibrated on: nothing.", page)
        self.assertIn("| unified |", page)

    def test_results_below_the_folder_are_not_experiments(self):
        self.suite(self.published([f"{time}ns" for time in self.times()], 1e-5))
        for _ in range(2):
            done = program.run("run", ".", "--no-plots", cwd=self.folder / "suite")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(done.stdout.count("== "), 2)
        self.assertTrue(list((self.folder / "suite").glob("results/**/results.json")))

    def test_a_missed_published_value_is_a_failure(self):
        times = self.times()
        self.suite(self.published([f"{2 * time}ns" for time in times], 0.1))
        done = self.run_suite()
        self.assertEqual(done.returncode, 1)
        self.assertIn("-50.0 %", done.stdout)
        self.assertIn(f"0 of {len(times)} published values are met", done.stdout)

    def test_mistakes_in_any_are_reported_before_the_first_runs(self):
        self.suite("nothing")
        (self.folder / "suite/wrong.json").write_text('{"topology": "none.json", "trace": "none.json"}')
        done = self.run_suite()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("suite/second/experiment.json:1: published: expected an object", done.stderr)
        self.assertIn("suite/wrong.json:1: topology: there is no file suite/none.json", done.stderr)
        (self.folder / "empty").mkdir()
        done = program.run("run", "empty", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr),
                         (2, "weir run: empty: there is no experiment in this folder\n"))


if __name__ == "__main__":
    program.main()
