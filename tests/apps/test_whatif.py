"""weir whatif, as users call it. Run: python3 tests/apps/test_whatif.py WEIR"""

import csv
import io
import json
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import program

N = 4  # machines with one GPU each
RATE = 1e9  # bytes per second of each NIC
MODEL = 1e9  # bytes
COMPUTE = 1.2  # seconds, hidden behind the exchange: they come after all gradients are ready, and before
BATCH = 10

GPU = {"name": "gpu", "count": N, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]}
CPU = {"name": "cpu", "count": 1, "nics": [{"at": "numa0", "rate": "8Gbps"}]}
TRACE = {"name": "net", "batch": BATCH, "sample": "image", "layers": [
    {"name": "long", "forward": "400ms", "backward": "800ms", "tensors": []},
    {"name": "large", "forward": "0s", "backward": "0s",
     "tensors": [{"name": f"w{i}", "elements": 12_500_000} for i in range(20)]}]}


def exchange(k):
    """Eq. 6 of BytePS (OSDI 2020): 2n(n-1)M/(DB), D = n^2 + kn - 2k; no less than a NIC's M/B."""
    return max(2 * N * (N - 1) / (N * N + k * N - 2 * k), 1) * MODEL / RATE


def iteration(k):
    return max(exchange(k), COMPUTE)


def price(k, gpu=10, cpu=1):
    return N * gpu + k * cpu


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        (self.folder / "trace.json").write_text(json.dumps(TRACE))
        self.write()

    def write(self, gpu_price="$10/h", cpu_price="$1/h", groups=()):
        priced = [{**GPU, "price": gpu_price}, {**CPU, "price": cpu_price}]
        (self.folder / "lab.json").write_text(json.dumps({"name": "lab", "groups": list(groups) or priced}))

    def weir(self, *more, files=("lab.json", "trace.json")):
        return program.run("whatif", *files, *more, cwd=self.folder)

    def found(self, *more):
        done = self.weir("--json", *more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def answers(self, *more):
        return self.found(*more)["answers"]

    def marked(self, mark, *more):
        return [answer["cpu_machines"] for answer in self.answers(*more) if answer[mark]]


class Times(Case):
    def test_bounds_are_eq_6_and_the_knee_is_where_compute_becomes_the_limit(self):
        answers = self.answers("--bound-only", "--cpu-machines", "0..6")
        self.assertEqual([answer["cpu_machines"] for answer in answers], list(range(7)))
        for k, answer in enumerate(answers):
            self.assertAlmostEqual(answer["iteration_ns"] / 1e9, iteration(k), places=6)
            self.assertAlmostEqual(answer["speedup"], iteration(0) / iteration(k), places=5)
            self.assertAlmostEqual(answer["samples_per_s"], N * BATCH / iteration(k), places=4)
            self.assertEqual(answer["knee"], k == 2)  # exchanges take 1.5 s, 1.333 s, 1.2 s, 1.09 s, 1 s...
        self.assertIn("nic0", answers[1]["binding"])
        self.assertEqual(answers[3]["binding"], "compute")

    def test_simulated_times_are_near_and_have_the_same_knee(self):
        answers = self.answers("--set", "policy=fifo")
        self.assertEqual(len(answers), N + 1)  # as many CPU machines as there are GPU machines
        for k, answer in enumerate(answers):
            self.assertGreaterEqual(answer["iteration_ns"] / 1e9, iteration(k) * (1 - 1e-6))
            self.assertLess(answer["iteration_ns"] / 1e9, iteration(k) * 1.05)
        self.assertEqual([answer["knee"] for answer in answers], [False, False, True, False, False])

    def test_without_compute_the_knee_is_as_many_as_gpu_machines(self):
        settings = [word for way in ("forward", "backward")
                    for word in ("--set", f"trace.layers.long.{way}=0s")]
        self.assertEqual(self.marked("knee", "--bound-only", "--cpu-machines", "0..8", *settings), [N])

    def test_machines_that_the_experiment_leaves_out_are_not_counted(self):
        (self.folder / "part.json").write_text(json.dumps(
            {"topology": "lab.json", "trace": "trace.json", "machines": ["gpu[*]", "cpu[0]"]}))
        self.assertEqual(self.weir("--cpu-machines", "0,1", files=("part.json",)).returncode, 0)
        done = self.weir("--cpu-machines", "0,1,2", files=("part.json",))
        self.assertEqual(done.returncode, 2)
        self.assertIn("cpu[1] is counted, but the experiment's 'machines'", done.stderr)

    def test_nics_at_a_quarter_of_the_rate_need_four_times_as_many_machines(self):
        answers = self.answers("--bound-only", "--cpu-machines", "0,1,2,4,8", "--cpu-nic", "2Gbps,8Gbps")
        self.assertEqual([answer["cpu_nic_bytes_per_s"] for answer in answers], 5 * [250e6] + 5 * [1e9])
        slow, fast = answers[:5], answers[5:]
        for few, many in ((1, 3), (2, 4)):  # positions of 1 and 4, of 2 and 8 machines
            self.assertAlmostEqual(slow[many]["iteration_ns"] / fast[few]["iteration_ns"], 1, places=6)

    def test_faster_nics_shorten_the_exchange(self):
        answers = self.answers("--bound-only", "--cpu-machines", "0", "--nic", "16Gbps,4Gbps")
        self.assertEqual([round(answer["iteration_ns"] / 1e6) for answer in answers],
                         [round(1e3 * max(exchange(0) * 2, COMPUTE)), round(1e3 * COMPUTE)])

    def test_local_stages_and_strategies_are_compared(self):
        done = self.weir("--bound-only", "--local", "reduce,reduce_scatter", "--strategy", "unified,ps",
                         "--cpu-machines", "0,2")
        self.assertEqual(done.returncode, 0)
        self.assertIn("\nps with local stage reduce_scatter\n", done.stdout)
        self.assertIn("ps with local stage reduce at 0 CPU machines is not possible", done.stderr)
        self.assertIn("\nTake unified with local stage reduce, and add 2 CPU machines: 25 % faster",
                      done.stdout)

    def test_large_clusters_are_counted_in_steps(self):
        counts = [answer["cpu_machines"] for answer in
                  self.answers("--bound-only", "--set", "topology.groups.gpu.count=512")]
        self.assertEqual(counts, list(range(0, 513, 32)))


class Costs(Case):
    def test_costs_follow_from_prices_and_times(self):
        found = self.found("--bound-only")
        self.assertEqual(found["currency"], "$")
        for k, answer in enumerate(found["answers"]):
            cost = price(k) / 3600 * iteration(k)
            self.assertAlmostEqual(answer["price_per_hour"], price(k))
            self.assertAlmostEqual(answer["cost_per_iteration"], cost, places=8)
            self.assertAlmostEqual(answer["cost_per_1000_samples"], cost / (N * BATCH) * 1000, places=6)
            self.assertAlmostEqual(answer["saving_percent"],
                                   100 * (1 - price(k) * iteration(k) / (price(0) * iteration(0))), places=5)

    def test_the_cheapest_is_where_a_machine_no_longer_pays_for_itself(self):
        # 40 x 1.5 = 60, 41 x 1.33 = 54.7, 42 x 1.2 = 50.4, 43 x 1.2 = 51.6
        self.assertEqual(self.marked("cheapest", "--bound-only"), [2])
        # 60, 50 x 1.33 = 66.7, 60 x 1.2 = 72
        self.assertEqual(self.marked("cheapest", "--bound-only", "--cpu-price", "$10/h"), [0])

    def test_the_last_line_says_what_to_do(self):
        last = self.weir("--bound-only").stdout.splitlines()[-1]
        self.assertEqual(last, "Add 2 CPU machines: 25 % faster for 5.0 % more money an hour, 16 % less an "
                               "iteration; beyond that compute binds.")
        last = self.weir("--bound-only", "--cpu-price", "$10/h").stdout.splitlines()[-1]
        self.assertEqual(last, "Add 2 CPU machines: 25 % faster for 50 % more money an hour, 20 % more an "
                               "iteration; beyond that compute binds; an iteration costs least with no CPU "
                               "machines.")
        last = self.weir("--bound-only", "--cpu-machines", "0,1").stdout.splitlines()[-1]
        self.assertIn("gpu.nic0.out still binds, so try more than 1", last)
        last = self.weir("--bound-only", "--nic", "100Gbps").stdout.splitlines()[-1]
        self.assertEqual(last,
                         "Add no CPU machines: more of them make no iteration faster; compute binds then.")

    def test_without_a_price_there_are_no_costs_and_a_line_that_says_why(self):
        self.write(cpu_price=None)
        done = self.weir("--bound-only")
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("$", done.stdout)
        self.assertIn("No costs, as 'cpu' has no price in the topology", done.stdout)
        self.assertNotIn("money", done.stdout)
        self.assertIn("$41.00", self.weir("--bound-only", "--cpu-price", "$1/h").stdout)


class Input(Case):
    def test_a_topology_without_cpu_machines_gets_some(self):
        self.write(groups=[GPU])
        self.assertEqual(self.weir("--bound-only").returncode, 2)
        self.assertIn("--cpu-nic: the topology has no group of machines without GPUs; a rate",
                      self.weir("--bound-only").stderr)
        answers = self.answers("--bound-only", "--cpu-nic", "8Gbps")
        self.assertEqual([round(answer["iteration_ns"] / 1e6) for answer in answers],
                         [round(1e3 * iteration(k)) for k in range(N + 1)])

    def test_a_topology_alone_is_refused(self):
        done = self.weir(files=("lab.json",))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("lab.json is a topology; give a trace too: weir whatif TOPOLOGY TRACE", done.stderr)

    def test_an_experiment_says_more_than_a_topology_and_a_trace(self):
        (self.folder / "mine.json").write_text(json.dumps(
            {"topology": "lab.json", "trace": "trace.json", "strategies": ["ring"], "barrier": True,
             "sweep": {"topology.groups.cpu.count": [7]}}))
        files = ("mine.json",)
        done = self.weir("--bound-only", "--csv", files=files)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([(row["strategy"], row["cpu_machines"]) for row in rows],
                         [("unified", str(k)) for k in range(N + 1)])
        for row, answer in zip(rows, self.answers("--bound-only")):
            self.assertEqual(row["iteration_ns"], str(answer["iteration_ns"]))
            self.assertEqual(row["knee"], str(answer["knee"]).lower())

    def test_wrong_input_is_reported_with_the_option(self):
        cpus = [{**CPU, "name": name} for name in ("new", "old")]
        for groups, options, complaint in [
                ((), ("--cpu-machines", "3..1"),
                 "--cpu-machines: '3..1' is not a number of machines; try 0..16"),
                ((), ("--cpu-machines", "5000"), "--cpu-machines: 5000 is too large; at most 4096"),
                ((), ("--nic", "8Gbps,9Gb"), "--nic: '9Gb' is not a rate; try 9Gbps"),
                ((), ("--nic", "8Gbps", "--cpu-nic", "8Gbps"), "--cpu-nic"),
                ((), ("--local", "roots"), "--local: expected one of 'auto', 'reduce_scatter'"),
                ((), ("--strategy", "unifed"), "unknown strategy 'unifed'; expected one of unified"),
                ((), ("--cpu-price", "4"), "--cpu-price: '4' is not a price; try 4/h"),
                ((), ("--cpu-price", "EUR 4/h"), "EUR 4/h is in another currency than the $10/h of 'gpu'"),
                ((), ("--group", "gpu"),
                 "--group: 'gpu' is not a group of machines without GPUs; there are 'cpu'"),
                ((), ("--group", ""), "--group: expected the name of a group, got an empty text"),
                ((), ("--cpu-price", ""), "--cpu-price: expected a price, got an empty text"),
                ((), ("--set", "polcy=fifo"), "did you mean 'policy'?"),
                ([GPU, *cpus], (), 
                 "--group: there are 2 groups of machines without GPUs, 'new', 'old'; choose the one"),
                ([{**GPU, "nics": []}, CPU], (), "each of several machines needs a NIC")]:
            with self.subTest(options=options):
                self.write(groups=groups)
                done = self.weir("--bound-only", *options)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(complaint, done.stderr)
        for files, complaint in [(("trace.json", "lab.json"), "this is a trace; expected a topology"),
                                 (("lab.json",), "lab.json is a topology; give a trace too"),
                                 (("none.json", "trace.json"), "there is no file none.json")]:
            done = self.weir(files=files)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(complaint, done.stderr)

    def test_runs_that_fail_are_reported_and_the_others_answer(self):
        done = self.weir("--cpu-machines", "0,1", "--strategy", "ring,unified", "--set", "partition_size=1KB",
                         "--set", "finest_part=1KB", "--set", "fusion_size=100MB")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unified at 0, 1 CPU machines failed", done.stderr)
        self.assertIn("Take ring", done.stdout)

    def test_nothing_possible_is_an_error(self):
        done = self.weir("--bound-only", "--strategy", "ps", "--cpu-machines", "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none of the combinations is possible", done.stderr)

    def test_a_signal_ends_it_and_shows_what_is_done(self):
        command = program.command("whatif", "lab.json", "trace.json", "--cpu-machines", "0..300",
                                  "--jobs", "1")
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn("interrupted: ", error)
        self.assertNotIn("Add ", output)


if __name__ == "__main__":
    program.main()
