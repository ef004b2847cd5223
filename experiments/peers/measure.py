#!/usr/bin/env python3
"""Measures Weir's sums of gradients and those of Gloo and Open MPI in turn, so that any disturbance of the
machine affects all: in a lab of shaped links, over the loopback interface, and through shared memory. Prints
a table and writes a record of every round: a line of JSON about the whole, then one for each row.
Run: experiments/peers/measure.py [--worlds lab,tcp,shm] [--sizes 4,16,64,256] [--repetitions 3]
                                  [--rounds 3]"""

import argparse
import datetime
import json
import os
import platform
import statistics
import sys
from pathlib import Path

import contenders
from contenders import HOST, Gloo, Mpi, Weir

ROOT = contenders.HERE.parent.parent
LAB = ROOT / "topologies" / "lab-4.json"
CPU_MACHINES = 4
MIB = 1 << 20

DYNAMIC = {"coll_tuned_use_dynamic_rules": "1"}
ALGORITHMS = {"default": {}, "ring": {**DYNAMIC, "coll_tuned_allreduce_algorithm": "4"},
              "segmented ring": {**DYNAMIC, "coll_tuned_allreduce_algorithm": "5"},
              "Rabenseifner": {**DYNAMIC, "coll_tuned_allreduce_algorithm": "6"}}
YIELDING = {"mpi_yield_when_idle": "1"}
PLANNED = ("--set", "partition_size=4MB", "--set", "finest_part=128KiB")
GLOO = ["ring", "ring_chunked", "halving_doubling", "bcube"]


def cpu_machines(count):
    return ("--set", f"topology.groups.cpu.count={count}")


def in_lab(weir, programs):
    own = []
    for count in range(CPU_MACHINES + 1):
        options = cpu_machines(count)
        if count < CPU_MACHINES:  # in a lab of its own, since the peers' lab has other machines
            options += ("--set", f"topology.name=lab-4-{count}")
        own.append(Weir(weir, "lab.json", "lab", f"k = {count}", options))
    return own + [Gloo(programs["gloo"], algorithm) for algorithm in GLOO] + [
        Mpi(programs["mpi"], "tcp", name, {**ALGORITHMS[name], **YIELDING}) for name in ("default", "ring")]


def on_host(weir, programs, transport):
    one = ("--channels", "1", "--io-threads", "1")
    settings = {"as it is": (), "parts as the planner cuts": PLANNED, "one thread and channel": one,
                "one thread and channel, parts as the planner cuts": one + PLANNED,
                "ring": ("--set", "strategies=[\"ring\"]", "--set", "baseline=ring")}
    own = [Weir(weir, "loopback.json", "local", setting, ("--transport", transport, *options))
           for setting, options in settings.items()]
    peers = [Gloo(programs["gloo"], algorithm) for algorithm in GLOO] if transport == "tcp" else []
    layer = "tcp" if transport == "tcp" else "vader"
    for name, options in ALGORITHMS.items():
        peers.append(Mpi(programs["mpi"], layer, f"{name}, yielding", {**options, **YIELDING}))
    return own + peers + [Mpi(programs["mpi"], layer, "default")]


def measure(all_of_them, size, place, choices):
    """The rounds of each contender, in order."""
    rounds = [[] for _ in all_of_them]
    for repetition in range(choices.repetitions):
        for taken, one in zip(rounds, all_of_them):
            try:
                taken += one.rounds(size, choices.rounds, place)
            except (contenders.Failure, ValueError) as error:
                print(f"{one.who}, {one.setting}: {error}", file=sys.stderr)
            if sys.stderr.isatty():
                print(f"\r\033[K{repetition + 1} of {choices.repetitions}: {one.who}, {one.setting}", end="",
                      file=sys.stderr)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return rounds


def show(world, size, all_of_them, rounds):
    """Prints the table of one world and size, and returns its rows."""
    rows = [{"world": world, "bytes": size, "who": one.who, "setting": one.setting,
             "median_s": statistics.median(taken), "rounds_s": taken}
            for one, taken in zip(all_of_them, rounds) if taken]
    print(f"\n{world}, {size / MIB:g} MiB on {contenders.WORKERS} workers")
    own = [row["median_s"] for row in rows if row["who"] == "Weir"]
    best = min(own, default=None)
    for row in rows:
        ratio = f"{row['median_s'] / best:6.2f}" if best else ""
        print(f"  {row['who']:9} {row['setting']:40} {row['median_s'] * 1e3:9.1f} ms {ratio}", flush=True)
    peers = [row["median_s"] for row in rows if row["who"] != "Weir"]
    if own and peers:
        print(f"  Weir is {min(peers) / best:.2f} times as fast as the best peer")
    return rows


def machine():
    processor = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                      if line.startswith("model name")), platform.machine())
    return {"processor": processor, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "load": os.getloadavg()}


def versions(weir):
    return {
        "weir": contenders.output_of(lambda _: [weir, "--version"]).strip(),
        "packages": [package for name in ("libgloo-dev", "libopenmpi-dev") for package in installed(name)]
    }


def installed(package):
    """Its name and version, if it is a package of the distribution."""
    try:
        return [contenders.output_of(
            lambda _: ["dpkg-query", "--show", "--showformat=${Package} ${Version}", package])]
    except (contenders.Failure, OSError):
        return []


def choices_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\nRun:")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release",
                        help="where the programs are")
    parser.add_argument("--worlds", default="lab,tcp,shm")
    parser.add_argument("--sizes", default="4,16,64,256", help="MiB, for loopback and shared memory")
    parser.add_argument("--lab-size", type=int, default=256, help="MiB, for the lab")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3,
                        help="rounds of each repetition, after one that warms up")
    parser.add_argument("--out", type=Path, help="the record's file (measured/DATE.jsonl)")
    return parser.parse_args(arguments)


def main():
    choices = choices_of(sys.argv[1:])
    weir = str(choices.build / "weir")
    programs = {
        name: str(choices.build / "experiments" / "peers" / f"peer_{name}") for name in ("gloo", "mpi")
    }
    absent = [program for program in (weir, *programs.values()) if not Path(program).exists()]
    if absent:
        sys.exit(
            f"measure: {', '.join(absent)} missing; scripts/install-peers installs what they are built with")
    now = datetime.datetime.now(datetime.timezone.utc)
    record = {"date": now.isoformat(timespec="seconds"), "machine": machine(), "versions": versions(weir)}
    rows = []
    for world in choices.worlds.split(","):
        if world == "lab":
            with contenders.lab(weir, LAB, cpu_machines(CPU_MACHINES)) as place:
                everyone = in_lab(weir, programs)
                size = choices.lab_size * MIB
                rows += show(world, size, everyone, measure(everyone, size, place, choices))
            continue
        everyone = on_host(weir, programs, world)
        for size in (int(word) * MIB for word in choices.sizes.split(",")):
            rows += show(world, size, everyone, measure(everyone, size, HOST, choices))
    record["machine"]["load_at_the_end"] = os.getloadavg()
    file = choices.out or contenders.HERE / "measured" / f"{now:%Y-%m-%d-%H%M}.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in [record, *rows]))
    print(f"\n{file} holds every round")


if __name__ == "__main__":
    main()
