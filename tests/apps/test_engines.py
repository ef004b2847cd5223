"""The engines of weir run, and other jobs beside the experiment's.
Run: python3 tests/apps/test_engines.py WEIR"""

import json

import program
from tiny import TRACE, Case


class Engines(Case):
    def test_other_jobs_run_beside_it_and_each_is_reported_with_its_time_alone(self):
        job = {"name": "neighbour", "trace": TRACE, "strategy": "ps", "machines": ["gpu[2]", "cpu[*]"]}
        self.write(strategies=["ps"], sweep={}, machines=["gpu[0]", "gpu[1]", "cpu[*]"],
                   other_jobs=[job], iterations=4)
        found = []
        for engine in ("simgrid", "fluid", "fluid"):
            done = self.run_weir("--engine", engine)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"other jobs.*\n.*neighbour [\d.]+ ms \([\d.]+ ms alone\)")
            (row,) = self.json()["rows"]
            (csv_row,) = self.rows()
            (other,) = row["other_jobs"]
            self.assertEqual(self.json()["experiment"]["other_jobs"][0]["trace"]["name"], "net")
            self.assertEqual((other["name"], other["strategy"]), ("neighbour", "ps"))
            self.assertGreater(row["iteration_ns"], row["alone_ns"])
            self.assertGreater(other["iteration_ns"], other["alone_ns"])
            self.assertEqual((row["gpu_machines"], row["cpu_machines"]), (2, 1))
            self.assertEqual([csv_row[name]
                              for name in ("alone_ns", "neighbour iteration_ns", "neighbour alone_ns")],
                             [str(time)
                              for time in (row["alone_ns"], other["iteration_ns"], other["alone_ns"])])
            found.append([row["iteration_ns"], row["alone_ns"], other["iteration_ns"], other["alone_ns"]])
        self.assertEqual(found[1], found[2])
        for one, two in zip(*found[:2]):
            self.assertAlmostEqual(one / two, 1, delta=1e-6)
        alone = found[0][1]
        self.write(strategies=["ps"], sweep={}, machines=["gpu[0]", "gpu[1]", "cpu[*]"], iterations=4)
        self.assertEqual(self.run_weir().returncode, 0)
        self.assertEqual(self.json()["rows"][0]["iteration_ns"], alone)
        self.assertNotIn("alone_ns", self.rows()[0])

    def test_impossible_other_jobs_are_refused(self):
        job = {"name": "neighbour", "trace": TRACE, "strategy": "ps", "machines": ["gpu[2]"]}
        self.write(strategies=["ring"], sweep={}, machines=["gpu[0]", "gpu[1]"], other_jobs=[job])
        done = self.run_weir()
        self.assertEqual(done.returncode, 1)
        self.assertIn("its other job 'neighbour': ", done.stderr)
        instant = {"name": "idle", "layers": [{"name": "a", "forward": "0ns", "backward": "0ns",
                                               "tensors": [{"name": "a", "elements": 9}]}]}
        self.write(strategies=["ring"], sweep={}, machines=["gpu[0]", "gpu[1]"],
                   other_jobs=[{**job, "trace": instant, "strategy": "ring"}])
        done = self.run_weir()
        self.assertEqual(done.returncode, 1)
        self.assertIn("its other job 'neighbour': its iterations take no time", done.stderr)
        for wrong, says in (({}, "its 'machines' and 'other_jobs' are only for simulations"),
                            ({"other_jobs": []}, "its 'machines' and 'other_jobs' are only for simulations")):
            self.write(strategies=["ring"], sweep={},
                       **{"machines": ["gpu[0]", "gpu[1]"], "other_jobs": [job], **wrong})
            done = self.run_weir("--on", "local")
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)

    def test_a_machine_that_only_another_job_uses_ends_the_run_too(self):
        job = {"name": "neighbour", "trace": TRACE, "strategy": "ps", "machines": ["gpu[2]", "cpu[*]"]}
        stops = [{"machines": "cpu[*]", "at": "1ms"}]
        own = {"sweep": {}, "machines": ["gpu[0]", "gpu[1]", "cpu[*]"], "conditions": {"stops": stops}}
        self.write(strategies=["ring"], **own)
        self.assertEqual(self.run_weir().returncode, 0)  # a ring needs none of them
        for strategy, more in (("ring", ": here one of another job"), ("ps", "")):
            self.write(strategies=[strategy], other_jobs=[job], **own)
            done = self.run_weir()
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"fails at 1ms, and no strategy can continue without one of its machines{more}\n",
                          done.stderr)

    def test_both_engines_give_the_same_times(self):
        times = []
        for engine in ("simgrid", "fluid"):
            self.assertEqual(self.run_weir("--engine", engine).returncode, 0)
            self.assertIn({"simgrid": "SimGrid", "fluid": "the fluid engine"}[engine],
                          (self.out / "results.csv").read_text().splitlines()[0])
            times.append([int(row["iteration_ns"]) for row in self.rows()])
        self.assertEqual(len(times[0]), 10)
        for simgrid, fluid in zip(*times):
            self.assertLessEqual(abs(simgrid - fluid), 2)
        for engine in ("ns3", "1"):
            done = self.run_weir("--engine", engine)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--engine: {engine} not in {{simgrid,fluid}}", done.stderr)

    def test_results_say_how_precise_rates_were(self):
        self.assertEqual(self.run_weir("--engine", "fluid", "--precision", "0.005").returncode, 0)
        world = json.loads((self.out / "results.json").read_text())["world"]
        self.assertEqual(world, {"name": "the fluid engine", "settings": "precision 0.005"})
        for words in (("--engine", "simgrid", "--precision", "0.005"),
                      ("--engine", "fluid", "--precision", "2"),
                      ("--engine", "fluid", "--precision", "nan")):
            done = self.run_weir(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--precision", done.stderr)


if __name__ == "__main__":
    program.main()
