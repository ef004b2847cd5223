"""Random jobs for the soak: what is run, and how."""

import json
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

APPS = Path(__file__).resolve().parents[1] / "apps"
sys.path[:0] = [str(APPS), str(APPS / "real")]

from real import STRATEGIES  # noqa: E402  pylint: disable=wrong-import-position

ON_CPUS = {"ps"}  # impossible without machines that have no GPU


@dataclass
class Job:
    """One job: everything about it follows from its seed and what is to happen to it."""

    seed: int
    happens: str  # nothing, kill, stop, long
    where: str    # lab, local
    gpus: int = 0
    cpus: int = 0
    strategy: str = ""
    iterations: int = 0
    options: list = field(default_factory=list)
    experiment: dict = field(default_factory=dict)

    def machines(self):
        return [f"gpu[{i}]" for i in range(self.gpus)] + [f"cpu[{i}]" for i in range(self.cpus)]

    def write(self, folder):
        path = folder / "job.json"
        path.write_text(json.dumps(self.experiment, indent=1), encoding="utf-8")
        (folder / "topology.json").write_text(json.dumps(self.experiment["topology"]), encoding="utf-8")
        return path

    def __str__(self):
        return (f"{self.seed} {self.happens} on {self.where}: {self.strategy}, n = {self.gpus}, "
                f"k = {self.cpus}, {self.iterations} iterations, {' '.join(self.options)}")


def tensors(draw, largest):
    dtype = draw.choice(["f32", "f32", "f16", "bf16"])
    layers = []
    for layer in range(draw.randint(1, 4)):
        layers.append({"name": f"l{layer}", "forward": "100us", "backward": "200us", "tensors": [
            {"name": f"t{layer}.{i}", "elements": draw.choice([1, 17, 1000, largest // 7, largest]),
             "dtype": dtype}
            for i in range(draw.randint(1, 4))]})
    return layers


def random_job(seed, happens, where):
    draw = random.Random(f"{seed} {happens} {where}")
    job = Job(seed, happens, where)
    job.gpus = draw.randint(2, 4)
    job.cpus = draw.randint(0, 3)
    job.strategy = draw.choice([name for name in STRATEGIES if job.cpus > 0 or name not in ON_CPUS])
    job.iterations = {"nothing": draw.choice([20, 100, 300]), "long": 1500}.get(happens, 4000)
    rate = draw.choice(["1Gbps", "4Gbps", "10Gbps"])
    gpus = {"name": "gpu", "count": job.gpus, "numa": [{"memory_rate": "100GB/s"}],
            "gpus": [{"at": "numa0"}] * draw.choice([1, 1, 2]), "nics": [{"at": "numa0", "rate": rate}]}
    cpus = {"name": "cpu", "count": job.cpus, "nics": [{"at": "numa0", "rate": rate}]}
    layers = tensors(draw, draw.choice([3_000, 30_000] if happens == "long" else [3_000, 30_000, 300_000]))
    if happens in ("kill", "stop"):  # which must come before the job ends
        layers[0]["forward"] = "10ms"
    job.experiment = {
        "topology": {"name": f"soak-{seed}", "groups": [gpus] + ([cpus] if job.cpus else [])},
        "trace": {"name": "net", "layers": layers}, "strategies": [job.strategy], "baseline": job.strategy,
        "partition_size": draw.choice(["20KB", "100KB", "1MB"]), "policy": draw.choice(["fifo", "priority"]),
        "credit": draw.choice([1, 2, 4]), "iterations": job.iterations, "warm_up": 1}
    job.options = ["--verify", "--channels", str(draw.randint(1, 3)), "--io-threads", str(draw.randint(1, 2)),
                   "--workers", str(draw.randint(1, 2)), "--patience", "20"]
    if where == "local":
        job.options += ["--transport", draw.choice(["tcp", "shm"])]
    if "shm" not in job.options and draw.random() < 0.3:  # memory that is shared has no connections
        job.options.append("--encrypt")
    return job
