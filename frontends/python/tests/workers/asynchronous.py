"""Asynchronous training. The first argument names the lesson;
rank r may save what it got as FOLDER/NAME.r.pt."""

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

import weir.torch as weir

sys.path.insert(0, str(Path(__file__).resolve().parent))
from failures import fails

TURNS = 30
OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, nesterov=True,
                                                   weight_decay=0.01),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.01),
}


def build(dtype=torch.float64, seed=3):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(10, 33), torch.nn.Tanh(), torch.nn.Linear(33, 3)).to(dtype)
    model.register_parameter("scale", torch.nn.Parameter(torch.ones((), dtype=dtype)))
    return model


def loss_of(model, turn, dtype=torch.float64):
    """Of a batch, which is this turn's, whoever's turn it is."""
    generator = torch.Generator().manual_seed(500 + turn)
    x = torch.randn(16, 10, generator=generator).to(dtype)
    y = torch.stack([x[:, 0] * x[:, 1], x[:, 2].sin(), x[:, 3:].mean(1)], 1)
    return ((model(x) * model.scale - y) ** 2).mean()


def order(ranks):
    """Whose turn it is, the same on all ranks: some come often, and several times in a row."""
    return random.Random(ranks).choices(range(ranks), weights=range(1, ranks + 1), k=TURNS)


def alone(name, ranks, dtype=torch.float64, passes=1):
    """What an asynchronous parameter server and its workers come to, in one process:
    its weights and each worker's."""
    kept = [parameter.detach().clone() for parameter in build(dtype).parameters()]
    models = [build(dtype) for _ in range(ranks)]
    optimizers = [OPTIMIZERS[name](model.parameters()) for model in models]
    for turn, rank in enumerate(order(ranks)):
        old = [parameter.detach().clone() for parameter in models[rank].parameters()]
        optimizers[rank].zero_grad()
        for part in range(passes):
            loss_of(models[rank], 100 * part + turn, dtype).backward()
        optimizers[rank].step()
        with torch.no_grad():
            for weights, before, parameter in zip(kept, old, models[rank].parameters()):
                weights += parameter - before
                parameter.copy_(weights)
    return kept, [[parameter.detach() for parameter in model.parameters()] for model in models]


def turns(rank, ranks, folder):
    """Ranks take turns in a forced order, so that all pushes and pulls have that order."""
    for name in OPTIMIZERS:
        for dtype, passes in ((torch.float64, 1), (torch.float32, 1), (torch.float64, 2)):
            model = build(dtype, seed=3 + rank)  # rank 0's weights count
            optimizer = weir.DistributedOptimizer(OPTIMIZERS[name](model.parameters()),
                                                  model.named_parameters(), backward_passes_per_step=passes,
                                                  asynchronous=True)
            assert type(optimizer).__name__ == type(OPTIMIZERS[name](model.parameters())).__name__
            for turn, one in enumerate(order(ranks)):
                if one == rank:
                    optimizer.zero_grad()
                    for part in range(passes):
                        loss_of(model, 100 * part + turn, dtype).backward()
                    optimizer.step()
                weir.barrier()
            own = [parameter.detach().clone() for parameter in model.parameters()]
            optimizer.pull()
            kept = [parameter.detach() for parameter in model.parameters()]
            torch.save((kept, own), folder / f"{name}.{dtype}.{passes}.{rank}.pt")


class Recorded(torch.optim.SGD):
    """Sums up how much it has changed its parameters by."""

    total = None

    def step(self, closure=None):
        before = [parameter.detach().clone() for parameter in self.param_groups[0]["params"]]
        result = super().step(closure)
        changes = [parameter.detach() - old for parameter, old in zip(self.param_groups[0]["params"], before)]
        self.total = changes if self.total is None else [
            total + change for total, change in zip(self.total, changes)
        ]
        return result


def free(rank, ranks, folder):
    """Ranks of different speed, none of which waits for another."""
    model = build(seed=3 + rank)
    start = loss_of(build(), 0).item()
    optimizer = weir.DistributedOptimizer(Recorded(model.parameters(), lr=0.1), model.named_parameters(),
                                          **{"async": True})
    begin = [parameter.detach().clone() for parameter in model.parameters()]
    for parameter, expected in zip(begin, build().parameters()):
        assert torch.equal(parameter, expected.detach()), "all begin with rank 0's weights"
    for step in range(120 // (rank + 1)):
        optimizer.zero_grad()
        loss_of(model, ranks * step + rank).backward()
        optimizer.step()
        time.sleep(0.002 * rank)
    weir.barrier()
    optimizer.pull()
    for index, (parameter, first) in enumerate(zip(model.parameters(), begin)):
        total = weir.push_pull(optimizer.total[index], average=False, name=f"total.{index}")
        error = (parameter - (first + total)).abs().max().item()
        assert error < 1e-12, error
    end = sum(loss_of(model, 10_000 + batch).item() for batch in range(10)) / 10
    assert end < 0.6 * start, (start, end)
    print(f"loss {start:.3f} to {end:.3f}", flush=True)
    torch.save([parameter.detach() for parameter in model.parameters()], folder / f"free.{rank}.pt")


def waits(rank, ranks, folder):
    """A rank that computes until all others have made all their steps holds up nobody."""
    model = build()
    optimizer = weir.DistributedOptimizer(OPTIMIZERS["sgd"](model.parameters()), model.named_parameters(),
                                          asynchronous=True)
    until = time.monotonic() + 25
    while rank == ranks - 1 and len(list(folder.glob("done.*"))) < ranks - 1:
        assert time.monotonic() < until, "the others wait for this rank"
        time.sleep(0.01)
    for step in range(30):
        optimizer.zero_grad()
        loss_of(model, step).backward()
        optimizer.step()
    (folder / f"done.{rank}").touch()


def kinds(rank, ranks, folder):
    """Tensors of all sorts, parameters that come later, and another session."""
    del folder
    parameters = [
        torch.nn.Parameter(tensor)
        for tensor in (torch.zeros(()), torch.zeros(0), torch.zeros(5, 7).t(),
                       torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last),
                       torch.zeros(300, 1001, dtype=torch.float64), torch.zeros(33, dtype=torch.bfloat16))
    ]
    frozen = torch.nn.Parameter(torch.full((3,), float(rank)), requires_grad=False)
    unused = torch.nn.Parameter(torch.full((3,), float(rank)))
    sparse = torch.nn.Embedding(4, 2, sparse=True)
    torch.nn.init.zeros_(sparse.weight)
    optimizer = weir.DistributedOptimizer(
        torch.optim.SGD([*parameters, frozen, unused, sparse.weight], lr=1.0), asynchronous=True)
    assert torch.equal(unused.detach(), torch.zeros(3)) and torch.equal(frozen, torch.full((3,), float(rank)))

    def steps():
        optimizer.zero_grad()
        for parameter in parameters:
            parameter.grad = -torch.ones_like(parameter)
        (-sparse(torch.tensor([1, 1])).sum()).backward()
        with optimizer.skip_synchronize():
            optimizer.synchronize()
            optimizer.step()
        weir.barrier()
        optimizer.pull()
        weir.barrier()

    def check(expected):
        for parameter in parameters:
            wanted = torch.full_like(parameter, float(expected))
            assert torch.equal(parameter.detach(), wanted.detach()), parameter
        assert sparse.weight.detach().tolist() == [[0, 0], [2 * expected] * 2, [0, 0], [0, 0]]

    steps()
    check(ranks)
    more = torch.nn.Parameter(torch.full((3,), 7.0 + rank))
    optimizer.add_param_group({"params": [more]})
    parameters.append(more)
    assert more.tolist() == [7.0] * 3
    more.grad = None
    optimizer.step()  # nothing of it has changed, but what other ranks have added comes
    with torch.no_grad():
        more.fill_(9.0)
    with fails(weir.StateError, "has been changed", "before DistributedOptimizer is made"):
        optimizer.step()
    with torch.no_grad():
        more.fill_(7.0)
    parameters.pop()
    weir.barrier()
    optimizer.pull()
    weir.suspend()
    weir.resume(ranks, int(os.environ["WEIR_SERVERS"]), rank)
    before = parameters[0].item()
    optimizer.step()
    weir.barrier()
    optimizer.pull()
    assert parameters[0].item() == before + ranks, (before, parameters[0].item())


def refusals(rank, ranks, folder):
    """What asynchronous training cannot be combined with. Each rank fails by itself."""
    del folder
    model = build()
    sgd = OPTIMIZERS["sgd"](model.parameters())
    named = list(model.named_parameters())

    def made(**how):
        return weir.DistributedOptimizer(sgd, named, asynchronous=True, **how)

    with fails(weir.InvalidError, "compression"):
        made(compression=weir.Compression.fp16)
    with fails(weir.InvalidError, "cross_barrier", "asynchronous"):
        made(cross_barrier=True, model=model)
    with fails(weir.InvalidError, "op=Sum"):
        made(op=weir.Sum)
    with fails(weir.InvalidError, "gradient_predivide_factor"):
        made(gradient_predivide_factor=2.0)
    with fails(weir.InvalidError, "backward_passes_per_step"):
        made(backward_passes_per_step=0)
    with fails(TypeError, "asink"):
        made(asink=True)
    with fails(TypeError, "async"):
        made(**{"async": True})
    with fails(TypeError, "complex64"):
        weir.DistributedOptimizer(
            torch.optim.SGD([torch.nn.Parameter(torch.ones(2, dtype=torch.complex64))], lr=0.1),
            asynchronous=True)
    if int(os.environ["WEIR_SERVERS"]) == 0:
        with fails(weir.InvalidError, "Weights", "--servers 1", "WEIR_SERVERS"):
            made()
        return
    optimizer = made()
    with fails(weir.InvalidError, "already"):
        weir.DistributedOptimizer(optimizer, named)
    with fails(weir.InvalidError, "asynchronously"):
        weir.CrossBarrier(model, optimizer)
    assert optimizer.state_dict().keys() == sgd.state_dict().keys()
    loss_of(model, rank).backward()
    optimizer.step(lambda: loss_of(model, ranks))


def variable(rank, ranks, folder):
    """As the variable says, unless the script says otherwise."""
    del rank, ranks, folder
    model = build()
    sgd = OPTIMIZERS["sgd"](model.parameters())
    if sys.argv[3] == "nonsense":
        with fails(weir.InvalidError, "expected 0 or 1, got 'maybe'"):
            weir.DistributedOptimizer(sgd)
        return
    expected = sys.argv[3] == "on"
    assert hasattr(weir.DistributedOptimizer(sgd), "pull") == expected
    assert not hasattr(weir.DistributedOptimizer(sgd, asynchronous=False), "pull")
    if expected:
        with fails(weir.InvalidError, "ASYNC", "DistributedDataParallel"):
            weir.DistributedDataParallel(model)
        with fails(weir.InvalidError, "ASYNC", "cross barrier"):
            weir.CrossBarrier(model, sgd)


def killed(rank, ranks, folder):
    """A rank dies amid the others' steps."""
    del folder
    model = build()
    with fails(weir.LostError, f"rank {ranks - 1}"):
        optimizer = weir.DistributedOptimizer(OPTIMIZERS["sgd"](model.parameters()), model.named_parameters(),
                                              asynchronous=True)
        for step in range(100_000):
            if rank == ranks - 1 and step == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            optimizer.zero_grad()
            loss_of(model, step).backward()
            optimizer.step()


if __name__ == "__main__":
    weir.init()
    {"turns": turns, "free": free, "waits": waits, "kinds": kinds, "refusals": refusals, "variable": variable,
     "killed": killed}[sys.argv[1]](weir.rank(), weir.size(), Path(sys.argv[2]))
    print("all done", flush=True)
