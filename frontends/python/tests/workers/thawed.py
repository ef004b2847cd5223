"""A layer that is frozen when training begins, and not any more after two steps:
thawed.py plain|cross|ddp|async."""

import sys

import torch
from torch import nn

import weir.torch as weir

kind = sys.argv[1]
weir.init()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
net[0].requires_grad_(False)
before = net[0].weight.detach().clone()
trained = weir.DistributedDataParallel(net) if kind == "ddp" else net
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
if kind != "ddp":
    more = {"cross": {"cross_barrier": True, "model": net}, "async": {"asynchronous": True}}.get(kind, {})
    optimizer = weir.DistributedOptimizer(optimizer, net.named_parameters(), **more)
torch.manual_seed(weir.rank())
try:
    for step in range(6):
        if step == 2:
            net[0].requires_grad_(True)
        optimizer.zero_grad()
        trained(torch.randn(4, 8)).square().sum().backward()
        optimizer.step()
except weir.StateError as error:
    assert kind == "async" and "'0.weight' was frozen" in str(error), error
    print("all done", flush=True)
    weir.shutdown()
    raise SystemExit(0)
assert kind != "async"
if kind != "ddp":
    optimizer.synchronize()
assert not torch.equal(before, net[0].weight)
for parameter in net.parameters():
    first = parameter.detach().clone()
    weir.broadcast_(first, 0)
    assert torch.equal(first, parameter), kind
print("all done", flush=True)
weir.shutdown()
