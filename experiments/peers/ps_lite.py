#!/usr/bin/env python3
"""Compares messages between two nodes with those of ps-lite. Its two processes, whose receiving threads slept
instead of spinning, moved 13.8 Gbps each way in messages of 4 MiB on two cores where one stream of iperf3
(writes of 1 MiB) made at least 39 Gbps one way. Here iperf3 and weir bench transport take turns, and the
nodes must move 1.2 times as large a share of iperf3's rate. Prints the medians and writes a line of JSON.
Run: experiments/peers/ps_lite.py [--repetitions 5]"""

import argparse
import datetime
import json
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import contenders
import measure

PS_LITE = 13.8e9 / 8  # bytes per second, each way
RAW = 39e9 / 8  # iperf3's at the same time, the lowest of several
FACTOR = 1.2
SECONDS = 3  # of iperf3
DEADLINE = 60


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def iperf3():
    """Bytes per second that arrive with iperf3."""
    port = free_port()
    server = subprocess.Popen(["iperf3", "--server", "--one-off", "--bind", "127.0.0.1", "--port", port],
                              stdout=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        printed = subprocess.run(["iperf3", "--client", "127.0.0.1", "--port", port, "--time", str(SECONDS),
                                  "--length", "1M", "--json"],
                                 check=True, capture_output=True, text=True, timeout=DEADLINE)
    finally:
        server.kill()
        server.wait()
    return json.loads(printed.stdout)["end"]["sum_received"]["bits_per_second"] / 8


def nodes(weir):
    """Bytes per second each way between two nodes."""
    printed = contenders.output_of(lambda _: [weir, "bench", "transport", "--sizes", "4MiB", "--json"])
    return json.loads(printed)["rows"][0]["nodes_bytes_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\nRun:")[0])
    parser.add_argument("--build", type=Path, default=measure.ROOT / "build" / "release",
                        help="the folder with weir")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", type=Path, help="the record's file (measured/DATE-ps-lite.jsonl)")
    choices = parser.parse_args()
    weir = str(choices.build / "weir")
    now = datetime.datetime.now(datetime.timezone.utc)
    rounds = [(iperf3(), nodes(weir)) for _ in range(choices.repetitions)]
    raw, moved = (statistics.median(column) for column in zip(*rounds))
    bar = FACTOR * PS_LITE * raw / RAW
    record = {
        "date": now.isoformat(timespec="seconds"), "machine": measure.machine(),
        "weir": contenders.output_of(lambda _: [weir, "--version"]).strip(), "message_bytes": 4 * measure.MIB,
        "iperf3_bytes_per_s": [one for one, _ in rounds], "nodes_bytes_per_s": [one for _, one in rounds],
        "bar_bytes_per_s": bar
    }
    file = choices.out or contenders.HERE / "measured" / f"{now:%Y-%m-%d}-ps-lite.jsonl"
    file.write_text(json.dumps(record) + "\n")
    print(f"iperf3, one stream one way    {raw / 1e9:6.2f} GB/s")
    print(f"ps-lite, so scaled, times {FACTOR} {bar / 1e9:6.2f} GB/s each way")
    print(f"nodes                         {moved / 1e9:6.2f} GB/s each way, {moved / bar:.2f} times that")
    print(f"{file} holds every round")
    return 0 if moved >= bar else 1


if __name__ == "__main__":
    sys.exit(main())
