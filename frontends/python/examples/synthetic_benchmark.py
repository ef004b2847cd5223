"""Samples a second of a model on random data, with the flags of Horovod's benchmark of the same purpose.

    weirrun -np 4 --servers 2 python frontends/python/examples/synthetic_benchmark.py --model mlp --no-cuda
    weirrun -np 4 python frontends/python/examples/synthetic_benchmark.py --model mlp --no-cuda --ddp

The second line is the baseline: PyTorch's DistributedDataParallel,
over NCCL on GPUs and over Gloo on processors.
"""

import argparse
import os
import statistics
import time

import models
import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

import weir.torch as weir


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=models.MODELS, default="resnet50")
    parser.add_argument("--batch-size", type=int, default=32, help="of each rank")
    parser.add_argument("--num-warmup-batches", type=int, default=10)
    parser.add_argument("--num-batches-per-iter", type=int, default=10)
    parser.add_argument("--num-iters", type=int, default=10)
    parser.add_argument("--fp16-allreduce", action="store_true", help="send gradients with 16 bits")
    parser.add_argument("--use-adasum", action="store_true", help="refused: Weir has no Adasum")
    parser.add_argument("--no-cuda", action="store_true", help="train on processors")
    parser.add_argument("--cross-barrier", action="store_true",
                        help="let the next forward wait, layer by layer")
    parser.add_argument("--ddp", action="store_true",
                        help="use PyTorch's DistributedDataParallel instead of Weir")
    return parser.parse_args()


def distributed(model, cuda):
    """The model under PyTorch's own wrapper, whose processes meet through Weir's session."""
    if "MASTER_ADDR" not in os.environ:
        store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True) if weir.rank() == 0 else None
        host, port = weir.broadcast_object(("127.0.0.1", store.port) if store else None)
        store = store or torch.distributed.TCPStore(host, port, is_master=False)
    else:
        store = None
    torch.distributed.init_process_group("nccl" if cuda else "gloo", store=store, rank=weir.rank(),
                                         world_size=weir.size())
    return DistributedDataParallel(model, device_ids=[weir.local_rank()] if cuda else None)


def main():
    options = arguments()
    weir.init()
    cuda = not options.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda", weir.local_rank()) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    make, batch, unit = models.MODELS[options.model]
    torch.manual_seed(1)
    model = make().to(device)
    data, target = batch(options.batch_size, device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if options.ddp:
        model = distributed(model, cuda)
    else:
        weir.broadcast_parameters(model.state_dict(), root_rank=0)
        optimizer = weir.DistributedOptimizer(
            optimizer, named_parameters=model.named_parameters(),
            op=weir.Adasum if options.use_adasum else weir.Average,
            compression=weir.Compression.fp16 if options.fp16_allreduce else weir.Compression.none,
            cross_barrier=options.cross_barrier, model=model)

    def step():
        optimizer.zero_grad()
        models.loss(model(data), target).backward()
        optimizer.step()

    def seconds(batches):
        began = time.perf_counter()
        for _ in range(batches):
            step()
        if cuda:
            torch.cuda.synchronize()
        return time.perf_counter() - began

    def report(text):
        if weir.rank() == 0:
            print(text, flush=True)

    report(f"Model: {options.model}\nBatch size: {options.batch_size}\n"
           f"Number of {'GPUs' if cuda else 'CPUs'}: {weir.size()}")
    seconds(options.num_warmup_batches)
    rates = []
    for number in range(options.num_iters):
        rates.append(
            options.batch_size * options.num_batches_per_iter / seconds(options.num_batches_per_iter))
        report(f"Iter #{number}: {rates[-1]:.1f} {unit}/sec per rank")
    mean = statistics.mean(rates)
    spread = 1.96 * statistics.pstdev(rates)
    report(f"{unit}/sec per rank: {mean:.1f} +-{spread:.1f}")
    report(
        f"Total {unit}/sec on {weir.size()} rank(s): {weir.size() * mean:.1f} +-{weir.size() * spread:.1f}")
    if options.ddp:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
