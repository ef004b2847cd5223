#!/usr/bin/env python3
"""Trains the same network with Weir and with PyTorch's DistributedDataParallel over Gloo, in turn, in a lab of shaped
links, and prints samples a second side by side; checks that losses are equal. Writes a record of every run.
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

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RANKS = 4


def run(choices, who, servers):
    """What rank 0 came to."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        topology = ROOT / "topologies" / "lab-4.json"
        command = [choices.weir, "lab", "run", topology, "--deadline", "300s",
                   "--set", f"topology.groups.cpu.count={max(servers, 1)}", "--set", f"topology.groups.gpu.count={RANKS}",
                   "--set", f"topology.groups.gpu.nics.0.rate={choices.rate}",
                   "--set", f"topology.groups.cpu.nics.0.rate={choices.rate}", "--",
                   sys.executable, HERE / "train.py", "--who", who, "--ranks", RANKS, "--servers", servers, "--secret",
                   secrets.token_hex(32), "--out", out, "--width", choices.width, "--layers", choices.layers, "--batch",
                   choices.batch, "--steps", choices.steps]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "frontends" / "python"),
                       "WEIR_LIBRARY": str(Path(choices.weir).resolve().parent / "frontends" / "c" / "libweir.so")}
        done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{who} with {servers} servers:\n{done.stdout}{done.stderr}")
        return json.loads(out.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weir", default=str(ROOT / "build" / "release" / "weir"))
    parser.add_argument("--rate", default="1Gbps", help="of each link")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--record", help="a file for a line of JSON on each run")
    choices = parser.parse_args()
    contenders = [("gloo", 0), ("weir", 0), ("weir", RANKS)]
    rates = {one: [] for one in contenders}
    losses = {}
    lines = []
    for _ in range(choices.turns):
        for who, servers in contenders:
            told = run(choices, who, servers)
            rates[who, servers].append(told["samples"] / statistics.median(told["seconds"]))
            losses.setdefault((who, servers), told["losses"])
            lines.append({"who": who, "servers": servers, **told})
    rows = []
    base = max(rates["gloo", 0])
    print(f"{RANKS} ranks on links of {choices.rate}, {lines[0]['parameters']:,} parameters, batches of {choices.batch}")
    print(f"{'':24}{'samples/s':>12}{'of Gloo':>10}   loss, last step")
    for (who, servers), all_rates in rates.items():
        best = max(all_rates)
        name = "DDP over Gloo" if who == "gloo" else f"Weir, k = {servers}"
        print(f"{name:24}{best:12.2f}{best / base:9.2f}x   {losses[who, servers][-1]:.6f}")
        rows.append({"who": name, "samples_per_s": best, "of_gloo": best / base})
        different = max(abs(a - b) for a, b in zip(losses[who, servers], losses["gloo", 0]))
        if different > 1e-4:
            raise SystemExit(f"{name}: losses differ from those over Gloo by up to {different}")
    if choices.record:
        with open(choices.record, "w", encoding="utf-8") as file:
            version = subprocess.run([choices.weir, "--version"], capture_output=True, text=True, check=True).stdout.strip()
            import torch
            whole = {"date": datetime.date.today().isoformat(), "machine": platform.processor() or platform.machine(),
                     "cores": os.cpu_count(), "version": version, "torch": torch.__version__,
                     "settings": {key: value for key, value in vars(choices).items() if key not in ("weir", "record")},
                     "rows": rows}
            for line in [whole, *lines]:
                file.write(json.dumps(line, default=str) + "\n")


if __name__ == "__main__":
    main()
