"""weir tune, as users call it. Run: python3 tests/apps/test_tune.py WEIR [TEST...]

Search is quick. Trials takes minutes: it holds how many trials a search needs on experiments/tuning. Lab runs
trials for real, and ends with status 77 where no lab can be had.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import program

ROOT = Path(__file__).resolve().parents[2]
NO_LAB = 77
SEEDS = range(1, 6)
MODELS = ("vgg-16", "recorded/resnet-50-h200", "transformer-base")
NEAR = 1.02

GPU = {"name": "gpu", "count": 2, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]}
CPU = {"name": "cpu", "count": 2, "nics": [{"at": "numa0", "rate": "8Gbps"}]}
TRACE = {"name": "net", "layers": [
    {"name": f"layer{i}", "forward": "1ms", "backward": "2ms",
     "tensors": [{"name": f"w{i}", "elements": 4_000_000}]}
    for i in range(4)]}
SIZES = "partition_size=200KB..20MB"


class Search(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "lab.json").write_text(json.dumps({"name": "lab", "groups": [GPU, CPU]}))
        (self.folder / "net.json").write_text(json.dumps(TRACE))
        self.write()

    def write(self, **more):
        experiment = {"topology": "lab.json", "trace": "net.json", "strategies": ["ps"],
                      "finest_part": "100MB", "model": {"message_overhead": "50us"}, **more}
        (self.folder / "mine.json").write_text(json.dumps(experiment))

    def weir(self, *arguments):
        return program.run(*arguments, cwd=self.folder)

    def found(self, *more):
        done = self.weir("tune", "mine.json", "--json", *more)
        self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if "runs" not in line]),
                         (0, []))
        return json.loads(done.stdout)

    def refused(self, *more):
        done = self.weir("tune", "mine.json", *more)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def test_a_run_with_the_found_settings_takes_the_found_time(self):
        done = self.weir("tune", "mine.json", "--over", f"{SIZES},credit=1..8",
                         "--trials", "10", "--output", "best.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("best.json holds it: weir run mine.json --settings best.json", done.stdout)
        fluid = self.weir("tune", "mine.json", "--over", SIZES, "--trials", "2",
                          "--engine", "fluid", "--output", "fluid.json").stdout
        self.assertIn("fluid.json holds it: weir run mine.json --settings fluid.json --engine fluid\n", fluid)
        best = json.loads((self.folder / "best.json").read_text())
        self.assertEqual(set(best["settings"]), {"partition_size", "credit"})
        self.assertEqual((best["tuned"]["trials"], best["tuned"]["strategy"]), (10, "ps"))
        ran = self.weir("run", "mine.json", "--settings", "best.json", "--no-plots", "--out", "out")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        iteration = int(program.rows(self.folder / "out")[0]["iteration_ns"])
        found = self.found("--over", f"{SIZES},credit=1..8", "--trials", "10")["best"]
        self.assertEqual((found["settings"], found["iteration_ns"]), (best["settings"], iteration))
        self.assertIn("settings: ok", self.weir("check", "best.json").stdout)

    def test_a_search_comes_near_the_best_of_the_grid(self):
        grid = self.found("--over", f"{SIZES},credit=1..8", "--method", "grid")
        self.assertEqual(len(grid["trials"]),
                         len(grid["values"]["partition_size"]) * len(grid["values"]["credit"]))
        bayes = self.found("--over", f"{SIZES},credit=1..8", "--trials", "12")
        self.assertEqual(len(bayes["trials"]), 12)
        self.assertLessEqual(bayes["best"]["iteration_ns"], NEAR * grid["best"]["iteration_ns"])

    def test_a_seed_determines_the_trials(self):
        arguments = ("--over", f"{SIZES},credit=1..8", "--trials", "8")
        self.assertEqual(self.found(*arguments), self.found(*arguments, "--jobs", "1"))
        self.assertNotEqual(self.found(*arguments)["trials"], self.found(*arguments, "--seed", "2")["trials"])

    def test_the_first_trial_has_the_experiments_settings(self):
        self.write(partition_size="3MB", credit=6)
        self.assertEqual(self.found("--trials", "1")["trials"][0]["settings"],
                         {"partition_size": "3MB", "credit": 6})

    def test_impossible_settings_are_reported_and_skipped(self):
        found = self.found("--over", "local=auto|gpu_direct|reduce", "--method", "grid")
        self.assertIn("gpu_direct",
                      [trial["settings"]["local"] for trial in found["trials"] if "why_not" in trial])
        self.assertNotEqual(found["best"]["settings"]["local"], "gpu_direct")
        self.assertIn("not possible",
                      self.weir("tune", "mine.json", "--over", "local=auto|gpu_direct").stdout)

    def test_steps_are_a_budget(self):
        self.write(warm_up=1, iterations=3)
        self.assertEqual(len(self.found("--steps", "27", "--over", SIZES)["trials"]), 6)
        self.assertIn("--steps: a single trial takes 4", self.refused("--steps", "3"))
        for steps in ("0", "-1", "few"):
            self.assertIn(f"--steps: expected a whole number of at least 1, got '{steps}'",
                          self.refused("--steps", steps))
        self.assertIn("--seed: expected a whole number of at least 0, got '-1'", self.refused("--seed", "-1"))

    def test_an_output_that_cannot_be_written_is_reported_before_the_first_trial(self):
        done = self.weir("tune", "mine.json", "--output", "none/best.json")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("none/best.json: cannot be written: No such file or directory", done.stderr)

    def test_input_files_are_not_overwritten(self):
        self.found("--over", "credit=2|3", "--output", "best.json")
        (self.folder / "other.json").write_text(json.dumps(TRACE))
        self.write(machines=["gpu[0]", "cpu[*]"], other_jobs=[
            {"name": "other", "trace": "net.json", "strategy": "ps", "machines": ["gpu[1]", "cpu[*]"]}])
        before = {file: file.read_bytes() for file in self.folder.iterdir()}
        for output in ("mine.json", "lab.json", "net.json", "best.json", "other.json"):
            with self.subTest(output=output):
                self.assertIn("this file is an input", self.refused(
                    "--settings", "best.json", "--set", "other_jobs.0.trace=other.json",
                    "--output", output, "--over", SIZES))
        self.assertEqual({file: file.read_bytes() for file in self.folder.iterdir()}, before)

    def test_options_without_effect_are_refused(self):
        told = "--over: fusion_size: ps does the same with every value; leave it out"
        self.assertIn(told, self.refused("--over", f"{SIZES},fusion_size"))
        self.assertIn("--over: partition_size: ddp does", self.refused(
            "--strategy", "ddp", "--set", "strategies=[\"ddp\"]", "--over", "partition_size,bucket_size"))
        for over in ("fusion_size=1MB|64MB", "partition_size=1MB|64MB"):  # the window is a number of these
            self.found("--over", over, "--trials", "1", "--set", "strategies=[\"ring\"]")

    def test_mistakes_are_reported(self):
        for over, what in {"partition_sise": "did you mean 'partition_size'?",
                           "partition_size=4MB..1MB": "the range from 4MB to 1MB is empty",
                           "partition_size=4..8": "try 4", "credit=0..3": "'0' is not above 0",
                           "credit=0|3": "--over credit: expected an integer from 1",
                           "credit=2|2": "'2' is listed twice", "credit=": "no value is given",
                           "credit,credit": "'credit' is listed twice",
                           "channels": "has no meaning in simulation",
                           "local=some": "--over local: expected one of 'auto'",
                           "local=auto..reduce": "it has no range"}.items():
            with self.subTest(over=over):
                self.assertIn(what, self.refused("--over", over))
        self.assertIn("--trials: 301 are too many for bayes", self.refused(
            "--trials", "301", "--over", "partition_size,credit,finest_part"))
        self.assertIn("--over: credit: the input sets it already", self.refused("--set", "credit=3"))
        self.assertIn("mxnet-ps always has", self.refused("--strategy", "mxnet-ps", "--over", "credit"))
        for name in ("sp", ""):
            self.assertIn(f"--strategy: unknown strategy '{name}'; expected one of",
                          self.refused("--strategy", name))
        self.assertIn("--over: expected names of what to vary, got an empty text", self.refused("--over", ""))
        self.assertIn("--output: expected a file, got an empty text", self.refused("--output", ""))
        self.write(sweep={"credit": [1, 2]})
        self.assertIn("sweep: it varies 'credit'", self.refused())
        self.write(strategies=["ps", "ring"])
        self.assertIn("--strategy: choose one; the experiment has 'ps', 'ring'", self.refused())
        self.write(strategies=[{"name": "ps", "as": "P3", "credit": 1}])
        self.assertIn("'P3' sets it itself", self.refused())

    def test_real_runs_follow_settings_unless_the_command_line_overrides_them(self):
        (self.folder / "best.json").write_text('{"settings": {"credit": 2}, '
                                               '"run": {"channels": 3, "workers": 2}}')
        for more, channels in ((), 3), (("--channels", "1"), 1):
            done = self.weir("run", "mine.json", "--settings", "best.json",
                             "--on", "local", "--no-plots", "--out", "out", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = json.dumps(program.whole(self.folder / "out"))
            self.assertIn(f"channels={channels} ", text)
            self.assertIn("workers=2 ", text)

    def test_settings_that_were_tuned_for_something_else_are_reported(self):
        self.found("--over", "credit=2|3", "--output", "best.json")
        size = " (64000000 bytes)"
        runs = ("run", "mine.json", "--settings", "best.json", "--no-plots", "--out", "out", "--set")
        self.assertEqual(self.weir(*runs, "seeds=[1]").stderr, "")
        for more, line in ((("strategies=[\"ring\",\"ps\"]",), "'ring' of net"),
                           (("trace.name=other",), "'ps' of other"),
                           (("strategies=[\"ring\",\"ps\"]", "--set", "trace.name=other"),
                            "'ring', 'ps' of other")):
            done = self.weir(*runs, *more)
            self.assertEqual((done.returncode, done.stderr),
                             (0, f"weir run: best.json was tuned for 'ps' of net{size}, and is applied to "
                                 f"{line}{size}\n"))
        warning = f"best.json was tuned for 'ps' of net{size}, and is applied to 'ring' of net{size}\n"
        for command in (("plan",), ("bound",), ("sweep", "--results", "swept"),
                        ("tune", "--over", "fusion_size", "--trials", "1")):
            done = self.weir(*command, "mine.json", "--settings", "best.json",
                             "--set", "strategies=[\"ring\"]")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"weir {command[0]}: {warning}", done.stderr)
        done = self.weir("whatif", "lab.json", "net.json", "--settings", "best.json", "--bound-only")
        self.assertIn(warning.replace("ring", "unified"), done.stderr)
        settings = json.loads((self.folder / "best.json").read_text())
        del settings["tuned"]["trace"]  # as in old settings files
        (self.folder / "best.json").write_text(json.dumps(settings))
        self.assertEqual(self.weir(*runs, "trace.name=other").stderr, "")

    def test_trials_run_for_real(self):
        found = self.found("--on", "local", "--over", "credit=2|8,workers=1|2", "--trials", "5")
        self.assertEqual(len(found["trials"]), 5)  # of four settings: noise makes it worth repeating one
        self.assertIn("predicted_ns", found["trials"][0])
        self.assertEqual(found["trials"][0]["label"], "vendor constant")  # of the prediction
        done = self.weir("tune", "mine.json", "--on", "local", "--over", "credit=2", "--trials", "1",
                         "--channels", "2", "--no-verify", "--set", "seeds=[3]", "--output", "its best.json")
        self.assertNotIn("vendor constant", done.stdout)
        self.assertIn("holds it: weir run mine.json --settings 'its best.json' --set 'seeds=[3]' --on local "
                      "--channels 2 --no-verify\n", done.stdout)
        self.assertNotIn("label", json.loads((self.folder / "its best.json").read_text())["tuned"])
        self.assertIn("workers", found["best"]["run"])

    def test_a_trial_that_takes_too_long_is_ended_and_reported(self):
        for more in ((), ("--on", "local")):
            done = self.weir("tune", "mine.json", "--trials", "1", "--deadline", "1ms", *more)
            self.assertEqual(done.returncode, 1)
            self.assertIn("none of the first trials ran: it did not finish within 1ms and was killed",
                          done.stderr)
        self.assertIn("--deadline: expected more than 0s", self.refused("--deadline", "0s"))

    def test_wrong_settings_are_reported(self):
        for text, what in {'{"settings":\n{"credits": 1}}': "best.json:2: settings: unknown key 'credits'",
                           '{"settings":\n{"credit": 0}}':
                               "best.json:2: settings.credit: expected an integer",
                           '{"run": {"channels": 0}, "settings": {}}': "best.json:1: run.channels",
                           '{"groups": []}': "this is a topology; expected a settings file"}.items():
            with self.subTest(text=text):
                (self.folder / "best.json").write_text(text)
                done = self.weir("run", "mine.json", "--settings", "best.json", "--no-plots")
                self.assertEqual(done.returncode, 2)
                self.assertIn(what, done.stderr)

    def test_the_page_has_the_tables_of_the_measurements(self):
        page = ROOT / "experiments/tuning/README.md"
        tables = subprocess.run([sys.executable, page.parent / "measure.py", "--tables"],
                                capture_output=True, text=True, check=True).stdout
        for line in tables.splitlines():
            self.assertIn(line, page.read_text(encoding="utf-8"))

    def test_a_search_that_is_interrupted_reports_its_best_so_far(self):
        self.write(iterations=50)
        command = program.command("tune", "mine.json", "--over", f"{SIZES},credit=1..8", "--method", "random",
                                  "--trials", "70", "--jobs", "1", "--output", "best.json")
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as run:
            for line in run.stderr:
                if "7 of" in line or "14 of" in line:
                    break
            run.send_signal(signal.SIGINT)
            output, _ = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 128 + signal.SIGINT)
        self.assertIn("best: ", output)
        self.assertIn("settings", json.loads((self.folder / "best.json").read_text()))


class Trials(unittest.TestCase):
    """How many trials come within 2 % of the best of a grid, as in experiments/tuning."""

    @staticmethod
    def tuned(strategy, model, *more):
        done = program.run("tune", "experiments/tuning", "--engine", "fluid", "--strategy", strategy, "--set",
                           f"trace=traces/{model}.json", "--json", *more, cwd=ROOT, timeout=600)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def test_the_guide_shows_the_results(self):
        guide = (ROOT / "docs/guide/tuning.md").read_text(encoding="utf-8")
        command = "weir tune experiments/tuning --strategy ps --trials 15 --output settings.json"
        shown = guide[guide.index(command) + len(command):guide.index("## How it searches")]
        output = program.run(*command.split()[1:-2], cwd=ROOT).stdout.splitlines()
        for line in filter(None, map(str.strip, shown.splitlines())):
            if line != "..." and not line.startswith("settings.json"):
                self.assertIn(line, map(str.strip, output))

    def hold(self, strategy, most):
        for model in MODELS:
            grid = self.tuned(strategy, model, "--method", "grid", "--trials", "60")
            best = grid["best"]["iteration_ns"]
            self.assertGreater(max(trial["iteration_ns"] for trial in grid["trials"]), 1.2 * best)
            for seed in SEEDS:
                with self.subTest(strategy=strategy, model=model, seed=seed):
                    found = self.tuned(strategy, model, "--trials", str(most), "--seed", str(seed))
                    self.assertLessEqual(found["best"]["iteration_ns"], NEAR * best)

    def test_15_trials_are_enough_for_a_parameter_server(self):
        self.hold("ps", 15)

    def test_25_trials_are_enough_for_all_reduce(self):
        self.hold("bytescheduler", 25)


class Lab(unittest.TestCase):
    def test_trials_run_in_a_lab(self):
        if os.geteuid() != 0 or program.run("lab", "run", "topologies/lab-4.json",
                                            "--set", f"topology.name=try-{os.getpid()}",
                                            "--", "true", cwd=ROOT).returncode != 0:
            print("no lab can be had here", file=sys.stderr)
            sys.exit(NO_LAB)
        with tempfile.TemporaryDirectory() as folder:
            best = Path(folder) / "best.json"
            began = time.monotonic()
            done = program.run(
                "tune", "experiments/lab", "--strategy", "unified", "--on", "lab", "--set", "sweep={}",
                "--set", "iterations=2", "--set", "warm_up=1",
                "--set", "trace.layers.0.tensors.0.elements=4194304",
                "--set", f"topology.name=tune-{os.getpid()}",
                "--over", "partition_size=500KB..8MB,channels=1|2", "--steps", "18",
                "--output", str(best), "--json", cwd=ROOT, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            found = json.loads(done.stdout)
            self.assertEqual(len(found["trials"]), 6, f"after {time.monotonic() - began} s")
            self.assertIn("lab", found["world"])
            for trial in found["trials"]:
                self.assertGreater(trial["iteration_ns"], 0)
                self.assertIn(trial["run"]["channels"], (1, 2))
            written = json.loads(best.read_text())
            self.assertEqual(written["run"], found["best"]["run"])
            self.assertEqual(written["settings"], found["best"]["settings"])


if __name__ == "__main__":
    program.main()
