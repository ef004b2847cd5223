"""Real runs of a small experiment, and the processes of its machines."""

import json
import os
import subprocess
import time
from pathlib import Path

import program
from tiny import Case

GPUS = {"name": "gpu", "count": 3, "numa": [{"memory_rate": "100GB/s"}],
        "gpus": [{"at": "numa0"}, {"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]}
CPUS = {"name": "cpu", "count": 2, "nics": [{"at": "numa0", "rate": "8Gbps"}]}
# Of a machine's process at work: its own, three of the control channel, two that move bytes, one that sums.
THREADS = 7
# All but two, which run horovod's collectives over other buckets.
STRATEGIES = [name for name in program.strategies() if name not in ("ddp", "bytescheduler")]


def layers(dtype, elements, backward="1ms"):
    return [{"name": name, "forward": "1ms", "backward": backward,
             "tensors": [{"name": f"{name}{i}", "elements": elements + i, "dtype": dtype} for i in range(3)]}
            for name in ("a", "b")]


def nodes_of(process):
    """The processes of the run's machines, by machine."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if words[1:2] == [b"node"] and process.pid in ancestors(int(folder.name)):
                found[int(words[words.index(b"--machine") + 1])] = int(folder.name)
        except (OSError, ValueError):
            pass
    return found


def ancestors(pid):
    found = []
    while pid > 1:
        status = Path(f"/proc/{pid}/stat").read_text()
        pid = int(status[status.rindex(")") + 2:].split()[1])
        found.append(pid)
    return found


def threads(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def exists(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] != "Z"
    except OSError:
        return False


class Real(Case):
    def write(self, **more):
        whole = {"topology": {"name": "lab", "groups": [GPUS, CPUS]},
                 "trace": {"name": "net", "layers": layers("f32", 100_000)},
                 "strategies": STRATEGIES, "baseline": "ring", "partition_size": "100KB",
                 "iterations": 2, **more}
        (self.folder / "tiny.json").write_text(json.dumps(whole, indent=1))

    def run_on_local(self, *more):
        return self.run_weir("--on", "local", *more)

    def long_run(self, *more):
        """A run that takes minutes; its machines are at work."""
        self.write(strategies=["ring"], iterations=10_000,
                   trace={"name": "net", "layers": layers("f32", 100_000, "5ms")})
        process = subprocess.Popen(self.run_command("--on", "local", "--io-threads", "2", *more),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        for _ in range(300):
            nodes = nodes_of(process)
            if len(nodes) == 5 and all(threads(pid) >= THREADS for pid in nodes.values()):
                time.sleep(1)
                return process, nodes
            time.sleep(0.1)
        self.fail("the machines' processes did not come")

    def wait_for_key(self, key):
        deadline = time.monotonic() + 20
        while not (key.is_file() and key.read_text().endswith("}")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def gone(self, nodes):
        for _ in range(50):
            if not any(exists(pid) for pid in nodes.values()):
                return True
            time.sleep(0.1)
        return False
