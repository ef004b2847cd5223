"""Gradients that NCCL sums: where all ranks are processes of one host with a GPU each, no network is to be planned for.

NCCL wants the same calls in the same order on all ranks. So gradients go in buckets, whose members and order follow from
those of the parameters, whatever the order in which hooks are called.
"""

import os
from datetime import timedelta
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.distributed

from ..errors import InvalidError, ResourceError, StateError

BUCKET_BYTES = 25 << 20  # large enough that calls cost nothing beside them, small enough that the first leaves early
FIRST_BYTES = 1 << 20
CHOICES = ("auto", "nccl", "none")
MEETING = timedelta(seconds=30)  # to reach rank 0, which is there already

COALESCES = torch.__version__ >= "2.1"  # several tensors in one call of NCCL's

_stores: List[Any] = []  # rank 0's serves the others as long as it lives


def chosen(settings: Dict[str, Any]) -> str:
    """What sums gradients of GPUs on one host: takes it out of the settings, which go before WEIR_LOCAL."""
    choice = settings.pop("local", None) or os.environ.get("WEIR_LOCAL") or "auto"
    if choice not in CHOICES:
        raise InvalidError(f"local: '{choice}' is none of {', '.join(CHOICES)}")
    return choice


class Nccl:
    """The ranks of one host, each with a GPU of its own. Kept by a session."""

    def __init__(self, rank: int, size: int, device: torch.device, store: Any, limit: timedelta):
        self._device = device
        self._rank = rank
        self._size = size
        self._store = store  # rank 0's serves the others as long as it lives
        self._limit = limit
        self._groups: Dict[int, Any] = {}

    def sum(self, model: int, tensors: List[torch.Tensor], average: bool) -> List[Any]:
        """Begins to sum, or average, each over all ranks, in place, after what is on the current stream. Nothing orders
        the calls of one model among those of another, so each has a communicator of its own."""
        group = self._groups.get(model)
        if group is None:
            group = self._groups[model] = self._group(model)
        how = torch.distributed.ReduceOp.AVG if average else torch.distributed.ReduceOp.SUM
        if COALESCES and len(tensors) > 1:
            together = torch.distributed.AllreduceCoalescedOptions()
            together.reduceOp = how
            return [group.allreduce_coalesced(tensors, together)]
        alone = torch.distributed.AllreduceOptions()
        alone.reduceOp = how
        return [group.allreduce([tensor], alone) for tensor in tensors]

    def _group(self, model: int) -> Any:
        if torch.__version__ < "2.2":  # whose groups mind their timeouts only then
            os.environ.setdefault("NCCL_ASYNC_ERROR_HANDLING", "1")
        options = torch.distributed.ProcessGroupNCCL.Options()
        options._timeout = self._limit
        store = torch.distributed.PrefixStore(f"nccl/{model}", self._store)
        return torch.distributed.ProcessGroupNCCL(store, self._rank, self._size, options)

    def close(self, failed: bool) -> None:
        """Once all ranks have left the session; or, if it has failed, at once, whatever is on its way."""
        if self._groups and not failed:
            torch.cuda.synchronize(self._device)
        for group in self._groups.values():
            end = next((getattr(group, name) for name in (("abort", "_abort") if failed else ("shutdown", "_shutdown"))
                        if hasattr(group, name)), None)
            if end is not None:
                end()
        self._groups.clear()


def meet(choice: str, rank: int, size: int, local_size: int, servers: int, patience: float, device: torch.device,
         share: Any) -> Optional[Nccl]:
    """NCCL among all ranks, whose gradients are on `device`, or None if it is not to be used, or cannot be. All ranks call
    it and come to the same; share() gives all of them what rank 0 has."""
    if choice == "none" or size == 1 or (choice == "auto" and (local_size != size or servers > 0)):
        return None
    if not torch.distributed.is_nccl_available():
        if choice == "nccl":
            raise ResourceError("local=nccl: this PyTorch has no NCCL")
        return None
    if local_size != size:
        raise InvalidError(f"local=nccl: all ranks must be on one host, and {local_size} of {size} are on this one")
    limit = timedelta(seconds=patience)
    advice = f"rank {rank} has not met the other ranks of this host, to sum by NCCL (WEIR_LOCAL=none sums without it)"
    own, refused = None, None
    if rank == 0:
        try:
            own = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, timeout=limit, wait_for_workers=False)
        except (RuntimeError, OSError) as why:
            refused = why
    port = share(own.port if own else None)
    if port is None:
        raise ResourceError(f"{advice}: rank 0 could not open a store{f': {refused}' if refused else ''}")
    try:
        store = own or torch.distributed.TCPStore("127.0.0.1", port, is_master=False, timeout=min(limit, MEETING),
                                                  wait_for_workers=False)
        _stores.append(store)
        store.set_timeout(limit)
        store.set(f"gpu/{rank}", _gpu(device))
        gpus = [store.get(f"gpu/{other}") for other in range(size)]
    except (RuntimeError, OSError) as why:
        raise ResourceError(f"{advice}: {why}") from why
    if len(set(gpus)) < size:
        if choice == "nccl":
            raise InvalidError("local=nccl: the gradients of several ranks are on the same GPU")
        return None
    return Nccl(rank, size, device, store, limit)


def _gpu(device: torch.device) -> str:
    """The same for the same GPU, whatever number the process knows it by."""
    index = torch.cuda.current_device() if device.index is None else device.index
    known = getattr(torch.cuda.get_device_properties(index), "uuid", None)
    if known:
        return str(known)
    visible = [one.strip() for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one.strip()]
    return visible[index] if index < len(visible) else str(index)


class Flight:
    """A round of a bucket, and NCCL's works once all of its gradients are there."""

    __slots__ = ("works",)

    def __init__(self) -> None:
        self.works: Optional[List[Any]] = None


class Share:
    """A gradient on its way with its bucket, as a Transfer is alone; it comes averaged if an average is meant."""

    __slots__ = ("_tensor", "_flight")

    def __init__(self, tensor: torch.Tensor, flight: Flight):
        self._tensor = tensor
        self._flight = flight

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
    """Gradients of one dtype that are summed by one call; `tensors` are those that are there, by their place."""

    def __init__(self) -> None:
        self.members = 0
        self.bytes = 0
        self.renew()

    def renew(self) -> None:
        """For the next round."""
        self.tensors: Dict[int, torch.Tensor] = {}
        self.flight = Flight()


class Member(NamedTuple):
    """What is known of a gradient before it comes."""

    key: Any
    dtype: torch.dtype
    bytes: int


class Buckets:
    """The gradients of a model, which has a number of its own: a bucket leaves once it and those before it are whole."""

    def __init__(self, model: int, average: bool):
        self._model = model
        self._average = average
        self._buckets: List[Bucket] = []
        self._places: Dict[Any, Tuple[Bucket, int]] = {}
        self._next = 0

    def __contains__(self, key: Any) -> bool:
        return key in self._places

    def add(self, members: Sequence[Member]) -> None:
        """Takes gradients in, in the order in which backward makes them. None is on its way."""
        filling: Dict[torch.dtype, Bucket] = {}
        for member in members:
            bucket = filling.get(member.dtype)
            if bucket is None or bucket.bytes >= (FIRST_BYTES if bucket is self._buckets[0] else BUCKET_BYTES):
                bucket = filling[member.dtype] = Bucket()
                self._buckets.append(bucket)
            self._places[member.key] = (bucket, bucket.members)
            bucket.members += 1
            bucket.bytes += member.bytes

    def begin(self, nccl: Nccl, key: Any, tensor: torch.Tensor) -> Share:
        """A gradient is there, and is not touched until its share has been waited for."""
        bucket, place = self._places[key]
        dense = tensor.contiguous()
        bucket.tensors[place] = dense
        share = Share(dense, bucket.flight)
        while len(self._buckets[self._next].tensors) == self._buckets[self._next].members:
            whole = self._buckets[self._next]
            whole.flight.works = nccl.sum(self._model, [whole.tensors[i] for i in range(whole.members)], self._average)
            whole.renew()
            self._next = (self._next + 1) % len(self._buckets)
        return share
