#!/usr/bin/env python3
"""Records the examples' models on the GPU of this host, as traces: traces/recorded/NAME.json.
Run: PYTHONPATH=frontends/python python3 traces/record.py [--out FOLDER] [NAME...]"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent

# file -> the example's model; pictures or texts of an iteration; tokens of a text. They are so many that the
# GPU limits the time, and not the process that gives it work.
MODELS = {
    "resnet-50-h200": ("resnet50", 256, None),
    "vgg-16-h200": ("vgg16", 64, None),
    "bert-large-h200": ("bert-large", 64, 256),
    "gpt-2-h200": ("gpt2", 16, 1024),
}


def examples():
    spec = importlib.util.spec_from_file_location("models",
                                                  ROOT / "frontends" / "python" / "examples" / "models.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(name, device, wrapped=None):
    """The model with that name in MODELS on the device, wrapped by `wrapped` if given, and a function that
    runs it forward and backward once, in bf16 on a GPU."""
    models = examples()
    model_name, batch, tokens = MODELS[name]
    make, data_for, _ = models.MODELS[model_name]
    model = make().to(device)
    if tokens is not None:
        data_for = models.texts(model.token.num_embeddings, tokens)
    data, target = data_for(batch, device)
    if wrapped is not None:
        model = wrapped(model)

    def iteration():
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            loss = models.loss(model(data), target)
        loss.backward()

    return model, iteration


def main():
    from weir.torch import trace  # imported here, because record_kineto.py uses this file without Weir

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(MODELS)} (all)")
    parser.add_argument("--out", type=Path, default=ROOT / "traces" / "recorded")
    options = parser.parse_args()
    torch.manual_seed(0)
    for name in options.names or MODELS:
        if name not in MODELS:
            sys.exit(f"unknown model '{name}'; expected one of {', '.join(MODELS)}")
        _, batch, tokens = MODELS[name]
        model, iteration = made(name, "cuda")
        found = trace.record(model, iteration, name=name, batch=batch * (tokens or 1),
                             sample="token" if tokens else "image", steps=30, warm_up=10)
        times = {
            way: sum(int(layer[way][:-2]) for layer in found["layers"]) / 1e6
            for way in ("forward", "backward")
        }
        found["source"] += "; computed in bf16 (autocast), parameters and gradients in f32"
        options.out.mkdir(parents=True, exist_ok=True)
        file = options.out / f"{name}.json"
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"{file.name}: {len(found['layers'])} layers, forward {times['forward']:.3f} ms, backward "
              f"{times['backward']:.3f} ms; {found['source']}", flush=True)
        del model


if __name__ == "__main__":
    main()
