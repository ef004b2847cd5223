#!/usr/bin/env python3
"""How many trials a search needs, and how long an iteration takes by partition size.
README.md has the results.

Run: experiments/tuning/measure.py WEIR [FOLDER]
Writes a file of one line of JSON for each strategy and model into the folder (experiments/tuning/measured),
and prints tables in Markdown: after how many trials searches came within 2 % of the best of a grid of at most
60 points, how far from the best of all points they ended, and how much longer an iteration takes by partition
size, with the best credit.

Run: experiments/tuning/measure.py --tables [FOLDER]
Prints the tables of what the folder holds.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = {"VGG-16": "vgg-16", "ResNet-50": "recorded/resnet-50-h200", "Transformer": "transformer-base"}
MOST = {"ps": 15, "bytescheduler": 25}  # trials
SEEDS = range(1, 11)
NEAR = 1.02
GRID = 60


def tune(weir, strategy, model, *more):
    trace = HERE.parents[1] / "traces" / f"{MODELS[model]}.json"
    command = [weir, "tune", str(HERE), "--strategy", strategy, "--set", f"trace={trace}", "--json", *more]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def times(found):
    return [trial["iteration_ns"] for trial in found["trials"]]


def needed(found, best):
    """The first trial within 2 % of that; None if there is none."""
    return next((i for i, time in enumerate(times(found), 1) if time <= NEAR * best), None)


def trials_of(found):
    return [{**trial["settings"], "iteration_ns": trial["iteration_ns"]} for trial in found["trials"]]


def measure(weir, strategy, model):
    whole = tune(weir, strategy, model, "--method", "grid")
    grid = tune(weir, strategy, model, "--method", "grid", "--trials", str(GRID))
    most = str(MOST[strategy])
    searches = {method: [tune(weir, strategy, model, "--method", method, "--trials", most,
                              "--seed", str(seed)) for seed in SEEDS] for method in ("bayes", "random")}
    best = min(times(grid))
    return {"weir": whole["weir"], "strategy": strategy, "model": model, "world": whole["world"],
            "values": whole["values"], "grid_points": len(grid["trials"]), "grid_best_ns": best,
            "all": trials_of(whole),
            "searches": {method: [trials_of(one) for one in found] for method, found in searches.items()},
            "needed": {method: [needed(one, best) for one in found] for method, found in searches.items()}}


def median_and_worst(needed_by_seed, most):
    missed = sum(one is None for one in needed_by_seed)
    numbers = [most + 1 if one is None else one for one in needed_by_seed]
    last = f"not in {most} with {missed}" if missed else str(max(numbers))
    return f"{statistics.median(numbers):g}, {last}"


def curve(case):
    """The lowest time for each partition size, over the lowest of all."""
    least = {}
    for one in case["all"]:
        least[one["partition_size"]] = min(one["iteration_ns"], least.get(one["partition_size"], 10**18))
    best = min(least.values())
    return {size: time / best for size, time in least.items()}


def ended(case, method):
    """How far searches ended from the best of all points: median and worst, in percent."""
    best = min(one["iteration_ns"] for one in case["all"])
    off = [100 * (min(one["iteration_ns"] for one in found) / best - 1) for found in case["searches"][method]]
    return f"{statistics.median(off):.1f}, {max(off):.1f} %"


def tables(cases):
    print(
        "| strategy | model | grid's points, best | best of 180 | Bayes needs: median, worst | random needs "
        "| Bayes ends above the best of 180 | random ends |")
    print("|---" * 8 + "|")
    for case in cases:
        most = MOST[case["strategy"]]
        best = min(one["iteration_ns"] for one in case["all"])
        print(f"| {case['strategy']} | {case['model']} "
              f"| {case['grid_points']}, {case['grid_best_ns'] / 1e6:.1f} ms "
              f"| {best / 1e6:.1f} ms | {median_and_worst(case['needed']['bayes'], most)} "
              f"| {median_and_worst(case['needed']['random'], most)} "
              f"| {ended(case, 'bayes')} | {ended(case, 'random')} |")
    sizes = ["0.2MB", "0.4MB", "0.6MB", "1MB", "2MB", "4MB", "8MB", "15MB", "30MB", "60MB"]
    print("\n| strategy | model | " + " | ".join(sizes) + " |")
    print("|---" * (2 + len(sizes)) + "|")
    for case in cases:
        longer = curve(case)
        cells = " | ".join(f"{longer[size]:.2f}" for size in sizes)
        print(f"| {case['strategy']} | {case['model']} | {cells} |")


def main(arguments):
    folder = Path(arguments[1] if len(arguments) > 1 else HERE / "measured")
    folder.mkdir(exist_ok=True)
    cases = []
    for strategy in MOST:
        for model in MODELS:
            file = folder / f"{strategy}-{model.lower()}.jsonl"
            if arguments[0] != "--tables":
                file.write_text(
                    json.dumps(measure(str(Path(arguments[0]).resolve()), strategy, model)) + "\n")
            cases.append(json.loads(file.read_text()))
    tables(cases)


if __name__ == "__main__":
    main(sys.argv[1:])
