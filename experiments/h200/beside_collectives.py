"""What an all-reduce takes from computing on the same GPU: the copies of gradients into buckets, and a
model's step beside a kernel that holds as many multiprocessors as NCCL's channels do, beside copies to and
from host memory, and beside both. Needs PyTorch with one GPU, and nvcc.

    python3 experiments/h200/beside_collectives.py > experiments/h200/measured/DATE-beside.jsonl

Writes a JSON object a line: the median of a step's time over that of the step alone, both taken in turn.
"""

import ctypes
import datetime
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

ROUNDS = 15  # of each pair
BUFFER = 16 << 20  # bytes a channel
BUCKET = 25 << 20  # bytes, the default of DDP


def built(folder):
    source = Path(__file__).with_name("held_processors.cu")
    library = Path(folder) / "held.so"
    subprocess.run(["nvcc", "-O2", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", library, source],
                   check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.hold_processors.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                       ctypes.c_int, ctypes.c_double, ctypes.c_void_p)
    return loaded


class Held:
    """Multiprocessors held on a stream of their own while the context lasts."""

    def __init__(self, library, channels, rate):
        self.library, self.channels, self.rate = library, channels, rate
        self.stream = torch.cuda.Stream(priority=-1)
        self.ends = torch.cuda.Stream(priority=-1)
        self.stop = torch.zeros(1, dtype=torch.int32, device="cuda")
        self.one = torch.ones(1, dtype=torch.int32).pin_memory()
        self.buffers = [torch.zeros(max(1, channels) * BUFFER // 4, device="cuda") for _ in range(2)]

    def __enter__(self):
        self.stop.zero_()
        torch.cuda.synchronize()
        if self.channels:
            error = self.library.hold_processors(
                self.stop.data_ptr(), self.buffers[0].data_ptr(), self.buffers[1].data_ptr(), BUFFER // 16,
                self.channels, self.rate / 1e9, self.stream.cuda_stream)
            assert error == 0, error

    def __exit__(self, *_):
        with torch.cuda.stream(self.ends):
            self.stop.copy_(self.one, non_blocking=True)
        self.stream.synchronize()


class Copies:
    """Copies between GPU and host memory, both ways at once, while the context lasts."""

    def __init__(self, directions):
        self.streams = [torch.cuda.Stream() for _ in directions]
        self.pairs = []
        for direction in directions:
            host = torch.empty(64 << 20, dtype=torch.uint8, pin_memory=True)
            device = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
            self.pairs.append((host, device) if direction == "out" else (device, host))

    def start(self, seconds):
        for stream, (into, out) in zip(self.streams, self.pairs):
            with torch.cuda.stream(stream):
                for _ in range(int(seconds * 60e9 / (64 << 20)) + 2):
                    into.copy_(out, non_blocking=True)


def transformer():
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 12).cuda(), torch.randn(16, 512, 1024, device="cuda")


def convolutions():
    blocks = [torch.nn.Conv2d(3, 64, 7, 2, 3)]
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for index in range(count):
            before = blocks[-1].out_channels
            blocks += [torch.nn.Conv2d(before, width, 1), torch.nn.BatchNorm2d(width), torch.nn.ReLU(),
                       torch.nn.Conv2d(width, width, 3, 2 if index == 0 and width > 64 else 1, 1),
                       torch.nn.BatchNorm2d(width), torch.nn.ReLU(), torch.nn.Conv2d(width, 4 * width, 1)]
    return (torch.nn.Sequential(*blocks).cuda().to(memory_format=torch.channels_last),
            torch.randn(64, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last))


def step_of(model, batch, half):
    def step():
        model.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=half):
            loss = model(batch).float().square().mean()
        loss.backward()
    return step


def seconds(step):
    """From the first launch to the end of the last kernel, with pauses while the host still launches."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    step()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def slowdown(step, held, copies):
    alone, beside = [], []
    for _ in range(ROUNDS):
        torch.cuda.synchronize()
        alone.append(seconds(step))
        with held:
            if copies:
                copies.start(1.2 * alone[-1])
            beside.append(seconds(step))
        torch.cuda.synchronize()
    return statistics.median(alone), statistics.median(b / a for a, b in zip(alone, beside))


def flattening(model):
    """Seconds to copy all gradients into buckets and back, tensor by tensor as DDP does, by bytes."""
    gradients = [parameter.grad for parameter in model.parameters()]
    total = sum(gradient.numel() for gradient in gradients)
    flat = torch.empty(total, device="cuda")
    views, at = [], 0
    for gradient in gradients:
        views.append(flat[at:at + gradient.numel()].view_as(gradient))
        at += gradient.numel()

    def into():
        for view, gradient in zip(views, gradients):
            torch.mul(gradient, 0.25, out=view)  # DDP divides while it copies

    def back():
        for view, gradient in zip(views, gradients):
            gradient.copy_(view)
    result = {}
    for name, action in (("into", into), ("back", back)):
        action()
        result[name] = statistics.median(seconds(action) for _ in range(ROUNDS))
    return {"bytes": 4 * total, "tensors": len(gradients), **result}


def write(**line):
    print(json.dumps(line), flush=True)


def measure(library):
    properties = torch.cuda.get_device_properties(0)
    write(date=datetime.date.today().isoformat(), gpu=properties.name,
          processors=properties.multi_processor_count, torch=torch.__version__, rounds=ROUNDS)
    torch.backends.cuda.matmul.allow_tf32 = True
    for name, make, half in (("transformer", transformer, True), ("transformer, tf32", transformer, False),
                             ("convolutions", convolutions, True)):
        model, batch = make()
        step = step_of(model, batch, half)
        for _ in range(8):
            step()
        write(model=name, flattening=flattening(model))
        points = [(channels, 0.0, ()) for channels in (0, 1, 2, 4, 8, 16, 24, 32)]
        points += [(8, rate, ()) for rate in (10e9, 50e9, 200e9)]
        points += [(24, rate, ()) for rate in (200e9, 800e9)]
        points += [(0, 0.0, ("out",)), (0, 0.0, ("in",)), (0, 0.0, ("out", "in")), (8, 50e9, ("out", "in"))]
        for channels, rate, directions in points:
            alone, ratio = slowdown(step, Held(library, channels, rate), Copies(directions))
            write(model=name, channels=channels, memory_bytes_per_s=rate, copies=list(directions),
                  step_s=alone, ratio=ratio)


def main():
    with tempfile.TemporaryDirectory() as folder:
        measure(built(folder))


if __name__ == "__main__":
    sys.exit(main())
