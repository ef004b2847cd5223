"""Gradients that NCCL sums: where all ranks are processes of one host with a GPU each, no network is to be planned for.

NCCL wants the same calls in the same order on all ranks. So gradients go in buckets, whose members and order follow from
those of the parameters, whatever the order in which hooks are called.
"""

import os
from datetime import timedelta
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
import torch.distributed

from ..errors import InvalidError, ResourceError, StateError

BUCKET_BYTES = 25 << 20  # large enough that calls cost nothing beside them, small enough that the first leaves early
FIRST_BYTES = 1 << 20
CHOICES = ("auto", "nccl", "none")
MEETING = timedelta(seconds=30)  # to reach rank 0, which is there already

_stores: List[Any] = []  # rank 0's serves the others as long as it lives


def chosen(settings: Dict[str, Any]) -> str:
    """What sums gradients of GPUs on one host: takes it out of the settings, which go before WEIR_LOCAL."""
    choice = settings.pop("local", None) or os.environ.get("WEIR_LOCAL") or "auto"
    if choice not in CHOICES:
        raise InvalidError(f"local: '{choice}' is none of {', '.join(CHOICES)}")
    return choice


class Nccl:
    """The ranks of one host, each with a GPU of its own. Kept by a session."""

    def __init__(self, group: Any):
        self._group = group
        self._coalesced = hasattr(torch.distributed, "AllreduceCoalescedOptions") and torch.__version__ >= "2.1"

    def sum(self, tensors: List[torch.Tensor], average: bool) -> List[Any]:
        """Begins to sum, or average, each over all ranks, in place, after what is on the current stream."""
        how = torch.distributed.ReduceOp.AVG if average else torch.distributed.ReduceOp.SUM
        if self._coalesced and len(tensors) > 1:
            together = torch.distributed.AllreduceCoalescedOptions()
            together.reduceOp = how
            return [self._group.allreduce_coalesced(tensors, together)]
        alone = torch.distributed.AllreduceOptions()
        alone.reduceOp = how
        return [self._group.allreduce([tensor], alone) for tensor in tensors]

    def close(self) -> None:
        """Once nothing is on its way."""
        for name in ("shutdown", "_shutdown"):
            if hasattr(self._group, name):
                getattr(self._group, name)()
                return


def meet(choice: str, rank: int, size: int, local_size: int, servers: int, patience: float, share: Any) -> Optional[Nccl]:
    """NCCL among all ranks, or None if it is not to be used, or cannot be. All ranks call it and come to the same;
    share() gives all of them what rank 0 has."""
    if choice == "none" or size == 1 or (choice == "auto" and (local_size != size or servers > 0)):
        return None
    if not torch.cuda.is_available() or not torch.distributed.is_nccl_available():
        if choice == "nccl":
            raise ResourceError("local=nccl: this PyTorch has no NCCL, or sees no GPU")
        return None
    if local_size != size:
        raise InvalidError(f"local=nccl: all ranks must be on one host, and {local_size} of {size} are on this one")
    limit = timedelta(seconds=patience)
    try:
        store = _store(rank, share, limit)
        store.set(f"gpu/{rank}", _gpu())
        gpus = [store.get(f"gpu/{other}") for other in range(size)]
    except (RuntimeError, OSError) as why:
        raise ResourceError(f"rank {rank} has not met the other ranks of this host, to sum by NCCL: {why}; WEIR_LOCAL=none "
                            "sums without it") from why
    if len(set(gpus)) < size:
        if choice == "nccl":
            raise InvalidError("local=nccl: several ranks have the same GPU: call torch.cuda.set_device() with the local "
                               "rank before the optimizer is made")
        return None
    options = torch.distributed.ProcessGroupNCCL.Options()
    options._timeout = limit
    return Nccl(torch.distributed.ProcessGroupNCCL(torch.distributed.PrefixStore("nccl", store), rank, size, options))


def _store(rank: int, share: Any, limit: timedelta) -> Any:
    own = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, timeout=limit,
                                     wait_for_workers=False) if rank == 0 else None
    port = share(own.port if own else None)
    store = own or torch.distributed.TCPStore("127.0.0.1", port, is_master=False, timeout=min(limit, MEETING),
                                              wait_for_workers=False)
    _stores.append(store)
    return store


def _gpu() -> str:
    index = torch.cuda.current_device()
    known = getattr(torch.cuda.get_device_properties(index), "uuid", None)
    return str(known) if known else f"{os.environ.get('CUDA_VISIBLE_DEVICES')}/{index}"


class Flight:
    """A round of a bucket, and NCCL's works once all of its gradients are there."""

    __slots__ = ("works",)

    def __init__(self) -> None:
        self.works: Optional[List[Any]] = None


class Share:
    """A gradient on its way with its bucket, as a Transfer is alone."""

    __slots__ = ("_tensor", "_flight", "averaged")

    def __init__(self, tensor: torch.Tensor, flight: Flight, averaged: bool):
        self._tensor = tensor
        self._flight = flight
        self.averaged = averaged

    def done(self) -> bool:
        """Whether the sum is there."""
        return self._flight.works is not None and all(work.is_completed() for work in self._flight.works)

    def wait(self) -> torch.Tensor:
        """The sum, for what is put on the current stream from now on."""
        if self._flight.works is None:
            raise StateError("a gradient is waited for before all of its bucket are there: call synchronize() of the "
                             "optimizer, which sees to the others")
        for work in self._flight.works:
            work.wait()
        return self._tensor


class Bucket:
    """Gradients that are summed by one call; `tensors` are those that are there, by their place."""

    def __init__(self, dtype: torch.dtype):
        self.dtype = dtype
        self.members = 0
        self.bytes = 0
        self.renew()

    def renew(self) -> None:
        """For the next round."""
        self.tensors: Dict[int, torch.Tensor] = {}
        self.flight = Flight()


class Buckets:
    """The gradients of a model: a bucket leaves once it and those before it are whole."""

    def __init__(self, average: bool):
        self._average = average
        self._buckets: List[Bucket] = []
        self._places: Dict[Any, Tuple[Bucket, int]] = {}
        self._next = 0

    def add(self, members: Sequence[Tuple[Any, torch.Tensor]]) -> None:
        """Takes keys in, each with a tensor like those that will come, in the order in which backward makes them."""
        bucket: Optional[Bucket] = None
        for key, like in members:
            limit = FIRST_BYTES if len(self._buckets) == 1 else BUCKET_BYTES
            if bucket is None or bucket.dtype != like.dtype or bucket.bytes >= limit:
                bucket = Bucket(like.dtype)
                self._buckets.append(bucket)
            self._places[key] = (bucket, bucket.members)
            bucket.members += 1
            bucket.bytes += like.numel() * like.element_size()

    def begin(self, nccl: Nccl, key: Any, tensor: torch.Tensor) -> Share:
        """A gradient is there, and is not touched until its share has been waited for."""
        bucket, place = self._places[key]
        dense = tensor.contiguous()
        bucket.tensors[place] = dense
        share = Share(dense, bucket.flight, self._average)
        while len(self._buckets[self._next].tensors) == self._buckets[self._next].members:
            whole = self._buckets[self._next]
            whole.flight.works = nccl.sum([whole.tensors[i] for i in range(whole.members)], self._average)
            whole.renew()
            self._next = (self._next + 1) % len(self._buckets)
        return share
