"""Tests for the figures. Run: /usr/bin/python3 plots/test_plots.py"""

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import axis  # noqa: E402  (found only with the path above)
import curves  # noqa: E402
import links  # noqa: E402
import plot  # noqa: E402
import quantity  # noqa: E402
import results  # noqa: E402
import style  # noqa: E402
import timeline  # noqa: E402

FIELD = "topology.groups.cpu.count"
HEADER = (
    f"strategy,gpu_machines,cpu_machines,{FIELD},seed,iteration_ns,exposed_communication_ns,"
    "communication_ns,compute_ns,goodput_bytes_per_s,goodput_bound_bytes_per_s,bound_ns,bound_percent,speedup"
)


def entry(strategy, cpu_machines, values, compute_ns=50_000_000, seed=1, **more):
    exposed = (30_000_000 if strategy == "ring" else 20_000_000 - 1_000_000 * cpu_machines) + seed * 1000
    return {"point": 0, "values": values, "strategy": strategy, "gpu_machines": 4,
            "cpu_machines": cpu_machines, "seed": seed, "iteration_ns": compute_ns + exposed,
            "exposed_communication_ns": exposed, "communication_ns": exposed, "compute_ns": compute_ns,
            "goodput_bytes_per_s": 10**17 // exposed, "goodput_bound_bytes_per_s": 10**10,
            "bound_ns": compute_ns + 10_000_000, "speedup": 1.5,
            "links": [{"name": f"gpu[{i}].nic0.in", "bytes": 1000, "use": 0.9 - i / 10} for i in range(3)],
            **more}


def event(machine, track, start, name, **more):
    return {"ph": "X", "pid": machine, "tid": track, "ts": start, "dur": 500, "name": name, **more}


def use(machine, link, *steps):
    return [{"ph": "C", "pid": machine, "ts": start, "name": link, "args": {"%": percent}}
            for start, percent in steps]


def named(kind, machine, name, track=0):
    return {"ph": "M", "pid": machine, "tid": track, "name": f"{kind}_name", "args": {"name": name}}


TIMELINE = {"traceEvents": [
    named("process", 1, "gpu[0]"), named("process", 2, "gpu[1]"), named("process", 3, "cpu[0]"),
    named("process", 4, "network"),
    named("thread", 1, "compute", 1), event(1, 1, 0, "backward layer.1"),
    event(1, 1, 500, "backward layer.0"),
    event(1, 1, 2000, "forward layer.0"), event(1, 1, 2500, "backward layer.1", args={"iteration": 1}),
    named("thread", 1, "nic0 to gpu[1]", 2), event(1, 2, 500, "layer.1"),
    named("thread", 1, "nic0 to cpu[0]", 5), event(1, 5, 600, "layer.0", args={"ops": 2, "busy_us": 400}),
    named("thread", 2, "compute", 1), event(2, 1, 0, "backward layer.1"),
    named("thread", 3, "numa0 sum", 1), event(3, 1, 1000, "layer.1"),
    *use(1, "nic0.out", (500, 50), (1100, 0)), *use(2, "nic0.out", (500, 50), (1100, 0)),
    *use(4, "rack[0].up", (500, 101.5), (1100, 0))],
    "otherData": {"layers": ["layer.0", "layer.1"]}}


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write(self, rows, looks=None):
        more = {} if looks is None else {"looks": looks}
        (self.folder / "results.json").write_text(json.dumps({"rows": rows, **more}))

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
        self.assertEqual(self.drawn(), [
            "speedup.png", "goodput.png", "iteration.png", "breakdown.png", "links.png", "timeline-all.png",
            "overview.png"
        ])
        self.assertEqual(len(list(self.folder.glob("*.pdf"))), 7)

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
        self.assertEqual(len(files[0]), 14)
        self.assertEqual(files[0], files[1])

    def test_the_overview_shows_goodput_if_nothing_is_computed(self):
        self.write_sweep(compute_ns=0)
        self.assertIs(curves.measure(results.read(self.folder)), curves.GOODPUT)
        self.write_sweep()
        self.assertIs(curves.measure(results.read(self.folder)), curves.ITERATION)

    def test_runs_without_messages_have_no_goodput(self):
        self.write_sweep(compute_ns=0, goodput_bytes_per_s=None, goodput_bound_bytes_per_s=None)
        self.assertEqual(self.drawn(), ["speedup.png", "iteration.png", "breakdown.png", "links.png",
                                        "overview.png"])

    def test_the_program_runs_as_documented_whichever_python_is_first_in_path(self):
        self.write_sweep()
        other = self.folder / "python3"
        other.write_text("#!/bin/sh\nexit 1\n")
        other.chmod(0o755)
        done = subprocess.run([plot.__file__, str(self.folder)], env={"PATH": str(self.folder)},
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_one_point_without_a_baseline_is_drawn(self):
        self.write([entry("unified", 2, {}, speedup=None)])
        self.assertEqual(self.drawn(),
                         ["goodput.png", "iteration.png", "breakdown.png", "links.png", "overview.png"])

    def test_a_panel_without_a_baseline_is_drawn_as_from_an_interrupted_sweep(self):
        self.write([
            entry(strategy, k, {FIELD: k, "policy": policy}, speedup=1.0 if policy == "fifo" else None)
            for policy in ("fifo", "priority") for k in (0, 2) for strategy in ("unified", "ring")
        ])
        self.assertEqual(
            self.drawn(),
            ["speedup.png", "goodput.png", "iteration.png", "breakdown.png", "links.png", "overview.png"])

    def test_a_point_without_links_is_drawn_without_them(self):
        rows = [entry("ring", k, {FIELD: k}) for k in (0, 2)]
        rows[-1]["links"] = []
        self.write(rows)
        self.assertEqual(self.drawn(),
                         ["speedup.png", "goodput.png", "iteration.png", "breakdown.png", "overview.png"])

    def test_figures_are_drawn_without_other_processes_if_there_can_be_none(self):
        self.write_sweep()
        names = self.drawn()
        for error in (OSError(30, "Read-only file system"), NotImplementedError("no semaphores")):
            with unittest.mock.patch("plot.ProcessPoolExecutor", side_effect=error):
                self.assertEqual(self.drawn(), names)

    def test_drawing_goes_on_if_the_reader_leaves(self):
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
        self.assertEqual(len(self.drawn()), 6)

    def test_strategies_look_as_the_program_says_and_others_as_is_free(self):
        self.write([entry(name, 0, {}) for name in ("ring", "mine", "tree")],
                   {"ring": ["#E69F00", "s", "--"], "tree": ["#CC79A7", "v", "3 1"]})
        found = results.read(self.folder)
        style.use(found.looks)
        looks = {name: style.look(name, found.strategies()) for name in found.strategies()}
        self.assertEqual(looks, {"ring": ("#E69F00", "s", "--"), "tree": ("#CC79A7", "v", (0, (3, 1))),
                                 "mine": style.SPARE[0]})
        style.pyplot.close(style.sheet(1, 5, 3, style.handles(found.strategies(), True))[0])
        self.assertIn("overview.png", self.drawn())
        style.use()  # as of a folder whose results say nothing of looks
        self.assertEqual([style.look(name, found.strategies()) for name in found.strategies()],
                         style.SPARE[:3])

    def test_the_table_alone_gives_all_figures_except_links_and_timelines(self):
        line = "ring,4,{0},{0},1,80000000,30000000,30000000,50000000,9000000000,10000000000,60000000,75,1"
        rows = "\n".join(line.format(k) for k in (0, 2))
        (self.folder / "results.csv").write_text(f"# Weir\n{HEADER}\n{rows}\n")
        self.assertEqual(self.drawn(),
                         ["speedup.png", "goodput.png", "iteration.png", "breakdown.png", "overview.png"])


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
        self.refused("results.csv", "the column 'bound_ns' is missing")

    def test_a_missing_number_is_named(self):
        row = entry("ring", 0, {})
        del row["iteration_ns"]
        self.write([entry("ring", 0, {}), row])
        self.refused("rows[1]", "'iteration_ns'")

    def test_text_in_place_of_a_number_is_shown(self):
        self.write([entry("ring", 0, {}, bound_ns="soon")])
        self.refused("rows[0]", "bound_ns", "'soon'")

    def test_invalid_looks_are_refused(self):
        for looks in ([], {"ring": "#E69F00"}, {"ring": ["#E69F00", "s"]}):
            self.write([entry("ring", 0, {})], looks)
            self.refused("looks: each must be a colour, a marker and a line")

    def test_broken_json_is_refused(self):
        (self.folder / "results.json").write_text("{")
        self.refused("results.json", "expected JSON")

    def test_a_missing_timeline_is_named(self):
        self.write([entry("ring", 0, {}, timeline="timeline-ring.json")])
        status, _, error = self.plot()
        self.assertEqual((status, error.count("\n")), (1, 1))
        self.assertIn("timeline-ring.json: results.json names this file", error)


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

    def test_a_unit_that_all_values_share_is_in_the_label(self):
        across, _ = self.axis([entry("ring", 0, {"partition_size": size}) for size in ("4MB", "1MB")])
        self.assertEqual((across.label, list(across.texts.values())), ("Partition size (MB)", ["1", "4"]))

    def test_every_value_has_its_label_where_it_fits(self):
        self.assertEqual(axis.fitting(list("02468"), [0, 2, 4, 6, 8], 4), list("02468"))
        sizes = ["125KB", "250KB", "500KB", "1MB", "2MB", "4MB", "8MB", "16MB", "64MB"]
        places = [0, 1, 2, 3, 4, 5, 6, 7, 9]
        self.assertEqual(axis.fitting(sizes, places, 4.3), sizes)
        tight = axis.fitting(sizes, places, 2)
        self.assertEqual((tight[0], tight[-1]), ("125KB", "64MB"))
        self.assertEqual(len(tight), 9)
        self.assertIn("", tight)

    def test_the_area_beyond_the_bound_is_hatched_and_inside_the_picture(self):
        style.use()
        self.write_sweep()
        found = results.read(self.folder)
        across, (case,) = axis.axis(found)
        for drawn, bound in [(curves.ITERATION, 60), (curves.GOODPUT, 80)]:
            _, (panel,) = style.sheet(1, 5, 3)
            curves.draw(panel, across, case, drawn, found)
            (region,) = panel.collections[-1:]
            self.assertEqual(region.get_hatch(), style.BEYOND["hatch"])
            ends = sorted({y for _, y in region.get_paths()[0].vertices})
            limits = panel.get_ylim()
            self.assertEqual(ends, [bound, limits[1]] if drawn.beyond == "above" else [limits[0], bound])
            self.assertGreater(ends[1] - ends[0], 0.05 * (limits[1] - limits[0]))
            style.pyplot.close("all")

    def test_a_point_far_above_all_others_is_cut_off_and_labelled(self):
        self.assertEqual(curves.cut([500.0] * 5 + [520.0] * 5 + [970.0]), 560)
        self.assertEqual(curves.cut([500, 520, 540, 550]), float("inf"))
        style.use()
        self.write([
            entry("ps" if k == 9 else "ring", k, {FIELD: k},
                  iteration_ns=(960 if k == 9 else 500 + k) * 1000000) for k in range(10)
        ])
        found = results.read(self.folder)
        across, (case,) = axis.axis(found)
        _, (panel,) = style.sheet(1, 5, 3)
        curves.draw(panel, across, case, curves.ITERATION, found)
        self.assertEqual([text.get_text() for text in panel.texts], ["960 \u2191"])
        self.assertLess(panel.get_ylim()[1], 600)
        style.pyplot.close("all")

    def test_speedups_name_their_baseline(self):
        (self.folder / "results.json").write_text(json.dumps(
            {"experiment": {"baseline": "ring"}, "rows": [entry("ring", k, {FIELD: k}) for k in (0, 2)]}))
        found = results.read(self.folder)
        across, (case,) = axis.axis(found)
        _, (panel,) = style.sheet(1, 5, 3)
        curves.draw(panel, across, case, curves.SPEEDUP, found)
        self.assertEqual(panel.get_ylabel(), "Speed-up over ring")
        style.pyplot.close("all")

    def test_names_are_not_quantities(self):
        across, _ = self.axis([entry("ring", 0, {"trace": name})
                               for name in ("a/vgg-16.json", "a/gpt-2.json")])
        self.assertFalse(across.numeric)
        self.assertEqual(list(across.texts.values()), ["vgg-16", "gpt-2"])

    def test_a_strategy_missing_at_first_takes_its_place_from_later_points(self):
        self.write([entry(name, 0, {FIELD: 0}) for name in ("a", "c")]
                   + [entry(name, 2, {FIELD: 2}) for name in ("a", "b", "c")])
        self.assertEqual(results.read(self.folder).strategies(), ["a", "b", "c"])

    def test_links_that_differ_only_in_numbers_are_shown_by_the_most_used(self):
        self.write([entry("ring", 0, {})])
        self.assertEqual(links.busiest(results.read(self.folder).rows[0]), [("gpu[0].nic0.in", 0.9)])

    def test_links_of_every_group_and_role_are_shown(self):
        names = [
            "v100[0].nic0.in", "v200[0].nic0.in", "v200[0].nic0.out", "v200[1].nic1.in",
            "v200[1].numa0.memory"
        ]
        self.write([entry("ring", 0, {}, links=[{"name": name, "use": 0.5} for name in names])])
        shown = links.busiest(results.read(self.folder).rows[0])
        self.assertEqual([name for name, _ in shown], names[:3] + names[4:])

    def test_a_timeline_shows_one_machine_of_each_group_with_its_links_and_the_network(self):
        path = self.folder / "timeline.json"
        path.write_text(json.dumps(TIMELINE))
        tracks, used, layers = timeline.read(path)
        shown = [(machine, [row.name for row in ours]) for machine, ours in timeline.shown(tracks, used)]
        self.assertEqual(shown, [("gpu[0]", ["backward", "forward", "nic0 out", "nic0.out"]),
                                 ("cpu[0]", ["numa0 sum"]), ("network", ["rack[0].up"])])
        self.assertEqual((layers, tracks[2].lanes()), (2, 2))
        self.assertEqual(tracks[0].events, [(0, 0.0, 0.5, 1), (0, 0.5, 1.0, 0)])  # of the first iteration
        self.assertEqual(used[0].steps, [(0.5, 50), (1.1, 0)])


if __name__ == "__main__":
    unittest.main()
