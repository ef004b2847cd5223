"""Tests for the shipped traces. Run: python3 traces/test_traces.py"""

import contextlib
import io
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import make_traces  # noqa: E402  (found only with the path above)

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i32": 4, "i64": 8}

# File: parameters and tensors as published or as counted in the published code, and layers.
EXPECTED = {
    "resnet-50.json": (25_557_032, 161, 54),
    "vgg-16.json": (138_357_544, 32, 16),
    "vgg-16-batch-96.json": (138_357_544, 32, 16),
    "ugatit.json": (670_761_088, 148, 82),
    "transformer-base.json": (61_362_176, 185, 98),
    "bert-large.json": (336_226_108, 398, 149),
    "bert-large-387m.json": (387_000_000, 399, 149),
    "gpt-2.json": (124_439_808, 148, 50),
    "large-tensors.json": (250_000_000, 250, 250),
    "three-layers.json": (1_500_000, 3, 3),
}


def content(file: str) -> dict:
    return json.loads((make_traces.FOLDER / file).read_text())


def tensors(trace: dict) -> list[dict]:
    return [tensor for layer in trace["layers"] for tensor in layer["tensors"]]


def elements(trace: dict, prefix: str = "") -> int:
    return sum(tensor["elements"] for tensor in tensors(trace) if tensor["name"].startswith(prefix))


def nanoseconds(trace: dict, *passes: str) -> int:
    return sum(int(layer[name].removesuffix("ns")) for layer in trace["layers"] for name in passes)


class RecordedFiles(unittest.TestCase):
    """What the H200's record says about itself; traces/record.py needs one."""

    # Published sizes; the example's BERT-Large has no segments, no pooler,
    # and no layers of its own in its head.
    EXPECTED = {
        "resnet-50-h200": (25_557_032, 161), "vgg-16-h200": (138_357_544, 32),
        "bert-large-h200": (334_090_240, 292), "gpt-2-h200": (124_439_808, 148)
    }

    def test_all_exist_with_their_sizes_and_times(self):
        files = sorted(path.stem for path in (make_traces.FOLDER / "recorded").glob("*.json"))
        self.assertEqual(files, sorted(self.EXPECTED))
        for name, expected in self.EXPECTED.items():
            with self.subTest(name):
                trace = content(f"recorded/{name}.json")
                self.assertEqual((elements(trace), len(tensors(trace))), expected)
                alone = float(re.search(r"not watched takes ([0-9.]+) ms", trace["source"])[1])
                self.assertAlmostEqual(nanoseconds(trace, "forward", "backward") / 1e6 / alone, 1, delta=0.02)


class ShippedFiles(unittest.TestCase):
    def test_are_what_the_script_writes(self):
        self.assertEqual([trace.file for trace in make_traces.shipped() if make_traces.stale(trace)], [])

    def test_are_the_expected_ones(self):
        self.assertEqual({trace.file for trace in make_traces.shipped()}, set(EXPECTED))

    def test_have_the_published_sizes(self):
        for file, expected in EXPECTED.items():
            with self.subTest(file):
                trace = content(file)
                self.assertEqual((elements(trace), len(tensors(trace)), len(trace["layers"])), expected)

    def test_have_exactly_the_keys_of_the_format(self):
        for file in EXPECTED:
            with self.subTest(file):
                trace = content(file)
                self.assertEqual(list(trace), ["name", "source", "batch", "sample", "layers"])
                self.assertEqual({tuple(layer) for layer in trace["layers"]},
                                 {("name", "forward", "backward", "tensors")})
                self.assertEqual({tuple(tensor) for tensor in tensors(trace)},
                                 {("name", "elements", "dtype")})
                self.assertLessEqual({tensor["dtype"] for tensor in tensors(trace)}, set(BYTES))

    def test_have_unique_names_and_no_empty_layer_or_tensor(self):
        for file in EXPECTED:
            with self.subTest(file):
                trace = content(file)
                for named in (trace["layers"], tensors(trace)):
                    names = [item["name"] for item in named]
                    self.assertEqual(len(names), len(set(names)))
                self.assertTrue(all(layer["tensors"] for layer in trace["layers"]))
                self.assertTrue(all(tensor["elements"] > 0 for tensor in tensors(trace)))

    def test_times_add_up_to_the_iteration(self):
        for shipped in make_traces.shipped():
            with self.subTest(shipped.file):
                trace = content(shipped.file)
                self.assertEqual(nanoseconds(trace, "forward", "backward"), shipped.nanoseconds)
                forward = shipped.nanoseconds // 3 if shipped.forward is None else shipped.forward
                self.assertEqual(nanoseconds(trace, "forward"), forward)

    def test_appear_in_the_readme_with_their_numbers(self):
        readme = (make_traces.FOLDER / "README.md").read_text()
        for file in EXPECTED:
            with self.subTest(file):
                trace = content(file)
                size = sum(tensor["elements"] * BYTES[tensor["dtype"]] for tensor in tensors(trace))
                time = nanoseconds(trace, "forward", "backward") / 1e6
                dtype = tensors(trace)[0]["dtype"]
                row = (f"| `{file}` | {elements(trace):,} {dtype} | {size:,} | {len(tensors(trace))} "
                       f"| {len(trace['layers'])} | {trace['batch']} {trace['sample']}s | {time:.1f} ms |")
                self.assertIn(row, readme)


class Models(unittest.TestCase):
    def test_convolutional_models_have_the_published_multiply_adds(self):
        for layers, billions in ((make_traces.resnet_50(), 4.09), (make_traces.vgg_16(), 15.47)):
            self.assertAlmostEqual(make_traces.work(layers, samples=1) / 1e9, billions, places=2)

    def test_tied_matrices_belong_to_the_first_layer(self):
        for file in ("transformer-base.json", "bert-large.json", "gpt-2.json"):
            trace = content(file)
            largest = max(tensors(trace), key=lambda tensor: tensor["elements"])
            self.assertIn(largest, trace["layers"][0]["tensors"])

    def test_ugatit_has_two_generators_and_four_discriminators(self):
        trace = content("ugatit.json")
        sizes = {"genA2B": 278_959_808, "genB2A": 278_959_808, "disGA": 53_130_176, "disGB": 53_130_176,
                 "disLA": 3_290_560, "disLB": 3_290_560}
        self.assertEqual({name: elements(trace, f"{name}.") for name in sizes}, sizes)

    def test_gpt_2_runs_at_the_rate_of_bert_large(self):
        traces = {trace.file: trace for trace in make_traces.shipped()}
        bert, gpt = traces["bert-large.json"], traces["gpt-2.json"]
        rates = (make_traces.work(bert.layers, samples=64) / bert.nanoseconds,
                 make_traces.work(gpt.layers, samples=8) / gpt.nanoseconds)
        self.assertAlmostEqual(rates[0] / rates[1], 1, places=7)


class Script(unittest.TestCase):
    def run_in(self, folder: str, *arguments: str) -> int:
        with (mock.patch.object(make_traces, "FOLDER", Path(folder)),
              mock.patch.object(sys, "argv", ["make_traces.py", *arguments]),
              contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())):
            return make_traces.main()

    def test_check_fails_on_a_missing_or_changed_file_and_writes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_in(folder, "--check"), 1)
            self.assertEqual(list(Path(folder).iterdir()), [])
            self.assertEqual(self.run_in(folder), 0)
            self.assertEqual(self.run_in(folder, "--check"), 0)
            changed = Path(folder) / "gpt-2.json"
            changed.write_text(changed.read_text().replace("768", "769", 1))
            self.assertEqual(self.run_in(folder, "--check"), 1)


if __name__ == "__main__":
    unittest.main()
