#!/usr/bin/env python3
"""Measures sums of gradients on GPUs, in a lab of shaped links with a GPU for each machine: by Weir with
0 to 4 CPU machines, the same from host memory, and by NCCL's all-reduce, in turn. Prints a table and writes a
record: a line of JSON about the whole, then one for each row.
Run: experiments/h200/measure.py [--cases 0,1,2,3] [--repetitions 2]"""

import argparse
import csv
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "peers"))

import contenders  # noqa: E402
import measure as peers  # noqa: E402

# In bytes.
SIZE = 4 * json.loads((HERE / "lab.json").read_text())["trace"]["layers"][0]["tensors"][0]["elements"]
FAST = {"NCCL_SOCKET_NTHREADS": "4", "NCCL_NSOCKS_PERTHREAD": "2"}  # what NCCL needs to fill 25 Gbps


@dataclass(frozen=True)
class Case:
    """Equal GPU machines, and several numbers of CPU machines."""

    machines: int
    gpus: int  # of each machine
    cpus: tuple
    rate: str

    @property
    def name(self):
        gpus = f"{self.gpus} GPU{'s' if self.gpus > 1 else ''}"
        return f"{self.machines} machines of {gpus}, links of {self.rate}"

    def topology(self):
        """The arguments for weir that set the topology."""
        own = {
            "groups.gpu.count": self.machines, "groups.gpu.gpus.0.count": self.gpus,
            "groups.gpu.nics.0.rate": self.rate, "groups.cpu.nics.0.rate": self.rate
        }
        return [word for path, value in own.items() for word in ("--set", f"topology.{path}={value}")]


CASES = [Case(4, 1, (0, 1, 2, 3, 4), "10Gbps"), Case(4, 1, (0, 1, 2, 3, 4), "25Gbps"),
         Case(2, 1, (0, 2), "10Gbps"), Case(2, 2, (0, 2), "10Gbps")]


def weir_rows(weir, case, gpus, options):
    """The rows of results.csv, by the number of CPU machines."""
    with tempfile.TemporaryDirectory() as folder:
        contenders.output_of(lambda _: [weir, "run", HERE / "lab.json", "--on", "lab", "--no-plots",
                                        "--out", folder, "--set",
                                        f'sweep={{"topology.groups.cpu.count": {list(case.cpus)}}}',
                                        *case.topology(), *(["--gpus"] if gpus else []), *options])
        text = (Path(folder) / "results.csv").read_text()
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        return list(csv.DictReader(lines))


def gpus_of_host():
    printed = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                          capture_output=True, text=True, check=True).stdout
    return printed.strip().splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\nRun:")[0])
    parser.add_argument(
        "--programs", type=Path, default=ROOT / "build" / "release",
        help="the folder with weir; NCCL's program is in it or in its folder experiments/peers")
    parser.add_argument("--cases", default="0,1,2,3", help="which of the script's cases")
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--options", default="", help="further options of weir run, separated by spaces")
    parser.add_argument("--out", type=Path, help="the record's file (measured/DATE-TIME.jsonl)")
    choices = parser.parse_args()
    weir = str(choices.programs / "weir")
    beside = choices.programs / "peer_nccl"
    nccl = beside if beside.exists() else choices.programs / "experiments" / "peers" / "peer_nccl"
    now = datetime.datetime.now(datetime.timezone.utc)
    record = {
        "date": now.isoformat(timespec="seconds"), "machine": {**peers.machine(), "gpus": gpus_of_host()},
        "weir": contenders.output_of(lambda _: [weir, "--version"]).strip(), "options": choices.options
    }
    rows = []
    for case in (CASES[int(number)] for number in choices.cases.split(",")):
        peer = contenders.Nccl(str(nccl), "all-reduce", case.gpus, FAST)
        seconds = []
        own = []
        for _ in range(choices.repetitions):
            with contenders.lab(weir, ROOT / "topologies" / "gpu-lab-4.json", case.topology(),
                                case.machines) as place:
                seconds += peer.rounds(SIZE, 8, place)
            for gpus in (True, False):
                own += [{"case": case.name, "gpus": gpus, **row}
                        for row in weir_rows(weir, case, gpus, choices.options.split())]
        rows += [*own, {"case": case.name, "who": "NCCL", "seconds": seconds}]
        show(case, own, statistics.median(seconds))
    record["machine"]["load_at_the_end"] = os.getloadavg()
    file = choices.out or HERE / "measured" / f"{now:%Y-%m-%d-%H%M}.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in [record, *rows]))
    print(f"\n{file} holds every row")


def show(case, rows, nccl):
    print(f"\n256 MiB on {case.name}; NCCL's all-reduce takes {nccl * 1e3:.1f} ms")
    print("  CPU machines   from GPUs   over bound   over prediction   from hosts   "
          "NCCL takes so many times as long")
    for count in case.cpus:
        here = [row for row in rows if row["topology.groups.cpu.count"] == str(count)]
        own = {gpus: [row for row in here if row["gpus"] is gpus] for gpus in (True, False)}
        time, bound, predicted = (statistics.median(float(row[name]) for row in own[True])
                                 for name in ("iteration_ns", "bound_ns", "predicted_ns"))
        host = statistics.median(float(row["iteration_ns"]) for row in own[False])
        print(f"  {count:12} {time / 1e6:8.1f} ms {100 * (time / bound - 1):10.1f} % "
              f"{100 * (time / predicted - 1):15.1f} %"
              f" {host / 1e6:9.1f} ms {nccl * 1e9 / time:12.2f}", flush=True)


if __name__ == "__main__":
    main()
