"""Gradients in buckets: of two models, by backwards in different orders, of two dtypes, accumulated,
then resumed."""

import torch
from torch import nn

import weir.torch as weir
from weir import session
from weir.torch import _session

weir.init()
torch.cuda.set_device(weir.local_rank())
torch.manual_seed(0)
parts = nn.ModuleList([nn.Linear(700, 700) for _ in range(12)]).cuda()
parts[3] = parts[3].to(torch.bfloat16)
optimizer = weir.DistributedOptimizer(torch.optim.SGD(parts.parameters(), lr=1.0), parts.named_parameters(),
                                      backward_passes_per_step=2)
other = nn.ModuleList([nn.Linear(700, 700) for _ in range(weir.size())]).cuda()
second = weir.DistributedOptimizer(torch.optim.SGD(other.parameters(), lr=1.0), other.named_parameters())
nccl = _session.local().nccl(session.session(), torch.device("cuda", weir.local_rank()), True)
print("by NCCL" if nccl else "by the session", flush=True)


def check(step):
    """Each part's gradient is the average over ranks of twice what a sum of outputs gives."""
    optimizer.zero_grad()
    order = list(parts) if weir.rank() % 2 == 0 else list(parts)[::-1]
    for _ in range(2):
        for part in order:
            part(torch.full((1, 700), float(weir.rank() + step), device="cuda",
                            dtype=part.weight.dtype)).sum().backward()
    # Of the other model, each rank uses a part in time,
    # and has the others only once the first model has been waited for.
    second.zero_grad()
    rank = weir.rank()
    other[rank](torch.full((1, 700), 1.0, device="cuda")).sum().backward()
    optimizer.synchronize()
    second.synchronize()
    for part in other:
        assert bool((part.weight.grad == 1 / weir.size()).all()), step
    with second.skip_synchronize():
        second.step()
    ranks = weir.size()
    expected = 2 * ((ranks - 1) / 2 + step)
    for number, part in enumerate(parts):
        gradient = part.weight.grad
        assert bool((gradient == expected).all()), (number, step, gradient.flatten()[0], expected)
    with optimizer.skip_synchronize():
        optimizer.step()


for step in range(1, 5):
    check(step)
ranks, servers = weir.size(), session.session().c.servers()
weir.suspend()
weir.resume(ranks, servers)
for step in range(5, 7):
    check(step)
weir.shutdown()
