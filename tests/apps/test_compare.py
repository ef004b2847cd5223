"""weir run --records and weir compare, as users call them. Run: python3 tests/apps/test_compare.py WEIR"""

import json

import program
from tiny import COUNT, Case

MACHINES = {"gpu[0]", "gpu[1]", "gpu[2]", "cpu[0]"}


class Compare(Case):
    def setUp(self):
        super().setUp()
        self.write(strategies=["unified", "ring"], baseline="ring", sweep={},
                   partition_size="200KB", iterations=2)
        self.simulated = self.records("simulated")

    def records(self, name, *more):
        folder = self.folder / name
        done = self.weir("run", "--no-plots", "--records", "--out", folder, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder

    def compare(self, *what):
        return program.run("compare", *what, cwd=self.folder)

    def compared(self, *what):
        done = self.compare(*what, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def refused(self, *what):
        done = self.compare(*what)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def record(self, strategy="unified"):
        found, = self.simulated.glob(f"record-{strategy}-*.record")
        return found


class Same(Compare):
    def test_runs_that_are_equal_do_not_differ(self):
        again = self.records("again")
        whole = self.compared(self.simulated, again, "--strategy", "unified")
        self.assertEqual(whole["iteration"]["error"], 0)
        self.assertEqual((whole["ops"], whole["settings"]), ([], []))
        self.assertTrue(whole["order"]["equal"])
        self.assertEqual({machine["machine"] for machine in whole["order"]["machines"]}, MACHINES)
        done = self.compare(self.simulated, again, "--strategy", "unified")
        self.assertIn("Every op takes as long in A as in B", done.stdout)
        self.assertIn("Order of submission: equal on all 4 machines, over 3 iterations", done.stdout)

    def test_results_name_their_records_and_the_next_run_removes_them(self):
        names = {row["record"] for row in program.whole(self.simulated)["rows"]}
        self.assertEqual(names, {path.name for path in self.simulated.glob("*.record")})
        self.assertEqual(len(names), 2)
        self.weir("run", "--no-plots", "--out", self.simulated)
        self.assertEqual(list(self.simulated.glob("*.record")), [])


class Different(Compare):
    def test_other_rates_leave_the_plan_and_are_named(self):
        slower = self.records("slower", "--set", "topology.network.latency=50us")
        whole = self.compared(self.simulated, slower, "--strategy", "ring")
        self.assertEqual([one["path"] for one in whole["settings"]], ["topology.network.latency"])
        self.assertLess(whole["iteration"]["error"], 0)
        messages, = (stage for stage in whole["stages"] if stage["stage"] == "messages")
        self.assertEqual(messages["mean"]["b_ns"] - messages["mean"]["a_ns"], 50000)
        self.assertTrue(whole["ops"][0]["what"].startswith("send "))
        self.assertIn(whole["ops"][0]["layer"], ("a", "b"))

    def test_simulation_and_reality_are_compared(self):
        real = self.records("real", "--on", "local")
        both = self.folder / "both.json"
        done = self.compare(self.simulated, real, "--strategy", "unified", "--timeline", both)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in ("iteration", "backward", "messages", "send gpu to cpu", "that differs most",
                     "rder of submission", "A: every op was submitted after",
                     "B: every op was submitted after", "SimGrid", "processes on one host",
                     "both timelines"):
            self.assertIn(part, done.stdout)
        whole = self.compared(self.simulated, real, "--strategy", "unified")
        self.assertEqual(len(whole["ops"]), 10)
        self.assertTrue(whole["order"]["explained"])
        for machine in whole["order"]["machines"]:
            self.assertEqual("first" in machine, machine["other_order"] > 0)
        compute = {stage["stage"]: stage["mean"] for stage in whole["stages"]}
        self.assertEqual(compute["backward"]["a_ns"], 2_000_000)
        self.assertGreaterEqual(compute["backward"]["b_ns"], 2_000_000)
        self.drawn(both)

    def drawn(self, file):
        events = json.loads(file.read_text())["traceEvents"]
        names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        worlds = {name.split(" of ", 1)[1] for name in names.values()}
        self.assertEqual(worlds, {"SimGrid", "processes on one host"})
        # One below the other: each machine in A, then in B.
        order = [names[pid].split(" of ", 1)[0] for pid in sorted(names)]
        self.assertEqual(order[0:8:2], order[1:8:2])
        for world in worlds:
            self.assertEqual(min(event["ts"] for event in events if event["ph"] == "X"
                                 and names[event["pid"]].endswith(" of " + world)), 0)


class Predicted(Compare):
    """The prediction for a real run is kept beside its record."""

    def setUp(self):
        super().setUp()
        self.real = self.records("real", "--on", "local")

    def test_a_real_run_is_compared_with_its_prediction(self):
        done = self.compare(self.real, "--strategy", "unified")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("prediction-unified-point0.record: SimGrid", done.stdout)
        whole = self.compared(self.real, "--strategy", "unified")
        row, = (row for row in program.whole(self.real)["rows"] if row["strategy"] == "unified")
        self.assertEqual(whole["iteration"]["a_ns"], row["iteration_ns"])
        self.assertEqual(whole["iteration"]["b_ns"], row["predicted_ns"])
        self.assertEqual(whole["settings"], [])

    def test_records_hold_what_was_measured_and_chosen(self):
        for name in ("record", "prediction"):
            header = header_of(self.real, name)
            groups = {group["name"]: group for group in header["measured"]["groups"]}
            self.assertNotEqual(groups["gpu"]["nics"][0]["rate"], "8Gbps")
            self.assertEqual(header["experiment"]["topology"]["groups"][0]["nics"][0]["rate"], "8Gbps")
        self.assertRegex(header_of(self.real, "record")["world_settings"],
                         r"channels=[1-4] io_threads=[1-4] ")

    def test_a_simulation_has_no_prediction(self):
        error = self.refused(self.record())
        self.assertIn("has no prediction next to it", error)

    def test_predictions_go_with_their_results(self):
        self.assertEqual(len(list(self.real.glob("prediction-*.record"))), 2)
        self.weir("run", "--no-plots", "--out", self.real)
        self.assertEqual(list(self.real.glob("*.record")), [])

    def test_another_cluster_cannot_be_the_measured_one(self):
        file = next(self.real.glob("record-ring-*.record"))
        header, numbers = file.read_bytes().split(b"\n", 1)
        header = json.loads(header)
        header["measured"]["groups"][0]["count"] = 2
        file.write_bytes(json.dumps(header, separators=(",", ":")).encode() + b"\n" + numbers)
        self.assertIn("'measured' topology and its experiment have different machines",
                      self.refused(file, file))


def header_of(folder, kind):
    return json.loads(next(folder.glob(f"{kind}-ring-*.record")).read_bytes().split(b"\n", 1)[0])


class Refused(Compare):
    def test_records_of_different_plans_are_refused_with_what_differs(self):
        error = self.refused(self.record("unified"), self.record("ring"))
        self.assertIn("different plans", error)
        self.assertIn('strategies.0: "unified" in A, "ring" in B', error)

    def test_a_folder_of_several_records_names_them(self):
        error = self.refused(self.simulated, self.simulated)
        self.assertIn("choose one by its strategy, point and seed", error)
        self.assertIn("ring, seed 1: record-ring-", error)
        self.assertIn(": no record matches; choose one",
                      self.refused(self.simulated, self.simulated, "--strategy", "ps"))

    def test_points_and_seeds_choose(self):
        self.write(strategies=["ring"], sweep={COUNT: [0, 1]}, seeds=[1, 2], model={"compute_jitter": 0.1})
        swept = self.records("swept")
        choice = ("--point", f"{COUNT}=1", "--seed", "2")
        whole = self.compared(swept, swept, *choice)
        self.assertEqual((whole["a"]["point"], whole["a"]["seed"]), (f"{COUNT}=1", 2))
        self.assertIn("2 records", self.refused(swept, swept, "--seed", "2"))

    def test_broken_files_are_reported(self):
        good = self.record()
        bytes_ = good.read_bytes()
        broken = self.folder / "broken.record"
        for content, why in ((b"{}", "is not a record of a run"), (bytes_[:-5], "is cut off"),
                             (bytes_ + b"x", "is too long"), (bytes_[:100], "broken.record:1"),
                             (bytes_.replace(b'"plan_hash":"', b'"plan_hash":"0'), "this Weir"),
                             (bytes_.replace(b'"weir_record":1', b'"weir_record":2'), "record format 2"),
                             (bytes_.replace(b'"elements":500000', b'"elements":"many"', 1), "elements")):
            broken.write_bytes(content)
            error = self.refused(good, broken)
            self.assertIn("broken.record", error)
            self.assertIn(why, error)
        self.assertIn("none.record", self.refused(good, "none.record"))
        self.assertIn("holds no records", self.refused(self.folder, good))

    def test_a_timeline_that_cannot_be_written_fails(self):
        done = self.compare(self.record(), self.record(), "--timeline", self.folder / "no" / "both.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("both.json", done.stderr)

    def test_a_record_is_not_written_over(self):
        record = self.record()
        before = record.read_bytes()
        done = self.compare(record, record, "--timeline", record)
        self.assertEqual(done.returncode, 2)
        self.assertIn("this file is an input", done.stderr)
        self.assertEqual(record.read_bytes(), before)

    def test_a_core_that_submits_too_early_is_detected(self):
        content = bytearray(self.record("ring").read_bytes())
        first = content.index(b"\n") + 1
        header = json.loads(content[:first])
        # Every op of the last iteration submitted at the start of the run.
        for op in range(header["ops"]):
            at = first + 24 * ((header["iterations"] - 1) * header["ops"] + op)
            content[at:at + 8] = bytes(8)
        early = self.folder / "early.record"
        early.write_bytes(content)
        done = self.compare(self.record("ring"), early)
        self.assertEqual(done.returncode, 1)
        self.assertIn("BEFORE their dependencies had completed", done.stdout)


if __name__ == "__main__":
    program.main()
