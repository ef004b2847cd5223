"""Traces of what a model does, as weir.torch.trace records them."""

import json
import os
import re
import sys
import time
from pathlib import Path

import job
import pytest

torch = pytest.importorskip("torch")

SCRIPT = """
import torch
from torch import nn
def iteration_to_trace():
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256), nn.BatchNorm1d(256),
                          nn.Linear(256, 10))
    model[0].bias.requires_grad = False
    data, target = torch.randn(64, 256), torch.randint(10, (64,))
    return model, lambda: nn.functional.cross_entropy(model(data), target).backward(), 64, "vector"
"""


def nanoseconds(trace, way):
    return [int(layer[way][:-2]) for layer in trace["layers"]]


def test_a_file_is_recorded_layer_by_layer(tmp_path):
    script, out = tmp_path / "small.py", tmp_path / "small.json"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "weir.torch.trace", str(script), "--out", str(out)]
    done = job.passed(job.run(command, timeout=60))
    trace = json.loads(out.read_text())
    assert "4 layers" in done.stdout
    assert (trace["name"], trace["batch"], trace["sample"]) == ("small", 64, "vector")
    assert [[tensor["name"] for tensor in layer["tensors"]] for layer in trace["layers"]] == [
        ["0.weight"], ["2.weight", "2.bias"], ["3.weight", "3.bias"], ["4.weight", "4.bias"]]
    assert trace["layers"][0]["tensors"][0] == {"name": "0.weight", "elements": 512 * 256, "dtype": "f32"}
    assert all(time > 0 for time in nanoseconds(trace, "forward"))


def test_weir_hands_recording_over_to_python(tmp_path):
    weir = Path(os.environ["WEIR_LIBRARY"]).parents[2] / "weir"
    script, out = tmp_path / "small.py", tmp_path / "small.json"
    script.write_text(SCRIPT)
    (tmp_path / "python3").symlink_to(sys.executable)
    command = [str(weir), "trace", "record", str(script), "--out", str(out), "--steps", "2"]
    done = job.passed(job.run(command, timeout=60, PATH=str(tmp_path)))
    assert "medians of 2 iterations" in done.stdout and len(json.loads(out.read_text())["layers"]) == 4
    (tmp_path / "python3").unlink()
    done = job.run([str(weir), "trace", "record", str(script)], timeout=60, PATH=str(tmp_path))
    assert done.returncode == 1 and "cannot start python3: No such file or directory" in done.stderr


def test_the_help_of_weir_names_all_options_and_needs_no_python(tmp_path):
    weir = Path(os.environ["WEIR_LIBRARY"]).parents[2] / "weir"
    command = [str(weir), "trace", "record", "--help"]
    help_of_weir = job.passed(job.run(command, timeout=60, PATH=str(tmp_path)))
    own = job.passed(job.run([sys.executable, "-m", "weir.torch.trace", "--help"], timeout=60))
    options = set(re.findall(r"--[a-z]+", own.stdout)) - {"--help"}
    assert options == {"--out", "--name", "--steps"}
    assert all(option in help_of_weir.stdout for option in options)


def test_a_file_without_an_iteration_is_refused(tmp_path):
    script = tmp_path / "none.py"
    script.write_text("")
    command = [sys.executable, "-m", "weir.torch.trace", str(script), "--out", str(tmp_path / "x")]
    done = job.run(command, timeout=60)
    assert done.returncode != 0
    assert "has no function iteration_to_trace()" in done.stderr


class Sleeps(torch.autograd.Function):
    """Takes 10 ms forward and 20 ms backward."""

    @staticmethod
    def forward(ctx, x):
        time.sleep(0.010)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(0.020)
        return gradient


def test_times_belong_to_the_layers_that_take_them():
    from weir.torch import trace as recorder

    class Slow(torch.nn.Linear):
        def forward(self, x):
            return super().forward(Sleeps.apply(x))

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), Slow(4, 4), torch.nn.Linear(4, 4))
    data = torch.randn(2, 4)
    trace = recorder.record(model, lambda: model(data).sum().backward(), name="slow", steps=5, warm_up=1)
    forward, backward = nanoseconds(trace, "forward"), nanoseconds(trace, "backward")
    assert forward[1] > 10e6 and forward[1] > 2 * max(forward[0], forward[2])
    # Backward through the sleep comes after the slow layer's own gradients are there,
    # and before the first layer's.
    assert backward[0] > 20e6 and backward[0] > 2 * max(backward[1:])


def test_shared_parameters_belong_to_the_first_layer_and_unused_ones_are_refused():
    from weir.torch import trace as recorder
    first, last = torch.nn.Linear(4, 4, bias=False), torch.nn.Linear(4, 4, bias=False)
    last.weight = first.weight
    model = torch.nn.Sequential(first, torch.nn.Linear(4, 4), last)
    trace = recorder.record(model, lambda: model(torch.randn(2, 4)).sum().backward(), name="shared", steps=2,
                            warm_up=1)
    assert [layer["name"] for layer in trace["layers"]] == ["0", "1"]
    model.register_module("unused", torch.nn.Linear(4, 4))
    with pytest.raises(ValueError, match="unused.weight"):
        recorder.layers_of(model, lambda: model[:3](torch.randn(2, 4)))
