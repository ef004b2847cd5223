"""What Weir adds to a backward pass and to step(), in microseconds a tensor,
on the processor that runs Python.

    weirrun -np 2 python frontends/python/benchmarks/hooks.py
"""

import argparse
import time

import torch

import weir.torch as weir


def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tensors", type=int, default=500)
    parser.add_argument("--elements", type=int, default=256, help="of each tensor")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    weir.init()
    parameters = [torch.nn.Parameter(torch.zeros(options.elements)) for _ in range(options.tensors)]

    def backward():
        torch.stack([parameter.sum() for parameter in parameters]).sum().backward()

    plain = min(seconds(backward) for _ in range(options.repeats))
    optimizer = weir.DistributedOptimizer(torch.optim.SGD(parameters, lr=0.1))
    hooked = []
    settled = []
    for _ in range(options.repeats):
        weir.barrier()
        hooked.append(seconds(backward))
        weir.barrier()  # sums that are not there yet are no cost of Python's
        settled.append(seconds(optimizer.synchronize))
    if weir.rank() == 0:
        print(f"hook {(min(hooked) - plain) / options.tensors * 1e6:.1f} us a tensor, "
              f"synchronize {min(settled) / options.tensors * 1e6:.1f} us a tensor "
              f"({options.tensors} tensors, {weir.size()} ranks)")


if __name__ == "__main__":
    main()
