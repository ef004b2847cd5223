"""What every call of weir.torch gives, on any number of ranks; each rank checks it for itself."""

import copy
import itertools
import os
import pickle
import time

import torch

import weir.torch as weir

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.int32, torch.int64]
SHAPES = [(), (0,), (17,), (3, 0, 2), (2, 3, 4), (100_003,)]


def mine(shape, dtype, rank):
    """A tensor of the rank, of small whole numbers: their sums are exact in every dtype."""
    count = torch.Size(shape).numel()
    return ((torch.arange(count) * 7 + rank * 3) % 11 - 5).to(dtype).reshape(shape)


def total(shape, dtype, ranks):
    return sum(mine(shape, torch.int64, rank) for rank in range(ranks)).to(dtype)


def mean(tensor, ranks):
    if tensor.dtype.is_floating_point:
        return tensor / ranks
    return torch.div(tensor, ranks, rounding_mode="floor")


def same(left, right):
    assert left.dtype == right.dtype and left.shape == right.shape, (left, right)
    assert torch.equal(left, right), (left, right)


def sums(rank, ranks):
    for dtype, shape, average in itertools.product(FLOATS + INTEGERS, SHAPES, [False, True]):
        whole = total(shape, dtype, ranks)
        expected = mean(whole, ranks) if average else whole
        name = f"{dtype}.{shape}"
        tensor = mine(shape, dtype, rank)
        same(weir.push_pull(tensor, average=average, name=name), expected)
        same(tensor, mine(shape, dtype, rank))  # left as it was
        result = weir.push_pull_inplace(tensor, average=average, name=name)
        assert result is tensor
        same(tensor, expected)
        tensor = mine(shape, dtype, rank)
        handle = weir.allreduce_async_(tensor, op=weir.Average if average else weir.Sum)
        assert weir.synchronize(handle) is tensor
        same(tensor, expected)


def layouts(rank, ranks):
    for dtype in FLOATS + INTEGERS:
        base = mine((6, 8), dtype, rank)
        for view in (lambda t: t.t(), lambda t: t[::2, 1::3], lambda t: t[:, 3], lambda t: t[2:4]):
            expected = view(total((6, 8), dtype, ranks))
            same(weir.push_pull(view(base), average=False), expected)
            written = base.clone()
            weir.allreduce_(view(written), op=weir.Sum)
            same(view(written), expected)
            untouched = torch.ones(6, 8, dtype=torch.bool)
            view(untouched).fill_(False)
            same(written[untouched], base[untouched])
    images = mine((2, 3, 4, 5), torch.float32, rank).to(memory_format=torch.channels_last)
    same(weir.allreduce(images, op=weir.Sum).contiguous(), total((2, 3, 4, 5), torch.float32, ranks))


def names_and_order(rank, ranks):
    for step in range(20):  # a name is the same tensor, again and again
        tensor = torch.full((33,), float(rank + step))
        same(weir.push_pull(tensor, average=False, name="again"),
             torch.full((33,), float(sum(range(ranks)) + ranks * step)))
    order = list(range(30))
    if rank % 2:
        order.reverse()
    handles = {index: weir.push_pull_async(torch.full((100 + index,), float(index + rank)), average=False,
                                           name=f"ordered.{index}") for index in order}
    for index in range(30):
        same(weir.synchronize(handles[index]),
             torch.full((100 + index,), float(index * ranks + sum(range(ranks)))))
    handles = [weir.push_pull_async(torch.full((64,), float(index)), average=False) for index in range(10)]
    for index, handle in reversed(list(enumerate(handles))):
        same(weir.synchronize(handle), torch.full((64,), float(index * ranks)))
    weir.declare("declared", torch.zeros(12), priority=3)
    weir.declare("only a name")
    same(weir.push_pull(torch.ones(12), name="declared", average=False), torch.full((12,), float(ranks)))


def handles_are_polled(rank, ranks):
    handle = weir.allreduce_async(torch.full((1000,), float(rank)), average=False)
    while not weir.poll(handle):
        pass
    same(weir.synchronize(handle), torch.full((1000,), float(sum(range(ranks)))))
    for misuse in (weir.poll, weir.synchronize):
        try:
            misuse(handle)
            raise AssertionError("a handle is good once")
        except weir.InvalidError:
            pass


def groups(rank, ranks):
    tensors = [mine((n,), torch.float32, rank) for n in (3, 40, 1, 0)]
    expected = [total((n,), torch.float32, ranks) for n in (3, 40, 1, 0)]
    for result in (weir.grouped_allreduce(tensors, op=weir.Sum, name="group"),
                   weir.grouped_allreduce(tensors, average=False),
                   weir.synchronize(weir.grouped_allreduce_async(tensors, op=weir.Sum))):
        for left, right in zip(result, expected):
            same(left, right)
    copies = [tensor.clone() for tensor in tensors]
    assert weir.grouped_allreduce_(copies, op=weir.Sum)[1] is copies[1]
    for left, right in zip(copies, expected):
        same(left, right)


def scaling(rank, ranks):
    tensor = torch.full((5,), float(rank + 1))
    sum_of = sum(range(1, ranks + 1))
    same(weir.allreduce(tensor, op=weir.Sum, prescale_factor=2.0, postscale_factor=0.25),
         torch.full((5,), sum_of / 2))
    same(tensor, torch.full((5,), float(rank + 1)))
    weir.allreduce_(tensor, op=weir.Sum, prescale_factor=4.0)
    same(tensor, torch.full((5,), sum_of * 4.0))
    halved = weir.allreduce(torch.full((5,), float(rank + 1)), op=weir.Sum, compression=weir.Compression.fp16)
    same(halved, torch.full((5,), float(sum_of)))


def gradients_flow(rank, ranks):
    tensor = torch.full((4,), float(rank), requires_grad=True)
    (weir.push_pull(tensor) * float(rank + 1)).sum().backward()
    same(tensor.grad, torch.full((4,), sum(range(1, ranks + 1)) / ranks))
    root = ranks - 1
    tensor = torch.full((4,), float(rank), requires_grad=True)
    (weir.broadcast(tensor, root) * float(rank + 1)).sum().backward()
    same(tensor.grad, torch.full((4,), float(sum(range(1, ranks + 1)) if rank == root else 0)))


def broadcasts(rank, ranks):
    everything = FLOATS + INTEGERS + [torch.uint8, torch.int8, torch.int16, torch.bool, torch.complex64]
    for root, dtype, shape in itertools.product(range(ranks), everything, [(), (0,), (5, 3), (4099,)]):
        tensor = mine(shape, dtype, rank)
        expected = mine(shape, dtype, root)
        same(weir.broadcast(tensor, root), expected)
        same(tensor, mine(shape, dtype, rank))
        assert weir.broadcast_(tensor, root, name=f"{dtype}.{shape}") is tensor
        same(tensor, expected)
    tensor = mine((6, 8), torch.float32, rank)
    weir.synchronize(weir.broadcast_async_(tensor.t(), 0))
    same(tensor, mine((6, 8), torch.float32, 0))
    same(weir.synchronize(weir.broadcast_async(mine((3,), torch.int64, rank), ranks - 1)),
         mine((3,), torch.int64, ranks - 1))


def objects(rank, ranks):
    for root, size in itertools.product(range(ranks), [0, 1, 4000, 4080, 4100, 100_000]):
        sent = {"root": root, "data": b"x" * size, "more": [1.5, None, "é"]}
        assert weir.broadcast_object(sent if rank == root else "mine", root) == sent
    assert weir.broadcast_object(rank, name="named") == 0


def models(rank, ranks):
    for width in (4, 6):  # another model may have the same names
        torch.manual_seed(rank)
        model = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.BatchNorm1d(width),
                                    torch.nn.Linear(width, width))
        model.add_module("tied", model[2])
        model(torch.randn(8, 3))
        weir.broadcast_parameters(model.state_dict(), root_rank=ranks - 1)
        digest = torch.cat([tensor.double().flatten() for tensor in model.state_dict().values()])
        same(weir.broadcast(digest, 0), digest)
        weir.broadcast_parameters(list(model.named_parameters()), 0, prefix="Listed.")
        weir.broadcast_parameters([parameter.data for parameter in model.parameters()], 0)
    for make in (lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9),
                 lambda p, lr: torch.optim.Adam(p, lr=lr, amsgrad=True),
                 lambda p, lr: torch.optim.Adagrad(p, lr=lr)):
        torch.manual_seed(rank)
        model = torch.nn.Linear(3, 2)
        optimizer = make(model.parameters(), 0.1 * (rank + 1))
        for _ in range(rank + 1 if rank != 1 else 0):  # rank 1 has no state at all
            model(torch.randn(4, 3)).sum().backward()
            optimizer.step()
        weir.broadcast_optimizer_state(optimizer, root_rank=0)
        assert optimizer.param_groups[0]["lr"] == 0.1
        state = optimizer.state_dict()["state"]
        assert sorted(state) == [0, 1], state
        flat = torch.cat([torch.as_tensor(value).double().flatten() for index in sorted(state)
                          for key, value in sorted(state[index].items()) if value is not None])
        same(weir.broadcast(flat, 0), flat)


def refusals(rank, ranks):
    del rank
    cases = [
        (weir.InvalidError, lambda: weir.allreduce(torch.ones(2), average=True, op=weir.Sum)),
        (weir.InvalidError, lambda: weir.allreduce(torch.ones(2), op=weir.Adasum)),
        (weir.InvalidError, lambda: weir.allreduce(torch.ones(2, dtype=torch.int32), prescale_factor=0.5)),
        (weir.InvalidError, lambda: weir.broadcast(torch.ones(2), ranks)),
        (weir.InvalidError, lambda: weir.broadcast(torch.ones(2), -1)),
        (weir.InvalidError, lambda: weir.allreduce(torch.ones(2), process_set=1)),
        (TypeError, lambda: weir.push_pull(torch.ones(2, dtype=torch.bool))),
        (TypeError, lambda: weir.push_pull(torch.ones(2, dtype=torch.int8))),
        (TypeError, lambda: weir.push_pull(torch.eye(2).to_sparse())),
        (TypeError, lambda: weir.broadcast_parameters({"a": 1})),
        (TypeError, lambda: weir.push_pull([1, 2])),
        (TypeError, lambda: weir.push_pull_async_inplace(3.0)),
        (TypeError, lambda: weir.grouped_allreduce([torch.ones(2), None])),
        (TypeError, lambda: weir.broadcast([1], 0)),
        (TypeError, lambda: weir.broadcast_async_(None, 0)),
        (TypeError, lambda: copy.deepcopy(weir.DistributedDataParallel(torch.nn.Linear(2, 2)))),
        (ValueError, lambda: weir.declare("")),
        (weir.StateError, lambda: weir.init(patience=5)),
    ]
    for kind, call in cases:
        try:
            call()
        except kind:
            continue
        raise AssertionError("accepted")


def questions(rank, ranks):
    assert weir.is_homogeneous()
    absent = (weir.mpi_built, weir.mpi_enabled, weir.gloo_built, weir.ddl_built, weir.ccl_built)
    assert not any(built() for built in absent)
    assert weir.cuda_built() == torch.backends.cuda.is_built()
    assert isinstance(weir.nccl_built(), bool)
    same(weir.ops.push_pull(torch.ones(2), average=False), torch.full((2,), float(ranks)))
    model = weir.DistributedDataParallel(torch.nn.Linear(2, 2))
    assert sorted(pickle.loads(pickle.dumps(model.state_dict()))) == ["module.bias", "module.weight"]
    try:
        pickle.dumps(model)
        raise AssertionError("pickled")
    except TypeError as why:
        assert "state_dict()" in str(why), why
    try:
        weir.push_pull([1, 2])
        raise AssertionError("summed")
    except TypeError as why:
        assert "must be a torch.Tensor, but is a list" in str(why), why


def large(rank, ranks):
    tensor = torch.full((1 << 24,), float(rank + 1))
    weir.push_pull_inplace(tensor, average=False, name="large")
    assert bool((tensor == sum(range(1, ranks + 1))).all())


def again(rank, ranks):
    weir.suspend()
    assert not weir.is_initialized()
    try:
        weir.rank()
        raise AssertionError("there is no session")
    except weir.StateError:
        pass
    weir.resume(ranks, int(os.environ["WEIR_SERVERS"]), rank)
    same(weir.push_pull(torch.ones(12), name="declared", average=False), torch.full((12,), float(ranks)))
    weir.shutdown()
    weir.shutdown()
    weir.init()
    assert (weir.rank(), weir.size(), weir.local_rank(), weir.local_size()) == (rank, ranks, rank, ranks)
    same(weir.push_pull(torch.ones(3), name="declared", average=False), torch.full((3,), float(ranks)))


if __name__ == "__main__":
    weir.init()
    weir.init()
    here = (weir.rank(), weir.size())
    assert here == (int(os.environ["WEIR_RANK"]), int(os.environ["WEIR_SIZE"]))
    for part in (sums, layouts, names_and_order, handles_are_polled, groups, scaling, gradients_flow,
                 broadcasts, objects, models, refusals, questions, large):
        began = time.perf_counter()
        part(*here)
        weir.barrier()
        print(f"{time.perf_counter() - began:6.2f} s {part.__name__}", flush=True)
    moment, speed = weir.get_pushpull_speed()
    assert moment > 1e12 and (speed > 0 or here[1] == 1), speed
    again(*here)
    print("all done")
