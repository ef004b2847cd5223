"""What must hold of the figures. Run: python3 plots/test_plots.py"""

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import axis  # noqa: E402  (found only with the path above)
import links  # noqa: E402
import plot  # noqa: E402
import quantity  # noqa: E402
import results  # noqa: E402
import timeline  # noqa: E402

FIELD = "topology.groups.cpu.count"
HEADER = (f"strategy,gpu_machines,cpu_machines,{FIELD},seed,iteration_ns,exposed_communication_ns,"
          "communication_ns,compute_ns,goodput_bytes_per_s,bound_ns,bound_percent,speedup")


def entry(strategy, cpu_machines, values, compute_ns=50_000_000, seed=1, **more):
    exposed = (30_000_000 if strategy == "ring" else 20_000_000 - 1_000_000 * cpu_machines) + seed * 1000
    return {"point": 0, "values": values, "strategy": strategy, "gpu_machines": 4,
            "cpu_machines": cpu_machines, "seed": seed, "iteration_ns": compute_ns + exposed,
            "exposed_communication_ns": exposed, "communication_ns": exposed, "compute_ns": compute_ns,
            "goodput_bytes_per_s": 10**17 // exposed,
            "bound_ns": compute_ns + 10_000_000, "speedup": 1.5,
            "links": [{"name": f"gpu[{i}].nic0.in", "bytes": 1000, "use": 0.9 - i / 10} for i in range(3)],
            **more}


def event(machine, track, start, kind, layer):
    return {"ph": "X", "pid": machine, "tid": track, "ts": start, "dur": 500.0, "name": kind, "cat": kind,
            "args": {"layer": f"layer.{layer}", "priority": layer, "bytes": 1, "iteration": 0, "op": 0}}


def named(kind, machine, name, track=0):
    return {"ph": "M", "pid": machine, "tid": track, "name": f"{kind}_name", "args": {"name": name}}


TIMELINE = {"traceEvents": [
    named("process", 0, "gpu[0]"), named("process", 1, "gpu[1]"), named("process", 2, "cpu[0]"),
    named("thread", 0, "compute"), event(0, 0, 0.0, "backward", 1), event(0, 0, 500.0, "backward", 0),
    event(0, 0, 2000.0, "forward", 0),
    named("thread", 0, "nic0 out", 512000), event(0, 512000, 500.0, "send", 1),
    named("thread", 0, "nic0 out (2)", 512001), event(0, 512001, 600.0, "send", 0),
    named("thread", 1, "compute"), event(1, 0, 0.0, "backward", 1),
    named("thread", 2, "numa0 sum", 384000), event(2, 384000, 1000.0, "sum", 1)]}


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write(self, rows):
        (self.folder / "results.json").write_text(json.dumps({"rows": rows}))

    def write_sweep(self, **more):
        self.write([entry(strategy, k, {FIELD: k}, **more)
                    for k in (0, 2, 4) for strategy in ("unified", "ring")])

    def plot(self):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = plot.main([str(self.folder)])
        return status, out.getvalue().splitlines(), error.getvalue()

    def drawn(self):
        status, lines, error = self.plot()
        self.assertEqual((status, error), (0, ""))
        for line in lines:
            self.assertGreater(Path(line).stat().st_size, 1000, line)
        return [Path(line).name for line in lines if line.endswith(".png")]

    def refused(self, *words):
        status, lines, error = self.plot()
        self.assertEqual((status, lines, error.count("\n")), (1, [], 1), error)
        for word in words:
            self.assertIn(word, error)


class Figures(Folder):
    def test_a_sweep_of_machines_gives_every_figure_as_png_and_pdf(self):
        self.write_sweep(timeline="timeline-all.json")
        (self.folder / "timeline-all.json").write_text(json.dumps(TIMELINE))
        self.assertEqual(self.drawn(), ["speedup.png", "iteration.png", "breakdown.png", "links.png",
                                        "timeline-all.png", "overview.png"])
        self.assertEqual(len(list(self.folder.glob("*.pdf"))), 6)

    def test_names_are_drawn_as_they_are(self):
        self.write([entry("unified", 0, {"trace.name": name}) for name in ("$x_{ and ^$", "a\\frac$")])
        self.assertIn("iteration.png", self.drawn())

    def test_the_same_results_give_the_same_bytes(self):
        self.write_sweep(timeline="timeline-all.json")
        (self.folder / "timeline-all.json").write_text(json.dumps(TIMELINE))
        files = []
        for _ in range(2):
            self.drawn()
            files.append({path.name: path.read_bytes() for path in self.folder.glob("*.p*")})
        self.assertEqual(len(files[0]), 12)
        self.assertEqual(files[0], files[1])

    def test_goodput_is_drawn_where_nothing_is_computed(self):
        self.write_sweep(compute_ns=0)
        self.assertIn("goodput.png", self.drawn())

    def test_one_point_without_a_baseline_is_drawn(self):
        self.write([entry("unified", 2, {}, speedup=None)])
        self.assertEqual(self.drawn(), ["iteration.png", "breakdown.png", "links.png", "overview.png"])

    def test_a_panel_without_a_baseline_is_drawn_as_of_a_sweep_that_was_interrupted(self):
        self.write([entry(strategy, k, {FIELD: k, "policy": policy}, speedup=1.0 if policy == "fifo" else None)
                    for policy in ("fifo", "priority") for k in (0, 2) for strategy in ("unified", "ring")])
        self.assertEqual(self.drawn(), ["speedup.png", "iteration.png", "breakdown.png", "links.png",
                                        "overview.png"])

    def test_a_point_without_links_is_drawn_without_them(self):
        rows = [entry("ring", k, {FIELD: k}) for k in (0, 2)]
        rows[-1]["links"] = []
        self.write(rows)
        self.assertEqual(self.drawn(), ["speedup.png", "iteration.png", "breakdown.png", "overview.png"])

    def test_a_reader_of_the_paths_that_leaves_ends_nothing(self):
        self.write([entry("ring", 0, {})])
        command = [sys.executable, plot.__file__, str(self.folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            error = process.stderr.read()
        self.assertEqual((process.returncode, error), (0, b""))
        self.assertTrue((self.folder / "overview.pdf").is_file())

    def test_two_fields_and_two_seeds_and_unknown_strategies_are_drawn(self):
        self.write([entry(strategy, 2, {"partition_size": size, "policy": policy}, seed=seed)
                    for size in ("64KB", "4MB") for policy in ("fifo", "priority")
                    for strategy in ("ring", "mine", "yours") for seed in (1, 2)])
        self.assertEqual(len(self.drawn()), 5)

    def test_the_table_alone_gives_all_but_links_and_timelines(self):
        line = "ring,4,{0},{0},1,80000000,30000000,30000000,50000000,,60000000,75,1"
        rows = "\n".join(line.format(k) for k in (0, 2))
        (self.folder / "results.csv").write_text(f"# Weir\n{HEADER}\n{rows}\n")
        self.assertEqual(self.drawn(), ["speedup.png", "iteration.png", "breakdown.png", "overview.png"])


class Errors(Folder):
    def test_a_folder_without_results_is_refused(self):
        self.refused("neither results.json nor results.csv")

    def test_results_without_rows_are_refused(self):
        self.write([])
        self.refused("results.json: there are no rows")

    def test_a_table_without_rows_is_refused(self):
        (self.folder / "results.csv").write_text(f"{HEADER}\n")
        self.refused("results.csv: there are no rows")

    def test_a_missing_column_is_named(self):
        (self.folder / "results.csv").write_text(HEADER.replace("bound_ns,", "") + "\n")
        self.refused("results.csv", "no column 'bound_ns'")

    def test_a_missing_number_is_named(self):
        row = entry("ring", 0, {})
        del row["iteration_ns"]
        self.write([entry("ring", 0, {}), row])
        self.refused("rows[1]", "'iteration_ns'")

    def test_text_in_place_of_a_number_is_shown(self):
        self.write([entry("ring", 0, {}, bound_ns="soon")])
        self.refused("rows[0]", "bound_ns", "'soon'")

    def test_broken_json_is_refused(self):
        (self.folder / "results.json").write_text("{")
        self.refused("results.json", "no JSON")

    def test_a_missing_timeline_is_named(self):
        self.write([entry("ring", 0, {}, timeline="timeline-ring.json")])
        status, _, error = self.plot()
        self.assertEqual((status, error.count("\n")), (1, 1))
        self.assertIn("timeline-ring.json: there is no such file", error)


class Parts(Folder):
    def axis(self, rows):
        self.write(rows)
        return axis.axis(results.read(self.folder))

    def test_quantities_are_read_with_their_units(self):
        self.assertEqual(quantity.parse("4MB").value, 4e6)
        self.assertEqual(quantity.parse("64KiB").value, 65536)
        self.assertEqual(quantity.parse("80Gbps"), quantity.Quantity("rate", 1e10, "80", "Gbps"))
        self.assertAlmostEqual(quantity.parse("5us").value, 5e-6)
        self.assertIsNone(quantity.parse("unlimited"))
        self.assertIsNone(quantity.parse("1.2.3s"))

    def test_the_axis_is_the_number_of_cpu_machines_if_it_varies(self):
        across, cases = self.axis([entry("ring", k, {FIELD: k, "partition_size": size})
                                   for k in (0, 8) for size in ("1MB", "2MB", "4MB")])
        self.assertEqual((across.field, across.label), ("cpu_machines", "CPU machines"))
        self.assertEqual([case.name for case in cases],
                         ["Partition size: 1MB", "Partition size: 2MB", "Partition size: 4MB"])

    def test_a_unit_that_all_values_share_stands_in_the_label(self):
        across, _ = self.axis([entry("ring", 0, {"partition_size": size}) for size in ("4MB", "1MB")])
        self.assertEqual((across.label, list(across.texts.values())), ("Partition size (MB)", ["1", "4"]))

    def test_names_are_no_quantities(self):
        across, _ = self.axis([entry("ring", 0, {"trace": name})
                               for name in ("a/vgg-16.json", "a/gpt-2.json")])
        self.assertFalse(across.numeric)
        self.assertEqual(list(across.texts.values()), ["vgg-16", "gpt-2"])

    def test_a_strategy_that_comes_later_stands_where_it_does_there(self):
        self.write([entry(name, 0, {FIELD: 0}) for name in ("a", "c")]
                   + [entry(name, 2, {FIELD: 2}) for name in ("a", "b", "c")])
        self.assertEqual(results.read(self.folder).strategies(), ["a", "b", "c"])

    def test_links_that_differ_only_in_numbers_are_shown_by_the_most_used(self):
        self.write([entry("ring", 0, {})])
        self.assertEqual(links.busiest(results.read(self.folder).rows[0]), [("gpu[0].nic0.in", 0.9)])

    def test_links_of_every_group_and_role_are_shown(self):
        names = ["v100[0].nic0.in", "v200[0].nic0.in", "v200[0].nic0.out", "v200[1].nic1.in", "v200[1].numa0.memory"]
        self.write([entry("ring", 0, {}, links=[{"name": name, "use": 0.5} for name in names])])
        shown = links.busiest(results.read(self.folder).rows[0])
        self.assertEqual([name for name, _ in shown], names[:3] + names[4:])

    def test_a_timeline_shows_one_machine_of_each_group_and_joins_lanes(self):
        path = self.folder / "timeline.json"
        path.write_text(json.dumps(TIMELINE))
        tracks, layers = timeline.read(path)
        shown = [(machine, [track.name for track in ours]) for machine, ours in timeline.shown(tracks)]
        self.assertEqual(shown, [("gpu[0]", ["backward", "forward", "nic0 out"]), ("cpu[0]", ["numa0 sum"])])
        self.assertEqual((layers, tracks[2].lanes()), (2, 2))


if __name__ == "__main__":
    unittest.main()
