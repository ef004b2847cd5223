#!/usr/bin/env python3
"""Records the examples' models with PyTorch's own profiler, for `weir import kineto`:
NAME.json.gz, NAME-modules.json.gz with the names of modules (with_stack=True), and NAME.measured.json with
the times of iterations without and with the profiler.
Run: python3 traces/record_kineto.py --out FOLDER [--device cpu] [NAME...]
Several ranks, with DistributedDataParallel, write NAME-rank0.json.gz and so on:
torchrun --nproc_per_node 2 traces/record_kineto.py --out FOLDER"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

import record
import torch
from torch.profiler import ProfilerActivity, profile, schedule

WARM_UP, ACTIVE, UNWATCHED = 5, 2, 20

# A model that any CPU records in a second.
SMALL = {"mlp-small": ("mlp", 64, None)}


class Clock:
    """When each iteration begins: on the GPU's stream if there is one, else in this process."""

    def __init__(self, device):
        self._device = device
        self._marks = []

    def mark(self):
        if self._device == "cuda":
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self._marks.append(event)
        else:
            self._marks.append(time.perf_counter())

    def milliseconds(self):
        """From each mark to the next."""
        pairs = zip(self._marks, self._marks[1:])
        if self._device == "cuda":
            torch.cuda.synchronize()
            return [a.elapsed_time(b) for a, b in pairs]
        return [(b - a) * 1e3 for a, b in pairs]


def unwatched(training, device):
    """The median time of successive iterations, in ms."""
    for _ in range(WARM_UP):
        training()
    clock = Clock(device)
    for _ in range(UNWATCHED):
        clock.mark()
        training()
    clock.mark()
    return statistics.median(clock.milliseconds())


def watched(training, device, file, with_stack):
    """Writes the file; returns the time of each of its steps, in ms."""
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
    clock = Clock(device)
    with profile(activities=activities, schedule=schedule(wait=0, warmup=WARM_UP, active=ACTIVE, repeat=1),
                 record_shapes=True, with_stack=with_stack,
                 on_trace_ready=lambda profiler: profiler.export_chrome_trace(str(file))) as profiler:
        for step in range(WARM_UP + ACTIVE):
            clock.mark()
            training()
            if step + 1 == WARM_UP + ACTIVE:
                clock.mark()  # before the profiler stops and writes
            profiler.step()
    return clock.milliseconds()[WARM_UP:]


def joined(device):
    """The suffix of this process's files in a job of several processes."""
    if "RANK" not in os.environ:
        return ""
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl" if device == "cuda" else "gloo")
    return f"-rank{os.environ['RANK']}"


def main():
    models = {**record.MODELS, **SMALL}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"some of {', '.join(models)} (all but mlp-small)")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in models]
    if unknown:
        sys.exit(f"unknown model '{unknown[0]}'; expected one of {', '.join(models)}")
    if not torch.autograd.kineto_available():
        sys.exit(f"this PyTorch ({torch.__version__}) was built without Kineto; install PyTorch from PyPI")
    record.MODELS.update(SMALL)
    rank = joined(options.device)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or [name for name in models if name not in SMALL]:
        _, batch, tokens = models[name]
        torch.manual_seed(0)
        model, iteration = record.made(name, options.device,
                                       torch.nn.parallel.DistributedDataParallel if rank else None)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

        def training():
            optimizer.zero_grad(set_to_none=True)
            iteration()
            optimizer.step()

        on_gpu = options.device == "cuda"
        machine = torch.cuda.get_device_name() if on_gpu else f"{platform.machine()}, one process"
        measured = {
            "name": name, "pytorch": torch.__version__, "machine": machine,
            "batch": batch * (tokens or 1), "sample": "token" if tokens else "image",
            "unwatched_ms": unwatched(training, options.device), "recordings": {}
        }
        for suffix, with_stack in ((rank, False), (f"{rank}-modules", True)):
            file = options.out / f"{name}{suffix}.json.gz"
            step_ms = watched(training, options.device, file, with_stack)
            measured["recordings"][file.name] = {"step_ms": step_ms}
            print(f"{file.name}: {file.stat().st_size} bytes; steps of {step_ms} ms; "
                  f"unwatched {measured['unwatched_ms']:.3f} ms", flush=True)
        measured["parameters"] = [{
            "name": key, "elements": parameter.numel(), "dtype": str(parameter.dtype).split(".")[-1]
        } for key, parameter in model.named_parameters() if parameter.requires_grad]
        (options.out / f"{name}{rank}.measured.json").write_text(
            json.dumps(measured, indent=1) + "\n", encoding="utf-8")
        del model, optimizer, iteration, training
    if rank:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
