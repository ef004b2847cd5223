"""Writes the traces that Weir ships: the tensors and layer times of well-known models.

    python3 traces/make_traces.py           writes one JSON file per trace beside this script
    python3 traces/make_traces.py --check   writes nothing; exits 1 if a file is not what it would write

README.md states the format and the rule that spreads an iteration's time over the layers.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

from architectures.bert import bert_large
from architectures.gpt import gpt_2
from architectures.layer import Layer
from architectures.resnet import resnet_50
from architectures.synthetic import large_tensors, three_layers
from architectures.transformer import transformer_base
from architectures.ugatit import ugatit
from architectures.vgg import vgg_16

FOLDER = Path(__file__).resolve().parent
RULE = ("A third of the time is forward and the rest backward, "
        "each layer's share of both in proportion to its multiply-adds.")


@dataclass(frozen=True)
class Trace:
    """A model on one GPU: `nanoseconds` is the whole iteration, `batch` its samples, and `architecture` and
    `time` say where the layers and the nanoseconds come from. A third of the time is forward unless `forward`
    says how much."""

    file: str
    name: str
    architecture: str
    time: str
    batch: int
    sample: str
    dtype: str
    nanoseconds: int
    layers: list[Layer]
    forward: int | None = None

    def source(self) -> str:
        rule = RULE if self.forward is None else ""
        return f"Architecture: {self.architecture}; time: {self.time}. {rule}".strip()


def shipped() -> list[Trace]:
    # One V100's time is its batch over its part of the linear-scaling line in the paper's figure.
    bert = bert_large(tokens=128, masked=20)
    gpt = gpt_2(tokens=1024)
    bert_nanoseconds = 490_000_000
    gpt_nanoseconds = bert_nanoseconds * work(gpt, samples=8) // work(bert, samples=64)
    return [
        Trace("resnet-50.json", "ResNet-50",
              "He et al., CVPR 2016, with the stride in the 3x3 convolutions",
              "BytePS, OSDI 2020, figure 15, 711.1 ms for 256 images on one V100",
              256, "image", "f32", 711_100_000, resnet_50()),
        Trace("vgg-16.json", "VGG-16",
              "Simonyan and Zisserman, ICLR 2015, configuration D",
              "BytePS, OSDI 2020, figure 4, 166.7 ms for 32 images on one V100",
              32, "image", "f32", 166_700_000, vgg_16()),
        Trace("vgg-16-batch-96.json", "VGG-16, batch 96",
              "Simonyan and Zisserman, ICLR 2015, configuration D",
              "BytePS, OSDI 2020, figure 15, 426.7 ms for 96 images on one V100",
              96, "image", "f32", 426_700_000, vgg_16()),
        Trace("ugatit.json", "UGATIT",
              "Kim et al., ICLR 2020, full version, 256x256 images, all calls of a network but its first "
              "counted in the last layer of the generators or of the discriminators",
              "BytePS, OSDI 2020, figure 15, 930 ms for 2 images on one V100",
              2, "image", "f32", 930_000_000, ugatit()),
        Trace("transformer-base.json", "Transformer, base",
              "Vaswani et al., NeurIPS 2017, with one shared embedding of 33708 subwords",
              "BytePS, OSDI 2020, figure 16, 198.8 ms for 3072 tokens (taken as 16 x 192) on one V100",
              3072, "token", "f32", 198_800_000, transformer_base(tokens=192)),
        Trace("bert-large.json", "BERT-Large",
              "Devlin et al., NAACL 2019, uncased, both pre-training heads",
              "BytePS, OSDI 2020, figure 16, 490 ms for 8192 tokens (64 x 128, 20 masked) on one V100",
              8192, "token", "f16", bert_nanoseconds, bert),
        Trace("bert-large-387m.json", "BERT-Large, 387 M",
              "Devlin et al., NAACL 2019, uncased, both pre-training heads, and one more tensor, up to the "
              "387 M parameters that BytePS's authors count (HPC China 2020), where a decoder's own matrix "
              "would be",
              "BytePS, OSDI 2020, figure 16, 490 ms for 8192 tokens (64 x 128, 20 masked) on one V100",
              8192, "token", "f16", bert_nanoseconds,
              bert_large(tokens=128, masked=20, unexplained=387_000_000 - 336_226_108)),
        Trace("gpt-2.json", "GPT-2",
              "Radford et al., 2019, smallest size",
              "not measured, but the multiply-adds of 8192 tokens (8 x 1024) at bert-large.json's rate",
              8192, "token", "f16", gpt_nanoseconds, gpt),
        Trace("large-tensors.json", "1 GB of large tensors",
              "250 tensors of 4 MB, as in the communication benchmark of BytePS, OSDI 2020, figure 12",
              "none, communication only",
              1, "iteration", "f32", 0, large_tensors(), forward=0),
        Trace("three-layers.json", "Three layers",
              "the example of ByteScheduler, SOSP 2019, figure 2, its unit of time being 1 ms at 1 GB/s",
              "1 ms for the forward and 1 ms for the backward of each layer",
              1, "iteration", "f32", 6_000_000, three_layers(), forward=3_000_000),
    ]


def work(layers: list[Layer], samples: int) -> int:
    return samples * sum(layer.work for layer in layers)


def spread(nanoseconds: int, layers: list[Layer]) -> list[int]:
    """Divides the time in proportion to work, in whole nanoseconds. Takes differences of the rounded running
    sum, so that the parts add up exactly."""
    total = max(1, work(layers, samples=1))
    ends, done = [0], 0
    for layer in layers:
        done += layer.work
        ends.append((2 * nanoseconds * done + total) // (2 * total))
    return [end - start for start, end in zip(ends, ends[1:])]


def text(trace: Trace) -> str:
    """The file's content: one line per layer, then one line per tensor of it."""
    forward = trace.nanoseconds // 3 if trace.forward is None else trace.forward
    times = zip(spread(forward, trace.layers), spread(trace.nanoseconds - forward, trace.layers))
    layers = (layer_text(layer, trace.dtype, *time) for layer, time in zip(trace.layers, times))
    return ("{\n"
            f'  "name": {json.dumps(trace.name)},\n'
            f'  "source": {json.dumps(trace.source())},\n'
            f'  "batch": {trace.batch}, "sample": {json.dumps(trace.sample)},\n'
            '  "layers": [\n' + ",\n".join(layers) + "\n  ]\n}\n")


def layer_text(layer: Layer, dtype: str, forward: int, backward: int) -> str:
    tensors = (json.dumps({"name": tensor.name, "elements": tensor.elements, "dtype": dtype})
               for tensor in layer.tensors)
    return (f'    {{"name": {json.dumps(layer.name)}, "forward": "{forward}ns", "backward": "{backward}ns",\n'
            '     "tensors": [\n       ' + ",\n       ".join(tensors) + "]}")


def stale(trace: Trace) -> bool:
    path = FOLDER / trace.file
    return not path.is_file() or path.read_bytes() != text(trace).encode()


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the traces that Weir ships.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    check = parser.parse_args().check
    differing = [trace for trace in shipped() if stale(trace)]
    for trace in differing:
        if check:
            print(f"{trace.file}: differs from what make_traces.py writes; run it again", file=sys.stderr)
        else:
            (FOLDER / trace.file).write_bytes(text(trace).encode())
            print(f"{trace.file}: written")
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
