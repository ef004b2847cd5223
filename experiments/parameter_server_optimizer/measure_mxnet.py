#!/usr/bin/env python3
"""Times MXNet's own updates and sums, as its parameter server uses them, on this host's CPU.
Needs MXNet (pip install mxnet==1.9.1 'numpy<1.24').
Run: OMP_NUM_THREADS=1 experiments/parameter_server_optimizer/measure_mxnet.py"""

import os
import statistics
import time

import mxnet as mx

ELEMENTS = 16_000_000
ROUNDS = 7


def seconds(work):
    work()
    mx.nd.waitall()
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        mx.nd.waitall()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main():
    weight, gradient, momentum, variance = (mx.nd.ones((ELEMENTS,)) for _ in range(4))
    updates = {
        "sgd": lambda: mx.nd.sgd_update(weight, gradient, out=weight, lr=0.1, wd=1e-4),
        "momentum": lambda: mx.nd.sgd_mom_update(weight, gradient, momentum, out=weight, lr=0.1, momentum=0.9,
                                                 wd=1e-4),
        "rmsprop": lambda: mx.nd.rmsprop_update(weight, gradient, variance, out=weight, lr=0.001),
        "adam": lambda: mx.nd.adam_update(weight, gradient, momentum, variance, out=weight, lr=0.001),
    }
    threads = os.environ.get("OMP_NUM_THREADS", "unset")
    print(f"MXNet {mx.__version__}, {ELEMENTS} elements, OMP_NUM_THREADS={threads}, {os.cpu_count()} CPUs")
    for name, work in updates.items():
        print(f"update {name:9} {1e9 * seconds(work) / ELEMENTS:6.2f} ns a parameter")
    for dtype, size in (("float32", 4), ("float16", 2)):
        total, other = (mx.nd.ones((ELEMENTS,), dtype=dtype) for _ in range(2))
        taken = seconds(lambda a=total, b=other: a.__iadd__(b))
        print(f"sum    {dtype:9} {size * ELEMENTS / taken / 1e9:6.2f} GB/s")


if __name__ == "__main__":
    main()
