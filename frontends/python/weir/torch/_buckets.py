"""Gradients in buckets, which NCCL sums among the ranks of a host,
and the session over hosts if there are several.

NCCL needs the same calls in the same order on all ranks. So buckets leave in an order that follows from that
of the parameters, whatever the order in which hooks are called. They come back in reverse: the parameters
that the next forward uses first are in the last bucket.
"""

from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

import torch

from ..errors import InvalidError, StateError
from ..memory import Declaration
from ..session import session
from ..transfers import Transfer
from ._local import Nccl, digest
from ._memory import DTYPES
from ._sums import scale
from ._transfers import begin_sum

BUCKET_BYTES = 25 << 20  # large enough that calls cost little, small enough that the first leaves early
FIRST_BYTES = 1 << 20
SHARE_BYTES = 256  # shares are padded to a multiple of this


class Host:
    """A bucket's way where all ranks are on one host: NCCL sums in place."""

    def __init__(self, nccl: Nccl, model: int, average: bool):
        self._nccl = nccl
        self._model = model
        self._average = average
        self._works: List[Any] = []

    def begin(self, tensors: List[torch.Tensor]) -> None:
        """Begins to sum tensors that are complete on the current stream."""
        self._works = self._nccl.sum(self._model, tensors, self._average)

    def done(self) -> bool:
        """Whether finish() would not wait for others."""
        return all(work.is_completed() for work in self._works)

    def finish(self) -> None:
        """The tensors are the sums, for what is put on the current stream from now on."""
        for work in self._works:
            work.wait()


class Hosts:
    """A bucket's way where there are several hosts.

    NCCL sums among the ranks of each host and leaves each rank a share. The session sums shares over the
    ranks of the same place on all hosts. Then NCCL gives all shares to all ranks of a host. So a host sends
    every gradient once, however many GPUs it has.
    """

    def __init__(self, nccl: Nccl, model: int, average: bool, key: str, elements: int, dtype: torch.dtype,
                 priority: int):
        place, device = nccl.place, nccl.device
        self._nccl = nccl
        self._model = model
        self._average = average
        self._elements = elements
        unit = SHARE_BYTES // torch.empty((), dtype=dtype).element_size()
        share = (elements + place.local_size * unit - 1) // (place.local_size * unit) * unit
        key = f"{key}.{place.local_rank}"  # a tensor of its own for each place
        self.declaration = Declaration(key, share, DTYPES[dtype], priority)
        self._key = key.encode()
        self._whole = torch.zeros(place.local_size * share, dtype=dtype, device=device)
        self._share = torch.zeros(share, dtype=dtype, device=device)
        self._stream = nccl.stream(model)  # for the session to know when the share is whole
        self._free = torch.cuda.Event()  # when nothing reads the memory of the round before
        self._warm_up(elements)

    def _warm_up(self, elements: int) -> None:
        """Does once all that a round does on the GPU.

        CUDA then loads kernels, and NCCL connects for this size. Both may wait for whatever runs on the GPU,
        and later that would be other ranks.
        """
        first = elements // 2
        self._tensors = [self._share.new_zeros(size) for size in (first, elements - first)]
        self._gather()
        self._nccl.scatter(self._model, self._whole, self._share).wait()
        self._scale_and_collect()
        self._spread()

    def _gather(self) -> None:
        with torch.no_grad():
            torch.cat([tensor.reshape(-1) for tensor in self._tensors], out=self._whole[:self._elements])

    def _scale_and_collect(self) -> None:
        scale(self._share, 1.0, session().size if self._average else 1)
        self._nccl.collect(self._model, self._whole, self._share).wait()

    def _spread(self) -> None:
        parts = self._whole[:self._elements].split([tensor.numel() for tensor in self._tensors])
        with torch.no_grad():
            for tensor, part in zip(self._tensors, parts):
                tensor.copy_(part.view(tensor.shape))
        self._tensors = []
        self._free.record(self._current())

    def _current(self) -> torch.cuda.Stream:
        return torch.cuda.current_stream(self._nccl.device)

    def begin(self, tensors: List[torch.Tensor]) -> None:
        """As Host's."""
        self._free.wait(self._current())
        self._tensors = tensors
        self._gather()
        work = self._nccl.scatter(self._model, self._whole, self._share)
        with torch.cuda.stream(self._stream):
            work.wait()
            self._transfer: Transfer = begin_sum(session(), self._key, self._share, self._share)

    def done(self) -> bool:
        """As Host's."""
        return self._transfer.done()

    def finish(self) -> None:
        """As Host's, once the share's sum has arrived."""
        self._transfer.wait()
        self._scale_and_collect()
        self._spread()


class Bucket:
    """Gradients of one dtype that are summed together. `tensors` are those that have come, by their place."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.members = 0
        self.elements = 0
        self.tensors: Dict[int, torch.Tensor] = {}
        self.way: Any = None  # Host or Hosts, once there is one

    def bytes(self) -> int:
        """Of the gradients that it has."""
        return self.elements * torch.empty((), dtype=self.dtype).element_size()


class Member(NamedTuple):
    """What is known of a gradient before it comes."""

    key: Any
    name: str
    dtype: torch.dtype
    elements: int


class Share:
    """A gradient on its way in its bucket, like a Transfer of one tensor.
    It arrives averaged if an average is meant."""

    __slots__ = ("_tensor", "_buckets", "_place", "_round")

    def __init__(self, tensor: torch.Tensor, buckets: "Buckets", place: int, number: int):
        self._tensor = tensor
        self._buckets = buckets
        self._place = place
        self._round = number

    def done(self) -> bool:
        """Whether the sum is there."""
        return self._buckets.done(self._place, self._round)

    def wait(self) -> torch.Tensor:
        """The sum, for what is put on the current stream from now on."""
        self._buckets.finish(self._place, self._round)
        return self._tensor


class Buckets:
    """The gradients of a model, which has its own number.
    A bucket leaves once it and those before it are complete."""

    def __init__(self, nccl: Nccl, model: int, average: bool, prefix: str):
        self._nccl = nccl
        self._model = model
        self._average = average
        self._prefix = prefix
        nccl.prepare(model)
        self._buckets: List[Bucket] = []
        self._places: Dict[Any, Tuple[int, int]] = {}  # key -> its bucket, and place in that
        self._next = 0  # to leave
        self._round = 0  # of which it is
        self._back = 0  # buckets from here on have come back, of the last round that has left whole

    def __contains__(self, key: Any) -> bool:
        return key in self._places

    def add(self, members: Sequence[Member]) -> None:
        """Takes gradients in, in the order in which backward makes them, while none is on its way.

        All ranks call it. InvalidError if other ranks have other gradients, or have them in another order.
        """
        tensors = [(member.name, str(member.dtype), member.elements) for member in members]
        own = digest(repr([self._average, *tensors]))
        for rank, (other,) in enumerate(session().exchange("parameters", [own])):
            if other != own:
                raise InvalidError(
                    f"the trained parameters of model {self._model} differ between rank {rank} and rank "
                    f"{session().rank}, or their order differs, or one rank averages and the other "
                    "sums; all ranks must do the same")
        filling: Dict[torch.dtype, int] = {}
        first = len(self._buckets)
        for member in members:
            number = filling.get(member.dtype)
            full = FIRST_BYTES if number == 0 else BUCKET_BYTES
            if number is None or self._buckets[number].bytes() >= full:
                number = filling[member.dtype] = len(self._buckets)
                self._buckets.append(Bucket(member.dtype))
            bucket = self._buckets[number]
            self._places[member.key] = (number, bucket.members)
            bucket.members += 1
            bucket.elements += member.elements
        self._finish_to(0)
        for number, bucket in enumerate(self._buckets[first:], first):
            if self._nccl.spans:
                bucket.way = Hosts(self._nccl, self._model, self._average, f"{self._prefix}bucket{number}",
                                   bucket.elements, bucket.dtype, number)
            else:
                bucket.way = Host(self._nccl, self._model, self._average)
        if self._nccl.spans and members:
            session().c.declare([bucket.way.declaration for bucket in self._buckets[first:]],
                                self._nccl.peers)

    def begin(self, key: Any, tensor: torch.Tensor) -> Share:
        """A gradient is complete. Nobody touches it until its share has been waited for."""
        number, place = self._places[key]
        dense = tensor.contiguous()
        self._buckets[number].tensors[place] = dense
        share = Share(dense, self, number, self._round + (number < self._next))
        while len(self._buckets[self._next].tensors) == self._buckets[self._next].members:
            if self._next == 0:
                self._finish_to(0)  # what nobody has waited for
            bucket = self._buckets[self._next]
            whole = [bucket.tensors[i] for i in range(bucket.members)]
            bucket.tensors = {}
            bucket.way.begin(whole)
            self._next += 1
            if self._next == len(self._buckets):
                self._next = 0
                self._round += 1
                self._back = len(self._buckets)
        return share

    def done(self, number: int, of_round: int) -> bool:
        """Whether the bucket's sums are there, of that round."""
        if of_round >= self._round:
            return False
        buckets = self._buckets[number:self._back]
        return of_round < self._round - 1 or all(bucket.way.done() for bucket in buckets)

    def finish(self, number: int, of_round: int) -> None:
        """The bucket's sums are there, for what is put on the current stream from now on."""
        if of_round >= self._round:
            raise StateError("a gradient is waited for before all gradients of its model are ready: call "
                             "synchronize() of the optimizer, which hands over the others")
        if of_round == self._round - 1:
            self._finish_to(number)

    def _finish_to(self, number: int) -> None:
        while self._back > number:
            self._back -= 1
            self._buckets[self._back].way.finish()
