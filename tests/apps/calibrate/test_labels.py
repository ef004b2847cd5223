"""Labels of results, as users meet them. Run: python3 tests/apps/calibrate/test_labels.py WEIR"""

import csv
import io
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
from calibrating import Case, transport  # noqa: E402  pylint: disable=wrong-import-position


class Labels(Case):
    """Each result is based on measured values, or says that it is not."""

    def rows(self, *more, topology="calibrated.json"):
        self.write("experiment.json",
                   {"topology": topology, "trace": "trace.json", "strategies": ["unified", "ring"]})
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        done = self.weir("run", "experiment.json", "--no-plots", "--out", "out", *more)
        rows = {row["strategy"]: row for row in program.rows(self.folder / "out")}
        for row in program.whole(self.folder / "out")["rows"]:
            self.assertEqual(row["label"], rows[row["strategy"]]["label"])
            self.assertEqual(row.get("label_reason", ""), rows[row["strategy"]]["label_reason"])
            self.assertIn(row["label"], done.stdout)
            self.assertIn(row.get("label_reason", ""), done.stdout)
        return rows

    def unified(self, *more, **how):
        row = self.rows(*more, **how)["unified"]
        return row["label"], row["label_reason"]

    def complete(self):
        """Transport benchmarks do not determine the network's latency, so this adds it by hand."""
        self.calibrate()
        document = json.loads((self.folder / "calibrated.json").read_text())
        values = document["calibration"]["values"]
        values.append({**values[0], "path": "network.latency", "value": "0s"})
        self.write("calibrated.json", document)

    def test_without_calibration_all_are_vendor_constants(self):
        self.assertEqual(self.unified(topology="small.json"),
                         ("vendor constant", "the topology has no calibration"))

    def test_a_link_that_was_never_measured_is_a_vendor_constant(self):
        self.calibrate()
        self.assertEqual(self.unified(), ("vendor constant", "network.latency was not measured"))

    def test_what_was_measured_is_calibrated(self):
        self.complete()
        rows = self.rows()
        self.assertEqual((rows["unified"]["label"], rows["unified"]["label_reason"]), ("calibrated", ""))
        self.assertEqual((rows["ring"]["label"], rows["ring"]["label_reason"]),
                         ("vendor constant", "allreduce_efficiency was not measured"))

    def test_the_overhead_of_messages_comes_from_the_topology_unless_the_experiment_says_it(self):
        self.complete()
        self.rows()
        self.assertEqual(program.whole(self.folder / "out")["experiment"]["model"]["message_overhead"],
                         "20us")
        label, why = self.unified("--set", "model.message_overhead=0s")
        self.assertEqual(label, "vendor constant")
        self.assertIn("model.message_overhead is 0s, not the 20us that was calibrated", why)
        self.assertEqual(program.whole(self.folder / "out")["experiment"]["model"]["message_overhead"], "0s")

    def test_set_on_a_calibrated_value_makes_it_a_vendor_constant(self):
        self.complete()
        label, why = self.unified("--set", "topology.groups.gpu.nics.0.rate=20Gbps")
        self.assertEqual(label, "vendor constant")
        self.assertIn("groups.gpu.nics.0.rate is 20Gbps, not the 8.8Gbps that was calibrated", why)
        self.assertEqual(self.unified("--set", "topology.groups.gpu.nics.0.rate=8.8Gbps")[0], "calibrated")

    def test_a_value_edited_by_hand_is_a_vendor_constant(self):
        self.complete()
        document = json.loads((self.folder / "calibrated.json").read_text())
        document["groups"][0]["nics"][0]["rate"] = "8.9Gbps"
        self.write("calibrated.json", document)
        self.assertEqual(self.unified()[0], "vendor constant")

    def test_sizes_and_machines_beyond_those_measured_are_extrapolated(self):
        self.complete()
        label, why = self.unified("--set", "topology.groups.gpu.count=3")
        self.assertEqual(label, "extrapolated")
        self.assertIn("was measured with up to 2 machines, and there are 3", why)
        self.write("transport.json", transport([1 << 20, 1 << 22, 1 << 24]))
        self.complete()
        self.assertEqual(self.unified("--set", "partition_size=1MB", "--set", "finest_part=1MB")[0],
                         "extrapolated")
        self.assertEqual(self.unified("--set", "partition_size=2MB", "--set", "finest_part=2MB")[0],
                         "calibrated")
        self.write("transport.json", transport([4096, 1 << 16, 1 << 20]))
        self.complete()
        label, why = self.unified("--set", "partition_size=2MB", "--set", "finest_part=2MB")
        self.assertEqual(label, "extrapolated")
        self.assertIn("was measured with sizes from 4.096 kB to 1.049 MB, and 2 MB are used"
                      .replace("kB", "KB"), why)

    def test_the_result_of_a_search_has_a_label(self):
        self.complete()
        self.write("experiment.json",
                   {"topology": "calibrated.json", "trace": "trace.json", "strategies": ["unified"],
                    "finest_part": "100MB"})
        over = ("--over", "partition_size=4MB|16MB|17MB", "--method", "grid", "--output", "best.json")
        found = json.loads(self.weir("tune", "experiment.json", "--json", *over).stdout)
        labels = {trial["settings"]["partition_size"]: trial["label"] for trial in found["trials"]}
        self.assertEqual(labels, {"4MB": "calibrated", "16MB": "calibrated", "17MB": "calibrated"})
        many = ("--set", "topology.groups.gpu.count=3")
        found = json.loads(self.weir("tune", "experiment.json", "--json", *over, *many).stdout)
        self.assertEqual({trial["label"] for trial in found["trials"]}, {"extrapolated"})
        best = json.loads((self.folder / "best.json").read_text())["tuned"]
        for result in (found["best"], best):
            self.assertEqual(result["label"], "extrapolated")
            self.assertIn("up to 2 machines, and there are 3", result["label_reason"])
        output = self.weir("tune", "experiment.json", *over, *many).stdout
        self.assertEqual(output.count(" extrapolated"), 3)
        self.assertRegex(output, r"\nextrapolated: .* up to 2 machines, and there are 3")
        output = self.weir("tune", "experiment.json", *over).stdout
        self.assertIn("\ncalibrated\n", output)
        self.assertNotIn("label_reason", json.loads((self.folder / "best.json").read_text())["tuned"])
        self.weir("check", "best.json")

    def test_bound_and_whatif_have_labels(self):
        self.complete()
        self.write("experiment.json",
                   {"topology": "calibrated.json", "trace": "trace.json", "strategies": ["unified", "ring"]})
        output = self.weir("bound", "experiment.json").stdout
        self.assertRegex(output, r"unified .* calibrated +")
        self.assertIn("vendor constant: allreduce_efficiency was not measured", output.replace(" (ring)", ""))
        output = self.weir("whatif", "calibrated.json", "trace.json", "--cpu-machines", "0,1").stdout
        self.assertRegex(output, r"label")
        rows = list(csv.DictReader(io.StringIO(
            self.weir("whatif", "calibrated.json", "trace.json", "--cpu-machines", "0,1", "--csv").stdout)))
        # Two machines leave a third idle.
        self.assertEqual([row["label"] for row in rows], ["calibrated"] * 2)
        answers = json.loads(self.weir("whatif", "calibrated.json", "trace.json",
                                       "--cpu-machines", "0", "--nic", "25Gbps", "--json").stdout)["answers"]
        self.assertEqual(answers[0]["label"], "vendor constant")
        answers = json.loads(self.weir("whatif", "calibrated.json", "trace.json",
                                       "--cpu-machines", "0,1", "--bound-only", "--json").stdout)["answers"]
        self.assertEqual([answer["label"] for answer in answers], ["calibrated"] * 2)
        larger = json.loads((self.folder / "calibrated.json").read_text())
        larger["groups"][0]["count"] = 3
        self.write("larger.json", larger)
        for more in ((), ("--bound-only",)):
            answers = json.loads(self.weir("whatif", "larger.json", "trace.json",
                                           "--cpu-machines", "0,1", *more, "--json").stdout)["answers"]
            for answer, machines in zip(answers, (3, 4)):
                self.assertEqual(answer["label"], "extrapolated")
                self.assertIn(f"up to 2 machines, and there are {machines}", answer["label_reason"])
        output = self.weir("whatif", "small.json", "trace.json", "--cpu-machines", "0,1",
                           "--bound-only").stdout
        self.assertEqual(output.count(" vendor constant "), 2)


if __name__ == "__main__":
    program.main()
