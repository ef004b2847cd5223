"""weir import kineto as users call it. Run: python3 tests/apps/formats/test_imports.py WEIR"""

import gzip
import json
import re
import resource
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import importing  # noqa: E402  pylint: disable=wrong-import-position
import kineto  # noqa: E402  pylint: disable=wrong-import-position
import program  # noqa: E402  pylint: disable=wrong-import-position

ROOT = Path(__file__).resolve().parents[3]
RECORDINGS = ROOT / "tests/core/formats/kineto"
ONE_GPU = {"name": "one", "groups": [{"name": "gpu", "count": 1, "gpus": [{"count": 1, "at": "numa0"}],
                                      "nics": [{"at": "numa0", "rate": "100Gbps"}]}]}
TYPES = {"float32": "f32"}


class Recorded(importing.Case):
    """Compares recordings of PyTorch with its own measurements at the same time."""

    format = "kineto"

    def measured(self, name):
        return json.loads((RECORDINGS / f"{name}.measured.json").read_text())

    def check_tensors(self, trace, measured):
        self.assertEqual(sorted((tensor["elements"], tensor["dtype"])
                                for layer in trace["layers"] for tensor in layer["tensors"]),
                         sorted((one["elements"], TYPES[one["dtype"]]) for one in measured["parameters"]))

    def replayed(self, trace):
        """The iteration in ms on a machine with one GPU, without communication."""
        experiment = self.write({"topology": ONE_GPU, "trace": trace, "strategies": ["ring"]}, "one.json")
        done = program.run("run", str(experiment), "--no-plots", "--out", str(self.folder / "out"))
        self.assertEqual(done.returncode, 0, done.stderr)
        (row,) = program.rows(self.folder / "out")
        return int(row["iteration_ns"]) / 1e6

    def test_h200_iterations_replay_within_2_percent_and_have_every_tensor(self):
        for name in ("resnet-50-h200", "vgg-16-h200", "bert-large-h200", "gpt-2-h200"):
            with self.subTest(name=name):
                trace = json.loads((ROOT / f"traces/imported/{name}.json").read_text())
                measured = self.measured(name)
                self.check_tensors(trace, measured)
                took = float(trace["source"].split("took ")[1].split(" ms")[0])
                replayed = self.replayed(trace)
                self.assertTrue(any(abs(replayed / recording["step_ms"][0] - 1) < 0.0005
                                    for recording in measured["recordings"].values()), replayed)
                self.assertAlmostEqual(replayed, took, delta=0.001)
                self.assertLess(abs(replayed / measured["unwatched_ms"] - 1),
                                0.025)  # the profiler's own cost

    def test_pages_show_the_results(self):
        page, table = (ROOT / "docs/traces.md").read_text(), (ROOT / "traces/README.md").read_text()
        for name in ("resnet-50-h200", "vgg-16-h200", "bert-large-h200", "gpt-2-h200"):
            with self.subTest(name=name):
                trace = json.loads((ROOT / f"traces/imported/{name}.json").read_text())
                measured, replayed = self.measured(name), importing.total(trace) / 1e6
                recorded = min((recording["step_ms"][0] for recording in measured["recordings"].values()),
                               key=lambda one: abs(one - replayed))
                alone = measured["unwatched_ms"]
                self.assertIn(f"| `imported/{name}.json` | {replayed:.3f} ms | {recorded:.3f} ms | "
                              f"{abs(100 * (replayed / recorded - 1)):.2f} % | "
                              f"{alone:.3f} ms | {100 * (replayed / alone - 1):.2f} % |", page)
                tensors = [tensor["elements"] for layer in trace["layers"] for tensor in layer["tensors"]]
                self.assertIn(f"| `imported/{name}.json` | {sum(tensors):,} f32 | {len(tensors)} | "
                              f"{len(trace['layers'])} | {trace['batch']} {trace['sample']}s | "
                              f"{replayed:.1f} ms | {alone:.1f} ms |", table)

    def test_shipped_traces_equal_the_imported_recordings(self):
        for name, batch, sample in (("resnet-50-h200", 256, "image"), ("vgg-16-h200", 64, "image"),
                                    ("bert-large-h200", 16384, "token"), ("gpt-2-h200", 16384, "token")):
            with self.subTest(name=name):
                (file,) = RECORDINGS.glob(f"{name}*.json.gz")
                trace, _ = self.imported(file, "--batch", batch, "--sample", sample, "--name", name)
                self.assertEqual(trace, json.loads((ROOT / f"traces/imported/{name}.json").read_text()))

    def test_layers_agree_with_those_that_hooks_recorded(self):
        # weir.torch.trace is independent of the profiler: another run with other clocks.
        for name in ("resnet-50-h200", "vgg-16-h200"):
            (file,) = RECORDINGS.glob(f"{name}*.json.gz")
            ours, _ = self.imported(file, "--no-update")
            theirs = json.loads((ROOT / f"traces/recorded/{name}.json").read_text())
            self.assertEqual(len(ours["layers"]), len(theirs["layers"]))
            for a, b in list(zip(ours["layers"], theirs["layers"]))[1:-1]:
                with self.subTest(name=name, layer=a["name"]):
                    self.assertEqual({tensor["elements"] for tensor in a["tensors"]},
                                     {tensor["elements"] for tensor in b["tensors"]})
                    for way in ("forward", "backward"):
                        self.assertAlmostEqual(importing.nanoseconds(a[way]), importing.nanoseconds(b[way]),
                                               delta=max(30e3, 0.1 * importing.nanoseconds(b[way])))

    def test_recordings_without_a_gpu_work_too(self):
        trace, _ = self.imported(RECORDINGS / "mlp-small-modules.json.gz")
        measured = self.measured("mlp-small")
        self.check_tensors(trace, measured)
        self.assertEqual([layer["name"] for layer in trace["layers"]], [f"Linear_{i}" for i in range(5)])
        step = measured["recordings"]["mlp-small-modules.json.gz"]["step_ms"][0]
        self.assertAlmostEqual(importing.total(trace) / 1e6 / step, 1, delta=0.02)

    def test_a_rank_of_a_job_leaves_out_the_time_of_waiting_for_gloo(self):
        trace, remarks = self.imported(RECORDINGS / "mlp-small-rank1.json.gz", "--rank", 1)
        measured = self.measured("mlp-small-rank1")
        self.check_tensors(trace, measured)
        self.assertIn("2 collectives of 16.83 MB in total", remarks)
        step = measured["recordings"]["mlp-small-rank1.json.gz"]["step_ms"][0]
        waited = float(remarks.split("in total; ")[1].split(" ms")[0])
        self.assertGreater(waited, 5)
        self.assertAlmostEqual((importing.total(trace) / 1e6 + waited) / step, 1, delta=0.02)
        self.assertIn("of rank 1, none of rank 7",
                      self.refused(RECORDINGS / "mlp-small-rank1.json.gz", "--rank", 7))

    def test_a_rank_of_a_job_on_two_gpus_replays_within_2_percent_without_nccls_collectives(self):
        name = "vgg-16-two-gpus-rank0"
        trace, remarks = self.imported(RECORDINGS / f"{name}.json.gz", "--batch", 64, "--sample", "image")
        measured = self.measured(name)
        self.check_tensors(trace, measured)
        self.assertRegex(remarks, r"\d+ collectives of 553\.4 MB in total; [\d.]+ us in which only "
                                  r"collectives ran are left out")
        replayed = self.replayed(trace)
        self.assertLess(abs(replayed / measured["recordings"][f"{name}.json.gz"]["step_ms"][0] - 1), 0.005)
        self.assertLess(abs(replayed / measured["unwatched_ms"] - 1), 0.02)


class Large(importing.Case):
    """A recording of many iterations. Prints what docs/traces.md says of it."""

    format = "kineto"
    TIMES = 10

    def test_recordings_of_more_than_100_mb_are_read_in_seconds_and_little_memory(self):
        with gzip.open(RECORDINGS / "gpt-2-h200.json.gz") as packed:
            whole = json.load(packed)
        trace, _ = self.imported(RECORDINGS / "gpt-2-h200.json.gz", "--name", "large")
        file = self.folder / "large.json"
        with open(file, "w", encoding="utf-8") as out:
            out.write('{"traceEvents": [\n')
            for i in range(self.TIMES):
                for one in whole["traceEvents"]:
                    out.write(json.dumps(self.later(one, i), indent=1) + ",\n")
            out.write("{}]}\n")
        begin = time.monotonic()
        again, _ = self.imported(file, "--step", 5)
        took, memory = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{file.stat().st_size / 1e6:.0f} MB in {took:.1f} s, with {memory:.0f} MiB")
        self.assertEqual([layer["forward"] for layer in again["layers"]],
                         [layer["forward"] for layer in trace["layers"]])
        self.assertGreater(file.stat().st_size, 100e6)
        self.assertLess(took, 10)
        self.assertLess(memory, 200)

    def later(self, one, times):
        """The event in an iteration `times` seconds later."""
        one = dict(one, args=dict(one.get("args", {})))
        if "ts" in one:
            one["ts"] += 1e6 * times
        if "correlation" in one["args"]:
            one["args"]["correlation"] += 1_000_000 * times
        if one.get("name", "").startswith("ProfilerStep#"):
            one["name"] = f"ProfilerStep#{int(one['name'].split('#')[1]) + 10 * times}"
        return one


class Kineto(importing.Case):
    format = "kineto"

    def layers(self, trace):
        return [(layer["name"], importing.nanoseconds(layer["forward"]),
                 importing.nanoseconds(layer["backward"]),
                 [(tensor["elements"], tensor["dtype"]) for tensor in layer["tensors"]])
                for layer in trace["layers"]]

    def test_times_are_the_gpus_without_those_of_collectives_alone(self):
        file = self.write(kineto.recording(kineto.events()), "net.pt.trace.json")
        trace, remarks = self.imported(file, "--no-update")
        self.assertEqual(trace["name"], "net")
        self.assertEqual(self.layers(trace), [("linear", 100_000, 300_000, [(300, "f32")]),
                                              ("linear 2", 50_000, 150_000, [(100, "f32")])])
        self.assertIn("200 us in which only collectives ran are left out", remarks)
        # 200 us after the last gradient, in proportion to 300 and 100 elements.
        trace, remarks = self.imported(file)
        self.assertEqual(self.layers(trace), [("linear", 250_000, 300_000, [(300, "f32")]),
                                              ("linear 2", 100_000, 150_000, [(100, "f32")])])
        self.assertIn("200 us after the last gradient", remarks)

    # Two linear layers with a weight and a bias each, on a CPU. The next step begins where this one ends.
    TWO_LAYERS = ([[32, 2], [128, 16]], 5_615_000, 3_385_000)  # elements, forward and backward in ns

    def summary(self, trace):
        layers = self.layers(trace)
        return ([[elements for elements, _ in layer[3]] for layer in layers[::-1]],
                sum(layer[1] for layer in layers), sum(layer[2] for layer in layers))

    def test_steps_that_touch_are_apart_at_any_time(self):
        file = RECORDINGS / "epoch.json"  # microseconds since 1970, which a double cannot hold in nanoseconds
        self.assertEqual(self.summary(self.imported(file, "--batch", 4)[0]), self.TWO_LAYERS)
        text = file.read_text()
        whole = json.loads(text)
        # The same with decimals, as new versions write them, and rounded to doubles by another tool.
        for shift in (0.25, -1_600_000_000_000_000):
            for one in whole["traceEvents"]:
                one["ts"] += shift
            with self.subTest(shift=shift):
                again = self.write(whole, "again.json")
                self.assertEqual(self.summary(self.imported(again, "--batch", 4)[0]), self.TWO_LAYERS)
        decimals = re.sub(r'("ts": \d+)', r"\1.123", text)
        self.assertEqual(self.summary(self.imported(self.write(decimals.encode(), "net.json"))[0]),
                         self.TWO_LAYERS)

    def test_steps_that_overlap_by_their_rounding_alone_are_apart(self):
        whole = json.loads((RECORDINGS / "epoch.json").read_text())
        whole["traceEvents"][0]["dur"] += 1
        self.assertEqual(self.summary(self.imported(self.write(whole, "net.json"), "--batch", 4)[0]),
                         self.TWO_LAYERS)
        whole["traceEvents"][0]["dur"] += 1
        self.assertIn("are not in sequence", self.refused(self.write(whole, "net.json")))

    def test_gradients_that_are_undefined_are_left_out_and_counted(self):
        for name in ("undefined-last", "undefined-main"):
            with self.subTest(name=name):
                trace, remarks = self.imported(RECORDINGS / f"{name}.json", "--batch", 4)
                self.assertEqual(self.summary(trace), self.TWO_LAYERS)
                self.assertIn("undefined gradients left out, for which nothing is accumulated: 1", remarks)

    def test_a_scalar_is_a_tensor_of_one_element_although_it_has_no_dimensions(self):
        scalar = kineto.events()
        scalar[scalar.index(kineto.accumulate(61, [10, 10])[1])]["args"]["Input Dims"] = [[]]
        trace, remarks = self.imported(self.write(kineto.recording(scalar), "net.json"))
        self.assertEqual(self.layers(trace)[1][3], [(1, "f32")])
        self.assertNotIn("undefined", remarks)

    def test_tensors_without_elements_are_left_out_and_counted(self):
        trace, remarks = self.imported(RECORDINGS / "no-elements.json", "--batch", 4)
        self.assertEqual(self.summary(trace), self.TWO_LAYERS)
        self.assertIn("gradients without elements left out, for which nothing is communicated: 1", remarks)
        none = kineto.events()
        for begin, shape in ((61, [10, 10]), (81, [300])):
            none[none.index(kineto.accumulate(begin, shape)[1])]["args"]["Input Dims"] = [[0, 5]]
        self.assertIn("no gradient can be summed: 0 are undefined and 2 have no elements",
                      self.refused(self.write(kineto.recording(none), "net.json")))

    def test_order_of_events_and_compression_change_nothing(self):
        plain = self.imported(self.write(kineto.recording(kineto.events()), "net.json"))[0]
        packed = self.write(gzip.compress(json.dumps(kineto.recording(kineto.events()[::-1])).encode()),
                            "net.json.gz")
        self.assertEqual(self.imported(packed)[0], plain)

    def test_a_named_step_is_taken_and_missing_ones_are_reported(self):
        file = self.write(kineto.recording(kineto.events()), "net.json")
        self.imported(file, "--step", 5)
        self.assertIn("there is no ProfilerStep#7; the steps are 5, 6", self.refused(file, "--step", 7))
        self.assertIn("ProfilerStep#6: there is no backward pass", self.refused(file, "--step", 6))

    def test_missing_data_is_reported_with_the_option_that_records_it(self):
        def without(*names):
            all_events = kineto.events()
            for one in all_events:
                for name in names:
                    one["args"].pop(name, None)
            return all_events
        cpu = [one for one in kineto.events() if one["cat"] in ("cpu_op", "user_annotation")]
        stepless = [one for one in kineto.events() if one["cat"] != "user_annotation"]
        gpu = [one for one in kineto.events() if one["cat"] != "cpu_op"]
        for events, error in ((without("Input Dims", "Input type"), "record_shapes=True"),
                              (without("Input Dims"), "record_shapes=True"),
                              (without("Input type"), "record_shapes=True"),
                              (without("Sequence number"), "'Sequence number'"),
                              (gpu, "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"),
                              ([], "ProfilerActivity.CPU"),
                              (stepless, "there are no steps")):
            with self.subTest(error=error):
                file = self.write(kineto.recording(events), "net.json")
                done = program.run("import", "kineto", str(file))
                self.assertIn(error, done.stderr)
        _, remarks = self.imported(self.write(kineto.recording(cpu), "net.json"))
        self.assertIn("no work of the A GPU is recorded", remarks)

    def test_kernels_that_are_missing_are_reported_and_many_refused(self):
        def without(*numbers):
            return [one for one in kineto.events() if one["cat"] != "kernel"
                    or one["args"]["correlation"] not in numbers]
        self.assertIn("ProfilerStep#5: the kernels of 2 of its 6 launches are not recorded: the "
                      "recording ends too early",
                      self.refused(self.write(kineto.recording(without(4, 5)), "net.json")))
        self.assertIn("ProfilerStep#5: the kernels of 6 of its 6 launches are not recorded: the "
                      "profiler recorded no work of the GPU",
                      self.refused(self.write(kineto.recording(without(*range(10))), "net.json")))
        # A graph's kernels have its launch's correlation, as if it were one kernel's.
        graphs = [dict(one, name="cudaGraphLaunch") if one["cat"] == "cuda_runtime" else one
                  for one in without(4, 5)]
        self.assertIn("the kernels of 2 of its 6 launches are not recorded",
                      self.refused(self.write(kineto.recording(graphs), "net.json")))
        # Missing kernels of another iteration do not matter, and a few are only reported.
        self.assertNotIn("are not recorded",
                         self.imported(self.write(kineto.recording(without(6)), "net.json"))[1])
        more = kineto.events() + [
            one for i in range(10)
            for one in (kineto.launch(102, 50 + i), kineto.kernel(950 + i, 951 + i, 50 + i))]
        more.remove(kineto.kernel(955, 956, 55))
        self.assertIn("launches of the iteration whose kernels are not recorded: 1;",
                      self.imported(self.write(kineto.recording(more), "net.json"))[1])

    def test_kernels_without_launches_are_refused(self):
        for events in ([one for one in kineto.events() if one["cat"] != "cuda_runtime"],
                       [dict(one, args={}) if one["cat"] in ("kernel", "cuda_runtime") else one
                        for one in kineto.events()]):
            self.assertIn("5 of the 5 kernels and copies that ran in it have no recorded launch",
                          self.refused(self.write(kineto.recording(events), "net.json")))

    def test_work_of_other_streams_is_reported(self):
        copies = [kineto.kernel(0, 300, 99, stream, "Memcpy HtoD") for stream in (8, 9)]
        trace, remarks = self.imported(self.write(kineto.recording(kineto.events() + copies), "net.json"),
                                       "--no-update")
        self.assertIn("other streams or GPUs did 80 % as much work", remarks)  # 600 of 750 us
        self.assertEqual(importing.total(trace), 600_000)

    def test_a_second_pass_in_one_step_is_refused(self):
        again = [dict(one, ts=one["ts"] + 200, args=dict(one["args"]))
                 for one in kineto.events() if one["cat"] == "cpu_op" and one["ts"] < 100]
        for one in again:
            if "Sequence number" in one["args"]:
                one["args"]["Sequence number"] += 10
        self.assertIn("a second forward and backward pass begins here",
                      self.refused(self.write(kineto.recording(kineto.events() + again), "net.json")))

    def test_reentrant_checkpoints_are_refused(self):
        # Within the function that runs from 70 to 80.
        nested = kineto.events() + kineto.accumulate(74, [32, 10])
        self.assertIn("AccumulateGrad runs within AddmmBackward0",
                      self.refused(self.write(kineto.recording(nested), "net.json")))

    def test_nonsense_is_refused_with_its_place(self):
        bad_type = kineto.events()
        bad_type[bad_type.index(kineto.accumulate(61, [10, 10])[1])]["args"]["Input type"] = [
            "c10::Float8_e4m3fn"]
        bad_shape = kineto.events()
        bad_shape[bad_shape.index(kineto.accumulate(61, [10, 10])[1])]["args"]["Input Dims"] = [[10, -3]]
        endless, early = kineto.events(), kineto.events()
        del endless[-1]["dur"]
        early[1]["ts"] = -5
        stepless = kineto.events()
        del next(one for one in stepless if one["name"].startswith("ProfilerStep#"))["dur"]
        whole = json.dumps(kineto.recording(kineto.events()), indent=1).encode()
        for content, error in ((kineto.recording(endless), "the event 'gemm' has no 'dur'"),
                               (kineto.recording(stepless), "the event 'ProfilerStep#5' has no 'dur'"),
                               (kineto.recording(early), "the event 'aten::linear' has -5 as its 'ts'"),
                               (kineto.recording(bad_type), "'c10::Float8_e4m3fn'"),
                               (kineto.recording(bad_shape), "[10, -3]"),
                               (b"", "bad.json:1: the file is empty"),
                               (whole[:3000], "this is not JSON"),
                               (gzip.compress(whole)[:-200], "it ends inside compressed data"),
                               (b"\x1f\x8b\x08\x00" + bytes(range(200)), "it cannot be decompressed"),
                               (b"[" * 5000, "bare list"),
                               (b'{"a":' * 5000, "levels of nesting"),
                               ({"layers": []}, "there are no 'traceEvents'"),
                               (whole.replace(b"ProfilerStep#6", b"ProfilerStep#5"), "are not in sequence")):
            with self.subTest(error=error):
                self.assertIn(error, self.refused(self.write(content, "bad.json")))
        self.assertIn("there is no such file to read", self.refused(self.folder / "none.json"))
        self.assertIn("this is not a regular file", self.refused(self.folder))

    def test_input_files_are_not_overwritten(self):
        file = self.write(kineto.recording(kineto.events()), "net.json")
        before = file.read_bytes()
        self.assertIn("net.json: this file is an input", self.refused(file, "--out", file))
        self.assertEqual(file.read_bytes(), before)


if __name__ == "__main__":
    program.main()
