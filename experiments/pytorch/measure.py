#!/usr/bin/env python3
"""Trains the same network with Weir and with PyTorch's DistributedDataParallel, over Gloo or, with --cuda,
NCCL, in turn, in a lab of shaped links, and prints samples per second side by side; checks that losses are
equal. Writes a record of every run.
Run: experiments/pytorch/measure.py [--weir build/release/weir] [--rate 1Gbps] [--turns 3]"""

import argparse
import datetime
import json
import os
import platform
import secrets
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Contender(NamedTuple):
    who: str
    servers: bool = False  # as many CPU machines as machines that train
    cross_barrier: bool = False
    local: str = "none"

    def k(self, choices):
        return choices.machines if self.servers else 0

    def name(self, choices):
        if self.who == "ddp":
            return f"DDP over {'NCCL' if choices.cuda else 'Gloo'}"
        apart = ", no sums within machines" if choices.ranks_each > 1 and self.local == "none" else ""
        return f"Weir, k = {self.k(choices)}{', cross barrier' if self.cross_barrier else ''}{apart}"


def contenders(choices):
    """If machines have several ranks, NCCL sums within them; one contender does without."""
    if choices.ranks_each > 1:
        return (Contender("ddp"), Contender("weir", local="nccl"), Contender("weir", True, local="nccl"),
                Contender("weir", True, True, "nccl"), Contender("weir"))
    return (Contender("ddp"), Contender("weir"), Contender("weir", True), Contender("weir", True, True))


def library(choices):
    """The libweir.so of the environment, or of the same build as weir."""
    return os.environ.get("WEIR_LIBRARY") or str(
        Path(choices.weir).resolve().parent / "frontends" / "c" / "libweir.so")


def run(choices, contender):
    """The result of rank 0."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        topology = ROOT / "topologies" / "lab-4.json"
        command = [
            choices.weir, "lab", "run", topology, "--deadline", "300s",
            "--set", f"topology.groups.cpu.count={max(contender.k(choices), 1)}",
            "--set", f"topology.groups.gpu.count={choices.machines}",
            "--set", f"topology.groups.gpu.nics.0.rate={choices.rate}",
            "--set", f"topology.groups.cpu.nics.0.rate={choices.rate}", "--",
            sys.executable, HERE / "train.py", "--who", contender.who, "--machines", choices.machines,
            "--ranks-each", choices.ranks_each, "--local", contender.local,
            "--servers", contender.k(choices), "--secret", secrets.token_hex(32), "--out", out,
            "--model", choices.model, "--width", choices.width, "--layers", choices.layers,
            "--batch", choices.batch, "--steps", choices.steps,
            "--rate", choices.learning_rate, "--nic-rate", choices.rate
        ]
        command += ["--cuda"] if choices.cuda else []
        command += ["--cross-barrier"] if contender.cross_barrier else []
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "frontends" / "python"),
                       "WEIR_LIBRARY": library(choices)}
        done = subprocess.run([str(part) for part in command], env=environment, capture_output=True,
                              text=True)
        if done.returncode != 0:
            raise SystemExit(f"{contender.name(choices)}:\n{done.stdout}{done.stderr}")
        return json.loads(out.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weir", default=str(ROOT / "build" / "release" / "weir"))
    parser.add_argument("--rate", default="1Gbps", help="the rate of each link")
    parser.add_argument("--machines", type=int, default=4, help="machines that train")
    parser.add_argument("--ranks-each", type=int, default=1,
                        help="processes of each machine, with a GPU each (with --cuda)")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--cuda", action="store_true", help="train on the host's GPUs, against DDP over NCCL")
    parser.add_argument("--model", default="linear",
                        help="linear, of --width and --layers, or one of the examples' models")
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--record", help="a file for a line of JSON about each run")
    choices = parser.parse_args()
    runners = contenders(choices)
    rates = {one: [] for one in runners}
    losses = {}
    lines = []
    for _ in range(choices.turns):
        for one in runners:
            result = run(choices, one)
            rates[one].append(result["samples"] / statistics.median(result["seconds"]))
            print(f"{one.name(choices)}: {rates[one][-1]:.2f} samples/s", file=sys.stderr, flush=True)
            losses.setdefault(one, result["losses"])
            lines.append({**one._asdict(), "servers": one.k(choices), **result})
    rows = []
    base = max(rates[runners[0]])
    print(f"{choices.machines} machines of {choices.ranks_each} rank(s) on links of {choices.rate}, "
          f"{lines[0]['parameters']:,} parameters, batches of {choices.batch}")
    print(f"{'':50}{'samples/s':>12}{'of DDP':>10}   loss, last step")
    for one, all_rates in rates.items():
        best = max(all_rates)
        print(f"{one.name(choices):50}{best:12.2f}{best / base:9.2f}x   {losses[one][-1]:.6f}")
        rows.append({"who": one.name(choices), "samples_per_s": best, "of_ddp": best / base})
        different = max(abs(a - b) for a, b in zip(losses[one], losses[runners[0]]))
        if not different <= 1e-4:
            raise SystemExit(f"{one.name(choices)}: losses differ from DDP's by up to {different}")
    if choices.record:
        version = subprocess.run([choices.weir, "--version"], capture_output=True, text=True,
                                 check=True).stdout.strip()
        write_record(choices, version, lines, rows=rows)


def write_record(choices, version, lines, **more):
    """A line about the whole, then one for each run."""
    import torch
    settings = {key: value for key, value in vars(choices).items() if key not in ("weir", "record")}
    whole = {"date": datetime.date.today().isoformat(), "machine": platform.processor() or platform.machine(),
             "cores": os.cpu_count(),
             "gpus": [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())],
             "version": version, "torch": torch.__version__, "settings": settings, **more}
    with open(choices.record, "w", encoding="utf-8") as file:
        for line in [whole, *lines]:
            file.write(json.dumps(line, default=str) + "\n")


if __name__ == "__main__":
    main()
