"""The ranks of one host, each a process with a GPU of its own, among which NCCL sums: there is no network to plan for."""

import os
from datetime import timedelta
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

import torch
import torch.distributed

from ..errors import InvalidError, ResourceError

CHOICES = ("auto", "nccl", "none")
MEETING = timedelta(seconds=30)  # to reach rank 0, which is there already

COALESCES = torch.__version__ >= "2.1"  # several tensors in one call of NCCL's

_stores: List[Any] = []  # rank 0's serves the others as long as it lives


def chosen(settings: Dict[str, Any]) -> str:
    """What sums gradients of GPUs of one host: takes it out of the settings, which go before WEIR_LOCAL."""
    choice = settings.pop("local", None) or os.environ.get("WEIR_LOCAL") or "auto"
    if choice not in CHOICES:
        raise InvalidError(f"local: '{choice}' is none of {', '.join(CHOICES)}")
    return choice


class Nccl:
    """The ranks of this host, each with a GPU of its own. Kept by a session.

    * `peers` are the ranks that have this one's place among those of their hosts, itself too.
    * `spans`: whether there are several hosts. Each rank sums its share of what its host has over its peers then.
    """

    def __init__(self, place: "Place", peers: List[int], device: torch.device, store: Any, limit: timedelta):
        self.place = place
        self.peers = peers
        self.spans = len(peers) > 1
        self.device = device
        self._store = store  # that of the first rank serves the others as long as it lives
        self._limit = limit
        self._groups: Dict[int, Any] = {}

    def prepare(self, models: int) -> None:
        """Makes the communicators of so many models, before any is used: they are connected when all ranks have called
        this, and no rank that waits for another one later can keep it from that."""
        fresh = [model for model in range(models) if model not in self._groups]
        for model in fresh:
            share = torch.zeros(1, device=self.device)
            whole = torch.zeros(self.place.local_size, device=self.device)
            works = self.sum(model, [share], False)
            if self.spans:
                works += [self.scatter(model, whole, share), self.collect(model, whole, share)]
            for work in works:
                work.wait()
        if fresh:
            torch.cuda.synchronize(self.device)

    def sum(self, model: int, tensors: List[torch.Tensor], average: bool) -> List[Any]:
        """Begins to sum, or average, each over the ranks of this host, in place, after what is on the current stream.
        Nothing orders the calls of one model among those of another, so each has a communicator of its own."""
        group = self._group(model)
        how = torch.distributed.ReduceOp.AVG if average else torch.distributed.ReduceOp.SUM
        if COALESCES and len(tensors) > 1:
            together = torch.distributed.AllreduceCoalescedOptions()
            together.reduceOp = how
            return [group.allreduce_coalesced(tensors, together)]
        alone = torch.distributed.AllreduceOptions()
        alone.reduceOp = how
        return [group.allreduce([tensor], alone) for tensor in tensors]

    def scatter(self, model: int, whole: torch.Tensor, share: torch.Tensor) -> Any:
        """Begins to sum over the ranks of this host, each of which gets the share of its place, as sum() does."""
        return self._group(model)._reduce_scatter_base(share, whole)

    def collect(self, model: int, whole: torch.Tensor, share: torch.Tensor) -> Any:
        """Begins to give every rank of this host the shares of all, as sum() does."""
        return self._group(model)._allgather_base(whole, share)

    def _group(self, model: int) -> Any:
        group = self._groups.get(model)
        if group is None:
            if torch.__version__ < "2.2":  # whose groups mind their timeouts only then
                os.environ.setdefault("NCCL_ASYNC_ERROR_HANDLING", "1")
            options = torch.distributed.ProcessGroupNCCL.Options()
            options._timeout = self._limit
            store = torch.distributed.PrefixStore(f"nccl/{model}", self._store)
            group = torch.distributed.ProcessGroupNCCL(store, self.place.local_rank, self.place.local_size, options)
            self._groups[model] = group
        return group

    def close(self, failed: bool) -> None:
        """Once all ranks have left the session; or, if it has failed, at once, whatever is on its way."""
        if self._groups and not failed:
            torch.cuda.synchronize(self.device)
        for group in self._groups.values():
            end = next((getattr(group, name) for name in (("abort", "_abort") if failed else ("shutdown", "_shutdown"))
                        if hasattr(group, name)), None)
            if end is not None:
                end()
        self._groups.clear()


class Place(NamedTuple):
    """Where a rank is in the session."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    servers: int


# Gives numbers that each rank calls it with to all, by rank. A label is for so many numbers.
Exchange = Callable[[str, Sequence[int]], List[List[int]]]


def meet(choice: str, place: Place, patience: float, device: torch.device, exchange: Exchange) -> Optional[Nccl]:
    """NCCL among the ranks of this host, whose gradients are on `device`, or None if it is not to be used, or cannot be.
    All ranks of the session call it and come to the same."""
    if choice == "none" or place.size == 1:
        return None
    has_nccl = torch.distributed.is_nccl_available()
    places = exchange("places", [place.local_rank, place.local_size, int(has_nccl)])
    refusal = _refusal(place, places)
    if refusal is None and choice == "auto" and place.local_size == place.size and place.servers > 0:
        return None  # CPU machines of the same host: they are there to be tried out
    if refusal is not None:
        if choice == "nccl":
            raise InvalidError(f"local=nccl: {refusal}")
        return None
    first = place.rank - place.local_rank
    limit = timedelta(seconds=patience)
    advice = (f"rank {place.rank} has not met the other ranks of this host, to sum by NCCL (WEIR_LOCAL=none sums without "
              "it)")
    own, refused = None, None
    if place.local_rank == 0:
        try:
            own = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, timeout=limit, wait_for_workers=False)
        except (RuntimeError, OSError) as why:
            refused = why
    port = exchange("ports", [own.port if own else 0])[first][0]
    if port == 0:
        raise ResourceError(f"{advice}: rank {first} could not open a store{f': {refused}' if refused else ''}")
    try:
        store = own or torch.distributed.TCPStore("127.0.0.1", port, is_master=False, timeout=min(limit, MEETING),
                                                  wait_for_workers=False)
        _stores.append(store)
        store.set_timeout(limit)
        store.set(f"gpu/{place.local_rank}", _gpu(device))
        gpus = [store.get(f"gpu/{other}") for other in range(place.local_size)]
    except (RuntimeError, OSError) as why:
        raise ResourceError(f"{advice}: {why}") from why
    if not all(apart for apart, in exchange("gpus", [int(len(set(gpus)) == place.local_size)])):
        if choice == "nccl":
            raise InvalidError("local=nccl: the gradients of several ranks are on the same GPU")
        return None
    return Nccl(place, list(range(place.local_rank, place.size, place.local_size)), device, store, limit)


def _refusal(place: Place, places: List[List[int]]) -> Optional[str]:
    """Why NCCL cannot sum on each host; the same on all ranks."""
    if not all(has_nccl for _, _, has_nccl in places):
        return "this PyTorch has no NCCL" if not places[place.rank][2] else "the PyTorch of other ranks has no NCCL"
    if any(local != place.local_size for _, local, _ in places) or place.size % place.local_size != 0:
        return "hosts must have the same number of ranks each"
    if any(local_rank != rank % place.local_size for rank, (local_rank, _, _) in enumerate(places)):
        return "ranks of one host must follow each other"
    if place.local_size == 1:
        return "each host has one rank"
    return None


def _gpu(device: torch.device) -> str:
    """The same for the same GPU, whatever number the process knows it by."""
    index = torch.cuda.current_device() if device.index is None else device.index
    known = getattr(torch.cuda.get_device_properties(index), "uuid", None)
    if known:
        return str(known)
    visible = [one.strip() for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one.strip()]
    return visible[index] if index < len(visible) else str(index)
