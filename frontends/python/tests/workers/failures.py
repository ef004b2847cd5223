"""Ranks that disagree, fail or end: each rank prints the error that it gets.
The first argument names the lesson."""

import os
import re
import signal
import sys
import time

import torch

import weir.torch as weir


def plain(text):
    """Letters and digits alone: "rank 2" may be written otherwise."""
    return re.sub(r"\W", "", text)


def fails(kind, *words):
    """A context that must fail with an error of this kind, with all of these words."""
    class Failure:
        def __enter__(self):
            self.began = time.monotonic()

        def __exit__(self, found, error, trace):
            assert found is not None, f"no {kind.__name__}"
            assert issubclass(found, kind), error
            for word in words:
                assert plain(word) in plain(str(error)), (word, error)
            print(f"failed after {time.monotonic() - self.began:.1f} s: {error}", flush=True)
            return True
    return Failure()


def mismatch(rank, ranks):
    with fails(weir.MismatchError, "sizes"):
        weir.push_pull(torch.ones(10 + rank), name="sizes")
    with fails(weir.MismatchError, "dtypes"):
        weir.push_pull(torch.ones(10, dtype=torch.float32 if rank else torch.float64), name="dtypes")
    weir.push_pull(torch.ones(10), name="changing")
    with fails(weir.MismatchError, "changing"):
        weir.push_pull(torch.ones(11), name="changing")
    with fails(weir.MismatchError, "copied", "bytes of float32"):
        weir.broadcast(torch.ones(3 + rank), 0, name="copied")
    with fails(weir.MismatchError, "typed", "rank 0", "16 bytes of int32", "16 bytes of float32"):
        weir.broadcast(torch.ones(4, dtype=torch.float32 if rank else torch.int32), 0, name="typed")
    with fails(weir.MismatchError, "made", "rank 0", "averaged", "summed"):
        weir.push_pull(torch.ones(4), name="made", average=rank == 0)
    for average in (True, False, True):
        weir.push_pull(torch.ones(4), name="either", average=average)
    # At once, also on ranks that do as before.
    with fails(weir.MismatchError, "either", "rank 0", "averaged", "summed"):
        weir.push_pull(torch.ones(4), name="either", average=rank == 0)
    weir.push_pull(torch.ones(4), name="later", average=True)
    with fails(weir.MismatchError, "later", "rank 1", "averaged", "summed"):
        weir.push_pull(torch.ones(4), name="later", average=rank != 1)
    weir.push_pull(torch.ones(4))
    with fails(weir.MismatchError, "without a name", "rank 0", "8 elements of f32", "9 elements of f32"):
        weir.push_pull(torch.ones(8 + (rank > 0)))
    with fails(weir.MismatchError, "without a name"):  # for good
        weir.broadcast(torch.ones(4), 0)
    # The session goes on.
    assert torch.equal(weir.push_pull(torch.ones(4), name="fine", average=False),
                       torch.full((4,), float(ranks)))


def models(rank, ranks):
    del ranks
    torch.manual_seed(rank)
    model = torch.nn.Linear(4 + rank, 2)
    with fails(weir.MismatchError, "Gradient.weight"):
        optimizer = weir.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1),
                                              model.named_parameters())
        model(torch.ones(1, 4 + rank)).sum().backward()
        optimizer.step()


def averages(rank, ranks):
    del ranks
    model = torch.nn.Linear(4, 2)
    with fails(weir.MismatchError, "Gradient.", "averaged", "summed"):  # of weight or bias
        optimizer = weir.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1),
                                              model.named_parameters(), op=weir.Sum if rank else weir.Average)
        model(torch.ones(1, 4)).sum().backward()
        optimizer.step()


def refusals(rank, ranks):
    """Errors that a rank gets without the others."""
    del rank
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    named = list(model.named_parameters())
    with fails(ValueError, "more than once", "0.weight"):
        weir.DistributedOptimizer(sgd, [*named, named[0]])
    with fails(ValueError, "lacks", "group0.3"):
        weir.DistributedOptimizer(sgd, named[:3])
    with fails(ValueError, "pairs"):
        weir.DistributedOptimizer(sgd, model.parameters())
    with fails(weir.InvalidError, "Adasum"):
        weir.DistributedOptimizer(sgd, named, op=weir.Adasum)
    with fails(weir.InvalidError, "backward_passes_per_step"):
        weir.DistributedOptimizer(sgd, named, backward_passes_per_step=0)
    with fails(weir.InvalidError, "model=model"):
        weir.DistributedOptimizer(sgd, named, cross_barrier=True)
    with fails(weir.InvalidError, "LBFGS"):
        weir.CrossBarrier(model, torch.optim.LBFGS(model.parameters()))
    complex_ = torch.nn.Parameter(torch.ones(2, dtype=torch.complex64))
    with fails(TypeError, "complex64"):
        weir.DistributedOptimizer(torch.optim.SGD([complex_], lr=0.1))
    optimizer = weir.DistributedOptimizer(sgd, named)
    with fails(weir.InvalidError, "already"):
        weir.DistributedOptimizer(optimizer, named)
    model(torch.ones(1, 2)).sum().backward()
    if ranks > 1:
        with fails(weir.StateError, "zero_grad"):
            optimizer.zero_grad()
    with fails(weir.StateError, "backward_passes_per_step"):
        model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    sparse = torch.nn.Embedding(4, 2, sparse=True)
    optimizer = weir.DistributedOptimizer(torch.optim.SGD(sparse.parameters(), lr=0.1))
    with fails(TypeError, "sparse"):
        sparse(torch.tensor([1])).sum().backward()
    dense = torch.nn.Embedding(4, 2, sparse=True)
    optimizer = weir.DistributedOptimizer(torch.optim.SGD(dense.parameters(), lr=0.1), sparse_as_dense=True)
    dense(torch.tensor([1])).sum().backward()
    optimizer.step()
    functional = torch.nn.Sequential(torch.nn.Linear(2, 2))
    optimizer = weir.CrossBarrier(functional, torch.optim.SGD(functional.parameters(), lr=0.1))
    torch.nn.functional.linear(torch.ones(1, 2), functional[0].weight).sum().backward()
    optimizer.step()
    with fails(weir.StateError, "0.weight", "without cross_barrier"):
        torch.nn.functional.linear(torch.ones(1, 2), functional[0].weight).sum().backward()


def raises(rank, ranks):
    weir.push_pull(torch.ones(1000), name="first")
    if rank == ranks - 1:
        raise KeyError("no such picture")
    with fails(weir.LostError, f"rank {ranks - 1}", "KeyError", "no such picture"):
        weir.push_pull(torch.ones(1000), name="second")
    with fails(weir.LostError, "no such picture"):  # for good
        weir.push_pull(torch.ones(1000), name="third")


def killed(rank, ranks):
    weir.push_pull(torch.ones(1000), name="first")
    if rank == ranks - 1:
        time.sleep(2)  # for the others to have their sums too
        os.kill(os.getpid(), signal.SIGKILL)
    with fails(weir.LostError, f"rank {ranks - 1}"):
        weir.push_pull(torch.ones(1000), name="second")


def leaves(rank, ranks):
    weir.push_pull(torch.ones(1000), name="first")
    if rank == ranks - 1:
        sys.exit(3)
    with fails(weir.LostError, f"rank {ranks - 1}"):
        weir.push_pull(torch.ones(1000), name="second")


def stalls(rank, ranks):
    weir.push_pull(torch.ones(1000), name="first")
    if rank == ranks - 1:
        with fails(weir.Error):
            time.sleep(6)
            weir.push_pull(torch.ones(1000), name="late")
        return
    with fails(weir.Error, f"rank {ranks - 1}", "late"):
        weir.push_pull(torch.ones(1000), name="late")


if __name__ == "__main__":
    weir.init()
    {"mismatch": mismatch, "models": models, "averages": averages, "refusals": refusals, "raises": raises,
     "killed": killed, "leaves": leaves, "stalls": stalls}[sys.argv[1]](weir.rank(), weir.size())
    print("all done", flush=True)
