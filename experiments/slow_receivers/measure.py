#!/usr/bin/env python3
"""Measures, on two RDMA devices of this host, the cost of three things that slow receivers down: messages
that begin within a page, writes of several scatter-gather entries, and a loop through the NIC instead of
shared memory. All run in turn, several times; medians count. Prints a table and writes a record: a line of
JSON about the whole, then one for each row.
Run: experiments/slow_receivers/measure.py --addresses A,B [--sizes 64KiB,1MiB,4MiB] [--out FILE]"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def cases(addresses):
    """The measurements by name: options of weir bench transport, and the rate that counts."""
    first, second = addresses
    devices = ["--engine", "rdma", "--addresses", f"{first},{second}"]
    return {
        "as it should be": (devices, "writes_bytes_per_s"),
        "begins within a page": ([*devices, "--offset", "68B"], "writes_bytes_per_s"),
        "three entries": ([*devices, "--entries", "3"], "writes_bytes_per_s"),
        "through shared memory": (["--engine", "shm"], "nodes_bytes_per_s"),
        "through the NIC and back": (["--engine", "rdma", "--addresses", f"{first},{first}"],
                                     "nodes_bytes_per_s"),
    }


def measure(weir, options, rate, size, seconds):
    done = subprocess.run([weir, "bench", "transport", *options, "--sizes", size, "--channels", "1",
                           "--io-threads", "1", "--seconds", str(seconds), "--repetitions", "1", "--json"],
                          capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise SystemExit(f"weir bench transport {' '.join(options)}: {done.stderr or done.stdout}")
    document = json.loads(done.stdout)
    return document["weir"], document["rows"][0][rate]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--addresses", required=True, help="addresses of the two devices: A,B")
    parser.add_argument("--sizes", default="64KiB,1MiB,4MiB", help="sizes of messages")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1, help="seconds of each measurement")
    parser.add_argument("--machine", default=platform.node(), help="this host's name in the record")
    parser.add_argument("--weir", type=Path, default=ROOT / "build/release/weir")
    parser.add_argument("--out", type=Path, help="the record's file")
    words = parser.parse_args()
    addresses = words.addresses.split(",")
    if words.repetitions < 1:
        parser.error("--repetitions: expected at least 1")
    if len(addresses) != 2:
        parser.error("--addresses: expected two, such as 10.0.0.1,10.0.0.2")
    sizes = words.sizes.split(",")
    rates = {}
    version = ""
    for _ in range(words.repetitions):
        for size in sizes:
            for name, (options, rate) in cases(addresses).items():
                version, value = measure(words.weir, options, rate, size, words.seconds)
                rates.setdefault((name, size), []).append(value)
    rows = [{"case": name, "message": size, "bytes_per_s": statistics.median(rates[name, size]),
             "all": rates[name, size]} for name in cases(addresses) for size in sizes]
    print("| messages of | " + " | ".join(sizes) + " |\n|---" + "|---" * len(sizes) + "|")
    for name in cases(addresses):
        shown = [f"{row['bytes_per_s'] / 1e6:.0f} MB/s" for row in rows if row["case"] == name]
        print(f"| {name} | " + " | ".join(shown) + " |")
    if words.out:
        header = {"date": datetime.date.today().isoformat(), "weir": version, "machine": words.machine,
                  "kernel": os.uname().release, "cpus": os.cpu_count(), "seconds": words.seconds,
                  "repetitions": words.repetitions}
        words.out.write_text("".join(json.dumps(line) + "\n" for line in [header, *rows]), encoding="utf-8")


if __name__ == "__main__":
    main()
