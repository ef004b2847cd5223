#!/usr/bin/env python3
"""Trains models on random data on all GPUs of this host, in turn with PyTorch's DistributedDataParallel and
with Weir, and prints samples per second side by side. Writes a record of every run.
Run: experiments/pytorch/one_machine.py [--models resnet50,vgg16,bert-large] [--turns 3]"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "frontends" / "python"))

from measure import write_record  # noqa: E402

from weir._library import library  # noqa: E402

WAYS = {"DDP": ["--ddp"], "Weir": [], "Weir, cross barrier": ["--cross-barrier"]}
BATCHES = {"resnet50": 64, "vgg16": 64, "bert-large": 16}  # per GPU, unless --batch-size is given


def rate(choices, model, way):
    """Samples per second of all ranks."""
    script = ROOT / "frontends" / "python" / "examples" / "synthetic_benchmark.py"
    batch = choices.batch_size or BATCHES.get(model, 32)
    command = [
        sys.executable, "-m", "weir.run", "-np", choices.ranks, sys.executable, script, "--model", model,
        "--batch-size", batch, "--num-warmup-batches", 10, "--num-batches-per-iter", 10, "--num-iters",
        choices.iterations, *WAYS[way]
    ]
    path = os.pathsep.join(
        [str(ROOT / "frontends" / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([str(word) for word in command], env={**os.environ, "PYTHONPATH": path},
                          capture_output=True, text=True, timeout=600)
    total = re.search(r"Total \w+/sec on \d+ rank\(s\): ([\d.]+)", done.stdout)
    if done.returncode != 0 or total is None:
        raise SystemExit(f"{way}, {model}:\n{done.stdout}{done.stderr}")
    return float(total.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\nRun:")[0])
    parser.add_argument("--models", default="resnet50,vgg16,bert-large")
    parser.add_argument("--ranks", type=int, default=torch.cuda.device_count())
    parser.add_argument("--batch-size", type=int, help="batch size of each rank")
    parser.add_argument("--iterations", type=int, default=5, help="iterations, of ten batches each")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--record", help="a file for a line of JSON about each run")
    choices = parser.parse_args()
    lines = []
    for model in choices.models.split(","):
        rates = {way: [] for way in WAYS}
        for _ in range(choices.turns):
            for way in WAYS:
                rates[way].append(rate(choices, model, way))
                lines.append({"model": model, "who": way, "samples_per_s": rates[way][-1]})
        base = max(rates["DDP"])
        for way, all_rates in rates.items():
            print(f"{model:12}{way:22}{max(all_rates):10.1f}{max(all_rates) / base:8.3f} of DDP", flush=True)
        if choices.record:  # after each step, in case of an interrupt
            write_record(choices, library().version(), lines)


if __name__ == "__main__":
    main()
