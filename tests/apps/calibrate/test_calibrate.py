"""weir calibrate as users meet it. Run: python3 tests/apps/calibrate/test_calibrate.py WEIR"""

import contextlib
import json
import random
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
from calibrating import (  # noqa: E402  pylint: disable=wrong-import-position
    OVERHEAD, RATE, SIZES, TOPOLOGY, TRACE, Case, transport)


class Values(Case):
    def test_a_calibrated_topology_holds_what_was_fitted_and_on_what(self):
        self.calibrate()
        self.weir("check", "calibrated.json")
        values = self.values()
        nic = values["groups.gpu.nics.0.rate"]
        self.assertEqual(nic["value"], "1.1GB/s" if nic["value"].endswith("B/s") else "8.8Gbps")
        self.assertEqual((nic["was"], nic["points"], nic["machines"]), ("10Gbps", len(SIZES), 2))
        self.assertEqual(nic["sources"], ["transport.json"])
        self.assertEqual((nic["least_size"], nic["most_size"]), ("4KiB", "16MiB"))
        self.assertEqual(values["model.message_overhead"]["value"], "20us")
        written = json.loads((self.folder / "calibrated.json").read_text())
        self.assertEqual(written["groups"][0]["nics"][0]["rate"], nic["value"])

    def test_a_wrong_measurement_does_not_move_it(self):
        sizes = [2**i for i in range(12, 25)]
        self.write("transport.json", transport(sizes, wrong=(2**15, 2**22)))
        self.calibrate()
        self.assertEqual(self.values()["groups.gpu.nics.0.rate"]["value"], "8.8Gbps")

    def test_held_out_points_are_reported_separately(self):
        self.write("transport.json", transport([2**i for i in range(12, 26)]))
        result = json.loads(self.calibrate("--hold-out", "0.5", "--seed", "2", "--json").stdout)
        errors = result["errors"]["points"]
        self.assertEqual((errors["fitted"]["count"], errors["held_out"]["count"]), (7, 7))
        self.assertLess(errors["held_out"]["worst_percent"], 0.1)

    def test_times_of_one_size_are_held_out_together(self):
        """Otherwise the time in place would be predicted from the almost equal time out of place."""
        self.write("nccl.json", {"nccl_version": 22800, "args": ["sendrecv_perf"], "config": {"devices": [
            {"hostname": "a"}, {"hostname": "b"}]}, "results": [
                {"size": size, **{place: {"time": 1e6 * (OVERHEAD + size / RATE), "nwrong": 0}
                                  for place in ("out_of_place", "in_place")}} for size in SIZES[2:]]})
        errors = json.loads(self.calibrate("--hold-out", "0.5", "--json",
                                           files=("nccl.json",)).stdout)["errors"]["points"]
        self.assertEqual((errors["fitted"]["count"], errors["held_out"]["count"]), (4, 2))

    def test_a_line_with_only_held_out_times_is_fitted_and_reported(self):
        self.write("one.json", transport(SIZES[-1:]))
        noted = 0
        for seed in range(1, 6):
            done = self.calibrate("--hold-out", "0.9", "--seed", str(seed), "--json",
                                  files=("gpu=transport.json", "cpu=one.json"))
            self.assertLessEqual({"groups.gpu.nics.0.rate", "groups.cpu.nics.0.rate"},
                                 set(self.values()), seed)
            errors = json.loads(done.stdout)["errors"]["points"]
            put_back = ("times drawn to be held out are fitted: nothing else determines the same values"
                        in done.stderr)
            self.assertEqual(errors["held_out"]["count"], 4 if put_back else 5)
            noted += put_back
        self.assertGreater(noted, 0)

    def test_a_value_with_an_error_above_100_percent_is_noted(self):
        measured = transport([2**i for i in range(20, 26)])
        for i, row in enumerate(measured["rows"]):
            row["nodes_bytes_per_s"] *= (1.02, 0.98)[i % 2]
        self.write("transport.json", measured)
        done = self.calibrate()
        note = "not determined by these measurements"
        self.assertRegex(done.stdout, rf"model.message_overhead .* transport.json  {note}\n")
        self.assertEqual(done.stdout.count(note), 1)
        self.assertGreater(self.values()["model.message_overhead"]["standard_error_percent"], 100)
        self.assertIn("model.message_overhead: these measurements do not determine it: its standard error",
                      done.stderr)
        self.weir("check", "calibrated.json")
        for i, row in enumerate(measured["rows"]):
            row["nodes_bytes_per_s"] *= (1.03, 0.97)[i % 2]
        self.write("transport.json", measured)
        done = self.calibrate()
        self.assertIn("model.message_overhead: the times fit best with less than 0s; 0s is written",
                      done.stderr)
        overhead = self.values()["model.message_overhead"]  # a free fit would be below 0
        self.assertEqual(overhead["value"], "0s")
        self.assertNotIn("standard_error_percent", overhead)

    def table(self, name, efficiency, hosts=2):
        """nccl-tests' table of all-reduces by one GPU a host, at this part of the NIC's 10 Gbps."""
        ranks = [f"#  Rank {i:2} Group  0 Pid {1000 + i} on node{i} device  0 [0x10] Tesla V100"
                 for i in range(hosts)]
        rows = []
        for size in (1 << 20, 1 << 22, 1 << 24, 1 << 26):
            us = 20 + size * 2 * (hosts - 1) / hosts / (efficiency * 1.25e9) * 1e6
            rows.append(f"{size:12} {size // 4:12} float sum -1 " + 2 * (
                f"{us:.2f} {size / us / 1e3:.3f} {size / us / 1e3 * 2 * (hosts - 1) / hosts:.3f} 0 "))
        (self.folder / name).write_text("\n".join(["# nThread 1 nGpus 1", "#", *ranks, *rows]) + "\n")

    def test_an_efficiency_that_cannot_be_is_refused(self):
        for efficiency, why in ((1.75, "NVLink joins the machines"),
                                (0.00275, "the job used another network")):
            with self.subTest(efficiency=efficiency):
                self.table("table.txt", efficiency)
                (self.folder / "calibrated.json").unlink(missing_ok=True)
                done = self.weir("calibrate", "small.json", "table.txt", "--output", "calibrated.json",
                                 status=2)
                self.assertEqual(done.stdout, "")
                self.assertIn("no measurement fits a value of the topology; "
                              "table.txt: all-reduces over 2 machines", done.stderr)
                self.assertIn(f"allreduce_efficiency would be {efficiency:.3g}, and must be from 0.01 to 1",
                              done.stderr)
                self.assertIn(why, done.stderr)
                self.assertFalse((self.folder / "calibrated.json").exists())
                # With other measurements it is a warning, and its times are in no error.
                done = self.calibrate("--json", files=("transport.json", "table.txt"))
                self.assertIn("it stays as it was", done.stderr)
                self.assertNotIn("allreduce_efficiency", self.values())
                self.assertEqual(json.loads(done.stdout)["errors"]["points"]["fitted"]["count"], len(SIZES))

    def test_errors_are_those_of_an_efficiency_that_was_cut(self):
        self.table("table.txt", 1.01)
        done = self.calibrate("--json", files=("table.txt",))
        self.assertIn("1 is written, and errors are those of 1", done.stderr)
        self.assertEqual(self.values()["allreduce_efficiency"]["value"], 1)
        self.assertGreater(json.loads(done.stdout)["errors"]["points"]["fitted"]["worst_percent"], 0.8)

    def test_a_table_of_one_gpu_says_so(self):
        self.table("table.txt", 0.8, hosts=1)
        done = self.weir("calibrate", "small.json", "table.txt", status=2)
        self.assertIn("table.txt: only one GPU took part; expected at least two", done.stderr)
        text = (self.folder / "table.txt").read_text()
        (self.folder / "table.txt").write_text(text + text)
        done = self.weir("calibrate", "small.json", "table.txt", status=2)
        self.assertIn("only one GPU took part; there are 2 tables with the same ranks", done.stderr)

    def test_a_file_given_twice_counts_once(self):
        """Otherwise it would be held out against itself, and two points would look as certain as four."""
        two = transport(SIZES[:2])
        self.write("transport.json", two)
        self.write("copy.json", {**two, "rows": two["rows"] + transport([SIZES[-1]])["rows"]})
        once = json.loads(self.calibrate("--json").stdout)
        done = self.calibrate("--json", files=("transport.json", "transport.json"))
        twice = json.loads(done.stdout)
        self.assertEqual((twice["values"], twice["errors"]), (once["values"], once["errors"]))
        self.assertRegex(done.stderr,
                         "2 of 2 times are left out: .*transport.json: an earlier file has them too\n")
        done = self.calibrate("--hold-out", "0.5", "--json", files=("transport.json", "copy.json"))
        self.assertRegex(done.stderr,
                         "2 of 3 times are left out: .*copy.json: an earlier file has them too\n")
        errors = json.loads(done.stdout)["errors"]["points"]
        self.assertEqual(errors["held_out"]["count"], 1)

    def test_measurements_of_different_machines_are_refused_or_doubted(self):
        self.assertEqual(self.calibrate().stderr, "")
        fast = transport()
        for row in fast["rows"]:
            row["nodes_bytes_per_s"] *= 10
        self.write("fast.json", fast)
        self.assertIn("groups.gpu.nics.0.rate: measured 88 Gbps, but the topology says 10 Gbps: was "
                      "fast.json measured on these machines?", self.calibrate(files=("fast.json",)).stderr)
        self.write("experiment.json",
                   {"topology": "small.json", "trace": "trace.json", "strategies": ["unified", "ring"],
                    "sweep": {"partition_size": ["1MB", "4MB"]}})
        self.weir("run", "experiment.json", "--no-plots", "--out", "out")
        results = self.folder / "out" / "results.json"
        text = results.read_text()
        results.write_text(text.replace(json.loads(text)["world"]["name"], "a lab on one host"))
        once = json.loads(self.calibrate("--json", files=("out/results.json",)).stdout)
        self.write("copy.json", json.loads(results.read_text()))
        done = self.calibrate("--json", files=("out/results.json", "copy.json"))
        self.assertIn("4 runs are left out: copy.json: an earlier file has them too\n", done.stderr)
        self.assertEqual(json.loads(done.stdout)["errors"], once["errors"])
        other = json.loads(json.dumps(TOPOLOGY))
        other["groups"][0]["nics"][0]["count"] = 2
        self.write("small.json", other)
        told = self.weir("calibrate", "small.json", "out/results.json", status=2).stderr
        self.assertIn("4 runs are left out: out/results.json: they are of another cluster: its machines of "
                      "group 'gpu' have 1 NICs, not 2", told)

    def test_a_group_may_have_measurements_of_its_own(self):
        self.calibrate(files=("cpu=transport.json",))
        self.assertNotIn("groups.gpu.nics.0.rate", self.values())
        self.assertIn("groups.cpu.nics.0.rate", self.values())

    def test_files_that_are_not_measurements_are_reported(self):
        self.write("other.json", {"hello": 1})
        (self.folder / "broken.json").write_text("{")
        self.write("nothing.json",
                   {"experiment_file": "e.json", "experiment": {}, "world": {"name": "lab"}, "rows": []})
        (self.folder / "rows.jsonl").write_text('{"weir": "1"}\n{"strategy": "ring", "iteration_ns": 5}\n')
        with contextlib.closing(sqlite3.connect(self.folder / "runs.db")) as database:
            database.execute("CREATE TABLE runs(key TEXT)")
        (self.folder / "out").mkdir()
        for files, text in [(("out",), "out: this is a folder; name files of measurements, such as the "
                                       "results.json that weir run writes"),
                            (("runs.db",), "runs.db: this is a database of weir sweep; pass its folder to "
                                           "weir report; these runs were simulated"),
                            (("other.json",), "other.json:1"), (("broken.json",), "broken.json:1"),
                            (("nothing.json",), "nothing.json:1: rows: is empty: nothing was measured"),
                            (("none.json",), "none.json"), (("disk=transport.json",), "no group 'disk'"),
                            (("trace.json",), "this is not a known kind of measurement"),
                            (("rows.jsonl",), "rows.jsonl:2: the file does not name the experiment; pass it "
                                              "with --experiment")]:
            done = self.weir("calibrate", "small.json", *files, status=2)
            self.assertIn(text, done.stderr)
        self.weir("calibrate", "small.json", "transport.json", "--hold-out", "1.5", status=2)
        for seed in ("-1", "1.5", "one"):
            self.assertIn(f"--seed: expected a whole number of at least 0, got '{seed}'",
                          self.weir("calibrate", "small.json", "transport.json",
                                    "--seed", seed, status=2).stderr)

    def test_an_output_that_cannot_be_written_is_reported_before_anything_is_fitted(self):
        (self.folder / "folder").mkdir()
        for output in ("folder", "none/file.json"):
            done = self.weir("calibrate", "small.json", "transport.json", "--output", output, status=1)
            self.assertEqual(done.stdout, "")
            self.assertIn(f"{output}: cannot be written: ", done.stderr)

    def test_simulated_runs_measure_nothing(self):
        self.write("experiment.json",
                   {"topology": "small.json", "trace": "trace.json", "strategies": ["unified"]})
        self.weir("run", "experiment.json", "--no-plots", "--out", "out", "--records")
        for file in ("out/results.json", "out/results.csv", next((self.folder / "out").glob("*.record"))):
            done = self.weir("calibrate", "small.json", str(file), status=2)
            self.assertIn("a calibration needs real ones", done.stderr)

    def test_real_runs_are_read_from_each_kind_of_file(self):
        """Uses simulated results that claim to be from a lab, which readers cannot distinguish from real
        ones."""
        self.write("experiment.json",
                   {"topology": "small.json", "trace": "trace.json", "strategies": ["unified", "ring"],
                    "sweep": {"partition_size": ["1MB", "4MB"], "topology.groups.gpu.count": [2, 3]}})
        self.weir("run", "experiment.json", "--no-plots", "--out", "out",
                  "--set", "topology.groups.gpu.nics.0.rate=9Gbps",
                  "--set", "topology.groups.cpu.nics.0.rate=9Gbps")
        out = self.folder / "out"
        world = json.loads((out / "results.json").read_text())["world"]["name"]
        for file in ("results.json", "results.csv"):
            (out / file).write_text((out / file).read_text().replace(world, "a lab on one host"))
        rows = program.rows(out)
        (out / "rows.jsonl").write_text('{"weir": "1"}\n' + "".join(json.dumps(row) + "\n" for row in rows))
        for file, more in [("results.json", ()), ("results.csv", ()),
                           ("rows.jsonl", ("--experiment", "experiment.json"))]:
            result = json.loads(self.calibrate("--json", *more, files=(f"out/{file}",)).stdout)
            self.assertEqual(result["errors"]["runs"]["fitted"]["count"], 8)
            self.assertLess(result["errors"]["runs"]["fitted"]["worst_percent"], 0.5)
            rate = self.values()["groups.gpu.nics.0.rate"]["value"]
            self.assertAlmostEqual(float(rate.removesuffix("Gbps").removesuffix("bps"))
                                   / (1 if "G" in rate else 1e9), 9, 1)

    def test_settings_must_be_paths_in_the_topology(self):
        done = self.weir("calibrate", "small.json", "transport.json",
                         "--set", "model.message_overhead=5us", status=2)
        self.assertIn("--set model.message_overhead: expected a path in the topology", done.stderr)

    def test_files_that_options_name_are_found_where_the_sweep_ran(self):
        (self.folder / "inner").mkdir()
        self.write("inner/experiment.json",
                   {"topology": "../small.json", "trace": "../trace.json", "strategies": ["unified"]})
        self.write("inner/trace.json", {**TRACE, "name": "another"})
        self.write("other.json", {**TRACE, "name": "other"})
        self.write("inner/swept.json",
                   {"topology": "../small.json", "trace": "trace.json", "strategies": ["unified"],
                    "sweep": {"trace": ["trace.json"]}})
        for file, option, names in [("swept", ["sweep.partition_size=[\"1MB\"]"], ["another"]),
                                    ("experiment", ["sweep={\"trace\":[\"trace.json\",\"other.json\"]}"],
                                     ["net", "other"]),
                                    ("experiment", ["sweep.trace=[\"trace.json\"]", "partition_size=1MB"],
                                     ["net"])]:
            self.weir("run", f"inner/{file}.json", "--no-plots", "--out", "out",
                      *(f"--set={one}" for one in option))
            rows = self.folder / "out/results.csv"
            world = json.loads((self.folder / "out/results.json").read_text())["world"]["name"]
            rows.write_text(rows.read_text().replace(world, "a lab on one host"))
            result = json.loads(self.weir("calibrate", "small.json", "out/results.csv",
                                          "transport.json", "--json").stdout)
            self.assertEqual([run["trace"] for run in result["runs"]], names)


class Far(Case):
    """Values so far from the topology's that descents from there end with five of 30 kinds of runs predicted
    wrong."""

    def test_values_far_from_the_topologys_are_found(self):
        truth = {"topology.groups.gpu.nics.0.rate": "18.9Gbps", "topology.groups.cpu.nics.0.rate": "41.9Gbps",
                 "topology.network.latency": "5us", "model.message_overhead": "100us",
                 "allreduce_efficiency": "0.73"}
        topology = {"name": "far", "network": {"latency": "20us"}, "groups": [
            {"name": "gpu", "count": 4, "gpus": [{"at": "numa0"}],
             "nics": [{"at": "numa0", "rate": "10Gbps"}]},
            {"name": "cpu", "count": 2, "nics": [{"at": "numa0", "rate": "25Gbps"}]}]}
        layers = [{"name": f"l{i}", "forward": "2ms", "backward": "4ms",
                   "tensors": [{"name": f"w{i}", "elements": 400_000 if i % 4 else 2_400_000}]}
                  for i in range(6)]
        self.write("small.json", topology)
        self.write("experiment.json", {"topology": topology, "trace": {"name": "net", "layers": layers},
                                       "iterations": 2, "overlap": False,
                                       # Trees are cut as rates and latencies ask, which differ here.
                                       "strategies": ["ring", "ps", "hierarchical",
                                                      "colocated-ps", "halving-doubling"],
                                       "sweep": {"partition_size": ["100KB", "1MB"],
                                                 "topology.groups.cpu.count": [1, 2, 4]}})
        times = {}
        for name, changed in (("stated", {}), ("true", truth)):
            self.weir("run", "experiment.json", "--no-plots", "--out", name,
                      *(f"--set={k}={v}" for k, v in changed.items()))
            measured = json.loads((self.folder / name / "results.json").read_text())
            times[name] = {(row["point"], row["strategy"]): row["iteration_ns"] for row in measured["rows"]}
            if name == "stated":
                runs = measured
        noise = random.Random(3)
        for row in runs["rows"]:
            row["iteration_ns"] = round(times["true"][row["point"], row["strategy"]] * noise.gauss(1, 0.005))
        runs["world"]["name"] = "a lab on one host"
        self.write("runs.json", runs)
        result = json.loads(self.calibrate("--json", files=("runs.json",)).stdout)
        self.assertLess(result["errors"]["runs"]["fitted"]["worst_percent"], 3)
        self.assertAlmostEqual(self.values()["allreduce_efficiency"]["value"], 0.73, delta=0.03)


if __name__ == "__main__":
    program.main()
