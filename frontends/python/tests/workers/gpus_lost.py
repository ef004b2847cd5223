"""Trains until rank 1 fails within backward; the others are to learn why, soon."""

import time

import torch
from torch import nn

import weir.torch as weir

weir.init()
torch.cuda.set_device(weir.local_rank() % torch.cuda.device_count())
net = nn.Sequential(*[nn.Linear(2000, 2000) for _ in range(8)]).cuda()
optimizer = weir.DistributedOptimizer(torch.optim.SGD(net.parameters(), lr=0.01), net.named_parameters())


def fail(*_):
    raise RuntimeError("the disk is full")


began = time.monotonic()
try:
    for step in range(1000):
        optimizer.zero_grad()
        if weir.rank() == 1 and step == 5:
            began = time.monotonic()
            net[3].weight.register_hook(fail)
        net(torch.ones(4, 2000, device="cuda")).sum().backward()
        optimizer.step()
        torch.cuda.synchronize()
        began = time.monotonic()
except weir.Error as error:
    print(f"failed after {time.monotonic() - began:.1f} s: {error}", flush=True)
    raise SystemExit(0)
