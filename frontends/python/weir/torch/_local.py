"""NCCL among the ranks of one host, each with a GPU of its own: there is no network to plan for."""

import hashlib
import os
from datetime import timedelta
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

import torch
import torch.distributed

from ..errors import InvalidError, ResourceError
from ..frontend import Part
from ..session import Session

CHOICES = ("auto", "nccl", "none")
MEETING = timedelta(seconds=30)  # to reach rank 0, which is there already

COALESCES = torch.__version__ >= "2.1"  # several tensors in one call of NCCL's

_stores: List[Any] = []  # rank 0's serves the others as long as it lives


def chosen(settings: Dict[str, Any]) -> str:
    """The setting `local`, which is taken out of the settings. It overrides WEIR_LOCAL."""
    choice = settings.pop("local", None) or os.environ.get("WEIR_LOCAL") or "auto"
    if choice not in CHOICES:
        raise InvalidError(f"local: '{choice}' is not one of {', '.join(CHOICES)}")
    return choice


class Nccl:
    """The ranks of this host, each with a GPU of its own. Kept by a session.

    * `peers` are the ranks that have this one's place among those of their hosts, itself too.
    * `spans`: whether there are several hosts. Each rank sums its share of what its host has over its peers
      then.
    """

    def __init__(self, place: "Place", peers: List[int], device: torch.device, store: Any, limit: timedelta):
        self.place = place
        self.peers = peers
        self.spans = len(peers) > 1
        self.device = device
        self._store = store  # that of the first rank serves the others as long as it lives
        self._limit = limit
        self._groups: Dict[int, Any] = {}
        self._streams: Dict[int, torch.cuda.Stream] = {}

    def stream(self, model: int) -> torch.cuda.Stream:
        """One on which the model's calls can be waited for, which come in order."""
        if model not in self._streams:
            self._streams[model] = torch.cuda.Stream(self.device)
        return self._streams[model]

    def prepare(self, model: int) -> None:
        """Makes the model's communicator and uses it, before anything is on its way.

        It exists once all ranks of this host have called this. Later,
        a rank that waits for another one's sums could prevent it.
        """
        if model in self._groups:
            return
        share = torch.zeros(1, device=self.device)
        whole = torch.zeros(self.place.local_size, device=self.device)
        works = self.sum(model, [share], False)
        if self.spans:
            works += [self.scatter(model, whole, share), self.collect(model, whole, share)]
        for work in works:
            work.wait()
        torch.cuda.synchronize(self.device)

    def sum(self, model: int, tensors: List[torch.Tensor], average: bool) -> List[Any]:
        """Begins to sum or average each over the ranks of this host, in place,
        after what is on the current stream.

        Nothing orders the calls of two models. So each model has its own communicator.
        """
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
        """Begins to sum over the ranks of this host, as sum() does. Each rank gets its own share."""
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
            group = torch.distributed.ProcessGroupNCCL(store, self.place.local_rank, self.place.local_size,
                                                       options)
            self._groups[model] = group
        return group

    def close(self, failed: bool) -> None:
        """Called once all ranks have left the session; or if it has failed, at once,
        even with sums on their way."""
        if self._groups and not failed:
            torch.cuda.synchronize(self.device)
        for group in self._groups.values():
            end = next((getattr(group, name)
                        for name in (("abort", "_abort") if failed else ("shutdown", "_shutdown"))
                        if hasattr(group, name)), None)
            if end is not None:
                end()
        self._groups.clear()


class Local(Part):
    """What sums gradients on GPUs within this host, in one session."""

    def __init__(self, choice: str):
        self._choice = choice
        self._asked = False
        self._nccl: Optional[Nccl] = None

    @property
    def insists(self) -> bool:
        """Whether gradients that NCCL cannot sum are an error."""
        return self._choice == "nccl"

    def nccl(self, current: Session, device: torch.device, on_gpus: bool) -> Optional[Nccl]:
        """What sums gradients on GPUs, or None if the session itself does.

        All ranks ask. The first time they wait for each other,
        and say on which device theirs are and whether all are.
        """
        if not self._asked:
            place = Place(current.rank, current.size, current.c.local_rank(), current.c.local_size(),
                          current.c.servers())
            self._nccl = meet(self._choice, place, current.patience, device, on_gpus, current.exchange)
            self._asked = True
        return self._nccl

    def close(self, failed: bool) -> None:
        """As a Part's."""
        if self._nccl is not None:
            self._nccl.close(failed)
        self._nccl, self._asked = None, False


class Place(NamedTuple):
    """Where a rank is in the session."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    servers: int


# Gives every rank's numbers to all, by rank. A label always has the same count of numbers.
Exchange = Callable[[str, Sequence[int]], List[List[int]]]


def meet(choice: str, place: Place, patience: float, device: torch.device, on_gpus: bool,
         exchange: Exchange) -> Optional[Nccl]:
    """NCCL among the ranks of this host, or None if it cannot or must not be used.
    All ranks get the same answer.

    All ranks of the session call it. This rank's gradients are on `device`, all of them if `on_gpus`.
    """
    if place.size == 1:
        return None
    own, refused = None, None
    # Longer than the session waits, which knows better who holds it up.
    limit = timedelta(seconds=patience + 30)
    has_nccl = torch.distributed.is_nccl_available()
    if has_nccl and place.local_rank == 0 and place.local_size > 1 and choice != "none":
        try:
            own = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, timeout=limit,
                                             wait_for_workers=False)
        except (RuntimeError, OSError) as why:
            refused = why
    facts = RankFacts(CHOICES.index(choice), int(has_nccl), int(on_gpus), place.local_rank, place.local_size,
                      own.port if own else 0, _gpu(device))
    ranks = [RankFacts(*row) for row in exchange("local", facts)]
    refusal = _refusal(place, ranks)
    if refusal is not None:
        if choice == "nccl":
            raise InvalidError(f"local=nccl: {refusal}")
        return None
    if choice == "auto" and place.local_size == place.size and place.servers > 0:
        return None  # CPU machines of the same host: somebody wants to try them out
    first = place.rank - place.local_rank
    advice = (f"rank {place.rank} could not meet the other ranks of this host to sum with NCCL "
              "(set WEIR_LOCAL=none to sum without NCCL)")
    if ranks[first].port == 0:
        raise ResourceError(
            f"{advice}: rank {first} could not open a store{f': {refused}' if refused else ''}")
    try:
        store = own or torch.distributed.TCPStore("127.0.0.1", ranks[first].port, is_master=False,
                                                  timeout=min(limit, MEETING), wait_for_workers=False)
        store.set_timeout(limit)
    except (RuntimeError, OSError) as why:
        raise ResourceError(f"{advice}: {why}") from why
    _stores.append(store)
    return Nccl(place, list(range(place.local_rank, place.size, place.local_size)), device, store, limit)


class RankFacts(NamedTuple):
    """What a rank reports about itself."""

    choice: int
    has_nccl: int
    on_gpus: int
    local_rank: int
    local_size: int
    port: int
    gpu: int


def _refusal(place: Place, ranks: List[RankFacts]) -> Optional[str]:
    """Why NCCL cannot sum on each host: the same on all ranks, except for the rank that it names."""
    def who(wrong: Callable[[RankFacts], bool]) -> Optional[int]:
        return next((rank for rank, facts in enumerate(ranks) if wrong(facts)), None)

    other = who(lambda facts: facts.choice != ranks[0].choice)
    if other is not None:
        here, there = CHOICES[ranks[0].choice], CHOICES[ranks[other].choice]
        return f"WEIR_LOCAL is {here} on rank 0, and {there} on rank {other}"
    if CHOICES[ranks[0].choice] == "none":
        return "WEIR_LOCAL is none"
    for wrong, why in ((lambda facts: not facts.has_nccl, "the PyTorch of rank {} has no NCCL"),
                       (lambda facts: not facts.on_gpus, "not all gradients of rank {} are on a GPU")):
        rank = who(wrong)
        if rank is not None:
            return why.format(rank)
    local = ranks[0].local_size
    if any(facts.local_size != local for facts in ranks) or place.size % local != 0:
        return "hosts must have the same number of ranks each"
    if local == 1:
        return "each host has one rank, or ranks do not know how many share a host (WEIR_LOCAL_SIZE)"
    if any(facts.local_rank != rank % local for rank, facts in enumerate(ranks)):
        return "ranks of one host must have consecutive numbers"
    for first in range(0, place.size, local):
        if len({facts.gpu for facts in ranks[first:first + local]}) < local:
            return f"several of the ranks {first} to {first + local - 1}, of one host, are on the same GPU"
    return None


def _gpu(device: torch.device) -> int:
    """A number for the GPU: the same in all processes of the host, whatever number each knows the GPU by."""
    index = torch.cuda.current_device() if device.index is None else device.index
    known = getattr(torch.cuda.get_device_properties(index), "uuid", None)
    if not known:
        visible = [
            one.strip() for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one.strip()
        ]
        known = visible[index] if index < len(visible) else index
    return digest(str(known))


def digest(text: str) -> int:
    """63 bits of the text's hash."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1
