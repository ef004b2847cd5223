"""Buckets over emulated hosts of two ranks, with Gloo in the place of NCCL:
what NCCL does itself is not tested here."""

import contextlib
from datetime import timedelta

import torch
import torch.distributed

import weir.torch as weir
from weir import session
from weir.torch import _buckets, _local

RANKS = 2  # of a host
SIZES = [300_000, 17, 0, 40_003, 1, 500_000, 3]  # elements; the first fills a bucket


class Gloo(_local.Nccl):
    """Sums on CPUs."""

    def sum(self, model, tensors, average):
        return [
            self._group(model).allreduce([tensor], torch.distributed.AllreduceOptions()) for tensor in tensors
        ]

    def scatter(self, model, whole, share):
        options = torch.distributed.AllreduceOptions()
        summed = whole.clone()
        self._group(model).allreduce([summed], options).wait()
        share.copy_(summed.chunk(self.place.local_size)[self.place.local_rank])
        return Done()

    def collect(self, model, whole, share):
        self._group(model).allgather([list(whole.chunk(self.place.local_size))], [share]).wait()
        return Done()

    def _group(self, model):
        if model not in self._groups:
            store = torch.distributed.PrefixStore(str(model), self._store)
            self._groups[model] = torch.distributed.ProcessGroupGloo(store, self.place.local_rank,
                                                                     self.place.local_size, self._limit)
        return self._groups[model]


class Done:
    def wait(self):
        return True


class Moment:
    """Streams and events, where all is done at once."""

    def __init__(self, *how):
        pass

    def wait(self, stream):
        pass

    def record(self, stream):
        pass


def value(rank, round_, member):
    return float((rank + 1) * (round_ + 1) + member)


def train(average):
    """Gradients of known values, in another order on each rank, some rounds not waited for one by one."""
    dtypes = [
        torch.float32, torch.float16, torch.float32, torch.float32, torch.float64, torch.float32,
        torch.float16
    ]
    buckets = _buckets.Buckets(nccl, 0 if average else 1, average, f"Gradient{average}.")
    buckets.add(
        [_buckets.Member(key, str(key), dtype, size) for key, (dtype, size) in enumerate(zip(dtypes, SIZES))])
    for round_ in range(4):
        order = sorted(range(len(SIZES)), key=lambda key: (key * 5 + rank * 3 + round_) % 7)
        shares = {}
        for key in order:
            tensor = torch.full((SIZES[key],), value(rank, round_, key), dtype=dtypes[key])
            shares[key] = buckets.begin(key, tensor)
        if round_ == 1:
            continue
        for key in order:
            total = sum(value(other, round_, key) for other in range(size))
            expected = total / size if average else total
            got = shares[key].wait()
            assert got.shape == (SIZES[key],) and bool((got == expected).all()), (round_, key, got, expected)


torch.cuda.Stream = torch.cuda.Event = Moment
torch.cuda.stream = lambda stream: contextlib.nullcontext()
torch.cuda.synchronize = torch.cuda.current_stream = lambda device: None
torch.distributed.is_nccl_available = lambda: True
_local._gpu = lambda device: weir.rank()
weir.init()
rank, size = weir.rank(), weir.size()
current = session.session()
place = _local.Place(rank, size, rank % RANKS, RANKS, current.c.servers())
met = _local.meet("auto", place, 30.0, torch.device("cpu"), True, current.exchange)
assert met is not None and met.spans and met.peers == list(range(rank % RANKS, size, RANKS))
nccl = Gloo(place, met.peers, torch.device("cpu"), met._store, timedelta(seconds=30))
for average in (True, False):
    train(average)
print("all done", flush=True)
weir.shutdown()
