"""Numbers in pages must equal the results of experiments. Run: python3 tests/apps/test_pages.py WEIR"""

import re
import statistics
import subprocess
import tempfile
import unittest
from pathlib import Path

import program

ROOT = Path(__file__).resolve().parents[2]
GPU_MACHINES = 8  # in quickstart and optimal_split
COUNT = "topology.groups.cpu.count"


class Page(unittest.TestCase):
    """Numbers are read from the page, so that neither it nor the program changes alone."""

    path = ""
    experiment = ""  # the experiment to run, if any
    engine = "fluid"  # gives SimGrid's results in a fraction of the time

    @classmethod
    def setUpClass(cls):
        cls.page = " ".join((ROOT / cls.path).read_text(encoding="utf-8").split())
        if not cls.experiment:
            return
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        done = program.run("run", ROOT / cls.experiment, "--engine", cls.engine,
                           "--no-plots", "--set", "timelines=[]", "--out", folder, timeout=800)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.rows = program.rows(folder)
        cls.whole = program.whole(folder)

    def numbers(self, sentence):
        """The numbers that the page has for each # of the sentence."""
        pattern = re.escape(sentence).replace(r"\#", r"(\d+(?:\.\d+)?)")
        found = re.search(pattern, self.page)
        self.assertIsNotNone(found, f"{self.path} does not say '{sentence}': mend the page or this test")
        return list(found.groups())

    def says(self, sentence, *expected, within=0.0):
        """Checks the page's numbers to their last digit, or to a relative error."""
        stated = self.numbers(sentence)
        self.assertEqual(len(stated), len(expected), sentence)
        for text, value in zip(stated, expected):
            self.assert_rounded(text, value, sentence, within)

    def assert_rounded(self, text, value, where, within=0.0):
        last_digit = 10 ** -len(text.partition(".")[2])
        self.assertLessEqual(abs(float(text) - value), max(0.501 * last_digit, within * value),
                             f"{where}: {text} should be {value:.4f}")

    def row(self, strategy, **values):
        (row,) = [row for row in self.rows if row["strategy"] == strategy
                  and all(row[name] == value for name, value in values.items())]
        return row

    def time(self, strategy, **values):
        """Times of iterations, in ms."""
        return int(self.row(strategy, **values)["iteration_ns"]) / 1e6


class Quickstart(Page):
    path = "experiments/quickstart/README.md"
    experiment = "experiments/quickstart"
    engine = "simgrid"

    def at(self, strategy, k):
        return self.time(strategy, **{COUNT: k})

    def busiest_nic(self, strategy, k):
        """How long the busiest NIC is busy in an iteration, in ms."""
        (row,) = [row for row in self.whole["rows"]
                  if row["strategy"] == strategy and row["values"][COUNT] == k]
        return max(link["bytes"] for link in row["links"] if ".nic" in link["name"]) / 22.5e9 * 8e3

    def cell(self, strategy, k):
        found = [row for row in self.rows if row["strategy"] == strategy and row[COUNT] == k]
        if not found:
            return "impossible"
        return f"{self.at(strategy, k):.1f} ({float(found[0]['bound_percent']):.1f} %)"

    def test_its_table_has_the_results(self):
        counts = list(dict.fromkeys(row[COUNT] for row in self.rows))
        strategies = [row["strategy"] for row in self.rows if row[COUNT] == counts[-1]]
        bounds = [f"{int(self.row('ring', **{COUNT: k})['bound_ns']) / 1e6:.1f}" for k in counts]
        right = [["strategy"] + [f"k = {k}" for k in counts], ["bound"] + bounds]
        right += [[strategy] + [self.cell(strategy, k) for k in counts] for strategy in strategies]
        lines = (ROOT / self.path).read_text(encoding="utf-8").splitlines()
        found = [line for line in lines if line.startswith("|") and "---" not in line]
        right = [f"| {' | '.join(cells)} |" for cells in right]
        self.assertEqual(found, right, "the table should be:\n" + "\n".join(right))

    def test_unified_beats_all_others_between_none_and_as_many_cpu_machines_as_gpu_machines(self):
        for k in sorted({row[COUNT] for row in self.rows}):
            unified = self.at("unified", k)
            for row in self.rows:
                if row[COUNT] != k or row["strategy"] == "unified":
                    continue
                other = int(row["iteration_ns"]) / 1e6
                if 0 < int(k) < GPU_MACHINES:
                    self.assertLess(unified, other, f"{row['strategy']} at {k}")
                else:
                    self.assertLessEqual(unified, 1.001 * other, f"{row['strategy']} at {k}")

    def test_its_ratios_are_right(self):
        self.says("Eight CPU machines make the unified strategy # times as fast as the ring.",
                  self.at("ring", "8") / self.at("unified", "8"))
        self.says("Without any it is # times as fast", self.at("ring", "0") / self.at("unified", "0"))

    def test_its_expectation_equals_the_bytes_of_plans(self):
        (trace,) = self.whole["traces"].values()
        tensors = [[tensor["elements"] for tensor in layer["tensors"]] for layer in trace["layers"]]
        self.assertEqual({tensor["dtype"] for layer in trace["layers"] for tensor in layer["tensors"]},
                         {"f16"})
        model, embedding = 2 * sum(map(sum, tensors)), 2 * sum(tensors[0])
        self.says("BERT-Large has M = # MB of gradients", model / 1e6)
        self.says("its gradient, # MB or # % of the bytes", embedding / 1e6, 100 * embedding / model)
        rate = 22.5e9 / 8e3  # bytes in a ms
        all_reduce = 2 * (GPU_MACHINES - 1) / GPU_MACHINES
        self.says("Its exchange alone takes # ms by all-reduce and # ms with 8 CPU machines",
                  all_reduce * embedding / rate, embedding / rate)
        for strategy in ("ring", "hierarchical", "colocated-ps"):
            self.says("GPU machine's NIC: # ms at rate B.", self.busiest_nic(strategy, 0), within=0.002)
        self.says("moves 2(64-1)M/64, # ms, and the double tree 2M, # ms.", self.busiest_nic("flat-ring", 0),
                  self.busiest_nic("double-tree", 0), within=0.002)
        self.says("- 2k)B): # ms without CPU machines, # ms with 8.", self.busiest_nic("unified", 0),
                  self.busiest_nic("unified", 8), within=0.002)
        self.says("each of their NICs: # ms with 2, # ms with 4, and with 8 the same # ms",
                  self.busiest_nic("ps", 2), self.busiest_nic("ps", 4), self.busiest_nic("ps", 8),
                  within=0.002)

    def test_it_counts_its_runs(self):
        self.says("CPU machines beside the GPU machines: # runs",
                  len(self.rows) + len(self.whole["impossible"]))


class PartitionSize(Page):
    path = "experiments/partition_size/README.md"
    experiment = "experiments/partition_size"

    def at(self, strategy, size):
        return self.time(strategy, partition_size=size)

    def test_it_states_the_minimum(self):
        unified, colocated = map(float, self.numbers("at # ms for unified and ps and # ms for colocated-ps"))
        self.assertIn("flat between 250 KB and 1 MB", self.page)
        for size in ("250KB", "500KB", "1MB"):
            for strategy, stated in (("unified", unified), ("ps", unified), ("colocated-ps", colocated)):
                self.assertAlmostEqual(self.at(strategy, size) / stated, 1, delta=0.025,
                                       msg=f"{strategy} {size}")
        least = min(self.at("unified", row["partition_size"]) for row in self.rows)
        self.assertIn(least, [self.at("unified", size) for size in ("250KB", "500KB", "1MB")])

    def test_it_states_the_cost_of_other_sizes(self):
        least = min(self.at("unified", size) for size in ("250KB", "500KB", "1MB"))
        cost = [100 * (self.at("unified", size) / least - 1) for size in ("125KB", "4MB", "16MB")]
        for stated, found in zip(self.numbers("125 KB costs # %, 4 MB # %, 16 MB # %, and 64 MB"), cost):
            self.assertAlmostEqual(float(stated), found, delta=1)
        self.assertIn("and 64 MB, where nothing overlaps any more, takes twice as long", self.page)
        self.assertAlmostEqual(self.at("unified", "64MB") / least, 2, delta=0.15)


class SlowReceivers(Page):
    path = "experiments/slow_receivers/README.md"
    experiment = "experiments/slow_receivers"

    def cost(self, strategy, entries="1"):
        """The slowdown in percent, with 0, 4 and 8 CPU machines."""
        def time(name, count, pieces):
            return self.time(name, **{COUNT: count, "model.scatter_entries": pieces})

        return [100 * (time(strategy, count, entries) / time("unified", count, "1") - 1)
                for count in ("0", "4", "8")]

    def test_it_states_the_cost_of_each(self):
        self.says("the loop costs # % with no CPU machine, # % with four, and # % with eight",
                  *self.cost("loopback"))
        self.says("Three entries instead of one cost # % with no CPU machine, # % with four and # % with "
                  "eight", *self.cost("unified", "3"))
        (stated,) = self.numbers("at 80 % of the rate, cost # % everywhere")
        for found in self.cost("unaligned"):
            self.assertAlmostEqual(float(stated), found, delta=0.5)


class Conditions(Page):
    path = "experiments/conditions/README.md"
    # The strategies in the order of the tables' columns; each row is in one of the tables.
    strategies = (("unified", "ps", "ring", "hierarchical", "double-tree", "halving-doubling",
                   "colocated-ps"),
                  ("flat-ring", "ddp", "horovod", "bytescheduler", "mxnet-ps"))

    def stated(self, line):
        """The cells of the page's rows with this beginning, by strategy."""
        rows = [[cell.strip() for cell in row.split("|")[2:-1]]
                for row in (ROOT / self.path).read_text().splitlines()
                if row.startswith(f"| {line} |")]
        self.assertEqual([len(row) for row in rows], [len(strategies) for strategies in self.strategies],
                         line)
        return [(strategy, cell) for strategies, row in zip(self.strategies, rows)
                for strategy, cell in zip(strategies, row)]


class SlowLink(Conditions):
    experiment = "experiments/conditions/slow_link"

    def test_it_has_the_strategies_of_the_program(self):
        asked = program.run("run", ROOT / self.experiment, "--set", 'strategies=["none"]').stderr
        known = re.findall("'(.*?)'", asked.partition("strategies are")[2])
        self.assertEqual(sorted(sum(self.strategies, ())), sorted(known), asked)

    def test_its_rows_have_the_results(self):
        for line, factor in (("nothing", "1"), ("`slow_link`: a GPU machine's NIC at half its rate", "0.5"),
                             ("`slow_link`: at a quarter", "0.25")):
            for strategy, text in self.stated(line):
                time = self.time(strategy, **{"conditions.links.0.factor": factor})
                self.assertAlmostEqual(float(text), time, delta=1 if strategy == "double-tree" else 0.11,
                                       msg=strategy)


class OtherJobs(Conditions):
    experiment = "experiments/conditions/other_jobs"

    def test_its_rows_have_the_results(self):
        for neighbour in ("ring", "ps"):
            for strategy, text in self.stated(f"`other_jobs`: a neighbour that trains by `{neighbour}`"):
                (row,) = [row for row in self.rows
                          if (row["strategy"], row["other_jobs.0.strategy"]) == (strategy, neighbour)]
                found = [int(row[name]) / 1e6 for name in ("iteration_ns", "neighbour iteration_ns")]
                for part, time in zip(re.findall(r"[\d.]+", text), found, strict=True):
                    self.assertAlmostEqual(float(part), time, delta=0.01 * time, msg=(neighbour, strategy))


class ParameterServerOptimizer(Page):
    path = "experiments/parameter_server_optimizer/README.md"
    experiment = "experiments/parameter_server_optimizer"
    passes = {"sgd": 3, "momentum": 5, "rmsprop": 5, "adam": 7}

    def speed(self, strategy, optimizer):
        return self.time(strategy, optimizer="none") / self.time(strategy, optimizer=optimizer)

    def test_its_table_has_the_results(self):
        for optimizer in ("none", *self.passes):
            ps, mxnet = self.numbers(f"| {optimizer} | " + {"none": "1", "sgd": "0.80", "momentum": "0.78",
                                                            "rmsprop": "0.63", "adam": ""}[optimizer]
                                     + (" " if optimizer != "adam" else "") + "| # | # |")
            self.assert_rounded(ps, self.speed("ps", optimizer), optimizer)
            self.assert_rounded(mxnet, self.speed("mxnet-ps", optimizer), optimizer)

    def test_its_expectation_equals_the_time_of_passes(self):
        (trace,) = self.whole["traces"].values()
        model = 4 * sum(tensor["elements"] for layer in trace["layers"] for tensor in layer["tensors"])
        each = model / 103.5e9 * 1e3
        self.says("M = # MB of parameters", model / 1e6)
        self.says("103.5 GB/s of memory: # ms, # ms and # ms an iteration. NICs need # ms each way",
                  3 * each, 5 * each, 7 * each, model / 11.25e9 * 1e3)
        self.says("took # ms, # ms and # ms more", *[166.7 * (1 / speed - 1) for speed in (0.80, 0.78, 0.63)])
        self.says("would add # ms, # ms and # ms.", 3 * each, 5 * each, 5 * each)


class OptimalSplit(Page):
    path = "experiments/optimal_split/README.md"  # tests/apps/targets_test.cc runs it

    def test_it_lists_the_times_of_eq_6(self):
        n = GPU_MACHINES
        self.says("goodput of #, #, #, #, #, #, #, # and # Gbps for k = 0 to 8",
                  *[90 * (n * n + k * n - 2 * k) / (2 * n * (n - 1)) for k in range(n + 1)])


class Guide(Page):
    path = "docs/guide/whatif.md"

    def test_its_answers_are_those_of_whatif(self):
        text = (ROOT / self.path).read_text(encoding="utf-8")
        example = text.partition("## Example\n")[2].partition("\n## ")[0]
        lines = [line[4:] for line in example.splitlines() if line.startswith("    ")]
        command = lines.pop(0).split()
        self.assertEqual(command[:2], ["weir", "whatif"])
        done = program.run(*command[1:], cwd=ROOT, timeout=800)
        self.assertEqual([line for line in lines if line],
                         [line for line in done.stdout.splitlines() if line],
                         f"the example should be:\n{done.stdout}")


class Calibration(unittest.TestCase):
    def test_its_errors_are_those_of_its_script(self):
        page = (ROOT / "experiments/calibration/README.md").read_text(encoding="utf-8")
        done = subprocess.run([ROOT / "experiments/calibration/calibrate.py", "--weir", program.command()[0],
                               "--sets", "lab of this page"],
                              capture_output=True, text=True, timeout=1200, check=True)
        results = re.findall(r"^([^\n]+): (\d+) runs$.*?median (\S+) %, 95th percentile (\S+) %: "
                             r"(within|NOT within)", done.stdout, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(results), 1, done.stdout)
        for name, runs, median, p95, within in results:
            self.assertIn(f"| {name} | {runs} | {median} % | {p95} % | "
                          f"{'yes' if within == 'within' else 'no'} |", page)


class Reproduction(unittest.TestCase):
    """Of experiments that run in seconds; scripts/reproduce writes the whole page."""

    def compared(self, experiment):
        """The tables, and whether all values are within their tolerances."""
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            done = program.run("run", ROOT / experiment, "--engine", "fluid",
                               "--no-plots", "--out", folder, "--page", page, timeout=800)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            return page.read_text(encoding="utf-8"), done.returncode == 0

    def test_its_tables_have_the_results(self):
        page = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
        met = {"sosp19": True, "osdi20/eq6_two_workers": True, "osdi20/fig09a_optimizer": True,
               "osdi20/fig15c_ugatit": True, "osdi20/fig04_vgg16": False, "osdi20/fig04_vgg16_ps": False}
        for experiment, expected in met.items():
            with self.subTest(experiment):
                tables, all_met = self.compared(f"experiments/{experiment}")
                self.assertIn(tables, page, f"it should have:\n{tables}")
                self.assertEqual(all_met, expected)


class Readme(Page):
    path = "README.md"

    def test_other_strategies_win_where_it_says_so(self):
        self.assertIn("Rings and trees win behind oversubscribed racks", self.page)
        times = {}  # first iterations; another test checks the table itself
        for line in (ROOT / "tests/golden/strategies.txt").read_text(encoding="utf-8").splitlines()[1:]:
            topology, strategy, first, _ = line.split()
            times[topology, strategy] = int(first)
        behind_racks = {"ring", "flat-ring", "hierarchical", "double-tree",
                        "halving-doubling", "ddp", "horovod", "bytescheduler"}
        for (topology, strategy), time in times.items():
            if topology == "racks-oversubscribed" and strategy in behind_racks:
                self.assertLess(time, times[topology, "unified"], f"{strategy} on {topology}")
            else:
                self.assertGreaterEqual(time * 1.005, times[topology, "unified"], f"{strategy} on {topology}")

class Sensitivity(Page):
    path = "experiments/sensitivity/README.md"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        for command in (("sweep", ROOT / "experiments/sensitivity"),
                        ("sweep", "--export", folder / "results.csv")):
            done = program.run(*command, "--results", folder / "sweep", timeout=800)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
        program.run("report", folder / "sweep", "-o", folder / "page.html")
        cls.report = " ".join(re.sub("<[^>]+>", " ",
                                     (folder / "page.html").read_text(encoding="utf-8")).split())
        cls.rows = [row for row in program.rows(folder) if row["strategy"] == "unified"]

    def gbps(self, row):
        (text,) = [value for name, value in row.items() if "nics.0.rate" in name]
        number, unit = re.fullmatch(r"([\d.]+)(\D+)", text).groups()
        return float(number) * {"Gbps": 1, "Mbps": 1e-3, "MB/s": 8e-3, "GB/s": 8}[unit]

    def test_the_network_decides(self):
        medians = [statistics.median(float(row["speedup"]) for row in self.rows
                                     if low <= self.gbps(row) < high)
                   for low, high in ((0, 10), (10, 20), (20, 51))]
        self.says("`ring` is # below 10 Gbps, # from 10 to 20 Gbps and # above", *medians)
        best = max(self.rows, key=lambda row: float(row["speedup"]))
        worst = min(self.rows, key=lambda row: float(row["speedup"]))
        self.says("is # times as fast as ring: eight CPU machines at # Gbps",
                  float(best["speedup"]), self.gbps(best))
        self.says("takes # of ring's speed: at # Gbps", float(worst["speedup"]), self.gbps(worst))
        self.assertEqual((best[COUNT], worst[COUNT]), ("8", "7"))

    def test_effects_are_the_report_s(self):
        for thing, sentence in [
                ("topology.groups.gpu.nics.0.rate, topology.groups.cpu.nics.0.rate",
                 "rate of all NICs, 5 to 50 Gbps"),
                (COUNT, "CPU machines, 0 to 8"), ("partition_size", "`partition_size`, 512 KiB to 16 MiB"),
                ("model.message_overhead", "`model.message_overhead`, 0 to 50 us")]:
            found = re.search(re.escape(thing)
                              + r" (\d+\.\d\d) (\d+\.\d\d) (\d+\.\d\d) (\d+\.\d\d) 60 samples", self.report)
            self.assertIsNotNone(found, thing)
            self.assertEqual(self.numbers(f"| {sentence} | # | # | # | # |"), list(found.groups()))
        self.assertIn("unified 90 %, ring 100 %, hierarchical 100 %, ps 92 %", self.report)
        self.says("explains # % of the variance of `unified`, of `ps` # %", 90, 92)


if __name__ == "__main__":
    del Page  # has no tests of its own
    program.main()
