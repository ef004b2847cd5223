"""Records what a model does in one iteration, as a trace that Weir plans and simulates with
(traces/README.md).

    weir trace record my_model.py --out my_model.json

runs `iteration_to_trace()` of the file, which returns the model, a function that runs forward and backward
once, the number of samples in that, and what a sample is called.
"""

import argparse
import json
import platform
import runpy
import statistics
import time
from typing import Any, Callable, Dict, List, Tuple

import torch
from torch import nn

from ._hooks import when_accumulated

DTYPES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64"}


class Marks:
    """Points in time of one iteration: of the GPU's stream if the model is on one, else of this process."""

    def __init__(self, device: torch.device):
        self._device = device
        self._marks: Dict[str, Any] = {}

    def set(self, name: str) -> None:
        """Now; a name that is set again keeps the later time."""
        if self._device.type == "cuda":
            event = torch.cuda.Event(enable_timing=True)
            event.record(torch.cuda.current_stream(self._device))
            self._marks[name] = event
        else:
            self._marks[name] = time.perf_counter()

    def set_first(self, name: str) -> None:
        """Now; a name that is set already keeps its time."""
        if name not in self._marks:
            self.set(name)

    def seconds(self, begin: str) -> Dict[str, float]:
        """Of every mark, since `begin`."""
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
            return {name: self._marks[begin].elapsed_time(mark) / 1e3 for name, mark in self._marks.items()}
        return {name: mark - self._marks[begin] for name, mark in self._marks.items()}


def layers_of(model: nn.Module,
              iteration: Callable[[], Any]) -> List[Tuple[str, List[Tuple[str, nn.Parameter]]]]:
    """The modules that own parameters which learn, by name, in the order of their first forward. A parameter
    that several share is the first one's."""
    order: List[str] = []
    removers = [module.register_forward_pre_hook(lambda _module, _inputs, name=name: order.append(name))
                for name, module in model.named_modules()]
    iteration()
    for remover in removers:
        remover.remove()
    modules, seen, layers = dict(model.named_modules()), set(), []
    for name in dict.fromkeys(order):
        own = [(f"{name}.{parameter_name}".lstrip("."), parameter)
               for parameter_name, parameter in modules[name].named_parameters(recurse=False)
               if parameter.requires_grad and id(parameter) not in seen]
        seen.update(id(parameter) for _, parameter in own)
        if own:
            layers.append((name or "model", own))
    missing = [
        name for name, parameter in model.named_parameters()
        if parameter.requires_grad and id(parameter) not in seen
    ]
    if missing:
        raise ValueError(
            f"{missing[0]} belongs to a module whose forward is not called: its layer has no time")
    return layers


def record(model: nn.Module, iteration: Callable[[], Any], *, name: str, batch: int = 1,
           sample: str = "sample", steps: int = 20, warm_up: int = 5) -> Dict[str, Any]:
    """The trace, as its JSON. `iteration` runs the model forward and backward once, on what it likes. A
    layer's forward lasts until the next one's begins, and its backward from when the gradients of the layer
    behind it are there until its own are: so the times of all layers are the iteration's. Medians of `steps`
    iterations."""
    device = next(model.parameters()).device
    for _ in range(warm_up):
        iteration()
    layers = layers_of(model, iteration)
    modules = dict(model.named_modules())
    current = [Marks(device)]
    removers = [model.register_forward_hook(lambda _module, _inputs, output: _watch(output, current))]
    for index, (layer, parameters) in enumerate(layers):
        module = model if layer == "model" and layer not in modules else modules[layer]
        removers.append(module.register_forward_pre_hook(
            lambda _module, _inputs, index=index: current[0].set_first(f"forward {index}")))
        for _, parameter in parameters:
            removers.append(when_accumulated(
                parameter, lambda _parameter, index=index: current[0].set(f"backward {index}")))
    whole, times = [], []
    for _ in range(steps):
        model.zero_grad(set_to_none=True)
        current[0] = Marks(device)
        current[0].set("begin")
        iteration()
        times.append(current[0].seconds("begin"))
    for remover in removers:
        remover.remove()
    for _ in range(steps):  # as it runs without being watched
        model.zero_grad(set_to_none=True)
        marks = Marks(device)
        marks.set("begin")
        iteration()
        marks.set("end")
        whole.append(marks.seconds("begin")["end"])
    rows = [{"name": layer, "forward": "", "backward": "",
             "tensors": [{"name": tensor, "elements": parameter.numel(), "dtype": DTYPES[parameter.dtype]}
                         for tensor, parameter in parameters]} for layer, parameters in layers]
    for index, row in enumerate(rows):
        row["forward"] = _nanoseconds([_forward(one, index, len(rows)) for one in times])
        row["backward"] = _nanoseconds([_backward(one, index, len(rows)) for one in times])
    on_gpu = device.type == "cuda"
    machine = torch.cuda.get_device_name(device) if on_gpu else f"{platform.machine()}, one process"
    unwatched = statistics.median(whole) * 1e3
    source = (f"recorded by weir.torch.trace on {machine} with PyTorch {torch.__version__}: "
              f"medians of {steps} iterations; one that is not watched takes {unwatched:.3f} ms")
    return {"name": name, "source": source, "batch": batch, "sample": sample, "layers": rows}


def _watch(output: Any, current: List[Marks]) -> None:
    if isinstance(output, torch.Tensor) and output.requires_grad:
        output.register_hook(lambda _gradient: current[0].set_first("turn"))


def _forward(times: Dict[str, float], index: int, layers: int) -> float:
    begin = times[f"forward {index}"] if index > 0 else 0.0
    if index + 1 < layers:
        return times[f"forward {index + 1}"] - begin
    return times.get("turn", begin) - begin


def _backward(times: Dict[str, float], index: int, layers: int) -> float:
    """From when all layers behind have their gradients, in whatever order these came."""
    behind = max([times.get("turn", 0.0)] + [times[f"backward {i}"] for i in range(index + 1, layers)])
    return max(0.0, times[f"backward {index}"] - behind)


def _nanoseconds(seconds: List[float]) -> str:
    return f"{round(statistics.median(seconds) * 1e9)}ns"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="weir trace record", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="a Python file with a function iteration_to_trace()")
    parser.add_argument("--out", required=True, help="the trace file to write")
    parser.add_argument("--name", help="the name of the trace (the name of the file)")
    parser.add_argument("--steps", type=int, default=20, help="iterations to take the medians of")
    options = parser.parse_args()
    found = runpy.run_path(options.file).get("iteration_to_trace")
    if found is None:
        raise SystemExit(
            f"{options.file} has no function iteration_to_trace(). It must return the model, a function that "
            "runs forward and backward once, the number of samples in that, and what a sample is called")
    model, iteration, batch, sample = found()
    name = options.name or options.file.rsplit("/", 1)[-1].removesuffix(".py")
    trace = record(model, iteration, name=name, batch=batch, sample=sample, steps=options.steps)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(trace, file, indent=1)
        file.write("\n")
    print(f"{options.out}: {len(trace['layers'])} layers; {trace['source']}")


if __name__ == "__main__":
    main()
