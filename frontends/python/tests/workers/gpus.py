"""Trains on GPUs beside one process that has the whole batch; ranks share GPUs where there are fewer."""

import torch
from torch import nn

import weir.torch as weir

STEPS = 20
EACH = 8  # samples of a rank and step


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
                         nn.Linear(256, 10)).cuda()


def optimizer_of(kind, net):
    if kind == "adam":
        return torch.optim.Adam(net.parameters(), lr=1e-3)
    return torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)


def train(kind, cross):
    rank, ranks = weir.rank(), weir.size()
    alone, net = model(), model()
    own = optimizer_of(kind, alone)
    more = {"cross_barrier": True, "model": net} if cross else {}
    optimizer = weir.DistributedOptimizer(optimizer_of(kind, net), named_parameters=net.named_parameters(),
                                          **more)
    weir.broadcast_parameters(net.state_dict(), root_rank=0)
    same = torch.Generator().manual_seed(7)
    for _ in range(STEPS):
        inputs = torch.randn(EACH * ranks, 64, generator=same).cuda()
        targets = torch.randint(0, 10, (EACH * ranks,), generator=same).cuda()
        own.zero_grad()
        nn.functional.cross_entropy(alone(inputs), targets).backward()
        own.step()
        mine = slice(rank * EACH, (rank + 1) * EACH)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs[mine]), targets[mine]).backward()
        optimizer.step()
    optimizer.synchronize()
    for a, b in zip(alone.parameters(), net.parameters()):
        assert (a - b).abs().max().item() < 2e-5, (kind, cross)
    flat = torch.cat([parameter.detach().flatten() for parameter in net.parameters()])
    first = flat.clone()
    weir.broadcast_(first, 0, name=f"first.{kind}.{cross}")
    assert torch.equal(flat, first), (kind, cross)


def busy_streams():
    """A sum must wait for what its stream has still to do."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            work = torch.randn(2048, 2048, device="cuda")
            for _ in range(50):
                work = work @ work
                work = work / work.abs().max()
            tensor = torch.full((3_000_001,), float(weir.rank() + 1), device="cuda", dtype=dtype)
            summed = weir.push_pull(tensor, average=False, name=f"busy.{dtype}")
            expected = weir.size() * (weir.size() + 1) // 2
            assert bool((summed == expected).all()), dtype


weir.init()
torch.cuda.set_device(weir.local_rank() % torch.cuda.device_count())
for kind in ("sgd", "adam"):
    for cross in (False, True):
        train(kind, cross)
busy_streams()
print("all done", flush=True)
weir.shutdown()
