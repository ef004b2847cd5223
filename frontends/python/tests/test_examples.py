"""The examples do what they are there for, in small."""

import re
import sys

import job
import pytest

pytest.importorskip("torch")


def example(name, *arguments, ranks=2):
    path = job.PACKAGE / "examples" / name
    command = [sys.executable, "-m", "weir.run", "-np", str(ranks), sys.executable, str(path), "--no-cuda",
               *arguments]
    return job.passed(job.run(command, 60)).stdout


@pytest.mark.parametrize("name, arguments", [("mnist.py", ["--pictures", "4000"]),
                                             ("cifar.py", ["--epochs", "2"])])
def test_pictures_are_learned(name, arguments):
    rights = [float(text) for text in re.findall(r"([\d.]+) % of new", example(name, *arguments))]
    assert rights[-1] > 80, rights


def test_a_language_is_learned():
    small = ["--steps", "40", "--length", "16", "--batch-size", "4"]
    losses = [float(text) for text in re.findall(r"loss ([\d.]+)", example("gpt2.py", *small))]
    assert losses[1] < losses[0] < 3.5, losses
    # The cross barrier moves waiting, and nothing else.
    output = example("gpt2.py", *small, "--cross-barrier")
    assert [float(text) for text in re.findall(r"loss ([\d.]+)", output)] == losses


@pytest.mark.parametrize("more", [["--ddp"], ["--fp16-allreduce"], ["--cross-barrier"]])
def test_the_benchmark_prints_samples_a_second(more):
    output = example("synthetic_benchmark.py", "--model", "mlp", "--batch-size", "4", "--num-warmup-batches",
                     "1", "--num-batches-per-iter", "2", "--num-iters", "2", *more)
    assert re.search(r"Total vec/sec on 2 rank\(s\): [1-9]", output), output


def test_models_have_the_sizes_of_their_papers(monkeypatch):
    monkeypatch.syspath_prepend(str(job.PACKAGE / "examples"))
    import models
    # Values would take seconds, and are not looked at.
    for name in ("kaiming_uniform_", "uniform_", "normal_"):
        monkeypatch.setattr(models.nn.init, name, lambda tensor, *how, **named: tensor)
    millions = {name: sum(parameter.numel() for parameter in make().parameters()) / 1e6
                for name, (make, _, _) in models.MODELS.items()}
    assert {name: round(size) for name, size in millions.items()} == {
        "resnet50": 26, "vgg16": 138, "bert-large": 334, "gpt2": 124, "mlp": 4}


def test_hooks_cost_little():
    path = job.PACKAGE / "benchmarks" / "hooks.py"
    command = [sys.executable, "-m", "weir.run", "-np", "2", sys.executable, str(path), "--tensors", "300"]
    outputs = []
    for _ in range(5):  # what else runs on the host can only make them dearer
        outputs.append(job.passed(job.run(command, 60)).stdout)
        if float(re.search(r"hook ([\d.]+) us", outputs[-1])[1]) < 20:
            return
    raise AssertionError("\n".join(outputs))
