"""The gradients of a model: summed as backward makes them, one hook a parameter."""

import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Type, Union

import torch

from .. import names
from ..arguments import check_passes, kind_of
from ..errors import Error, InvalidError, StateError
from ..memory import Declaration
from ..session import Session, session
from ..transfers import Transfer
from ._buckets import Buckets, Member, Share
from ._hooks import Hooked, when_accumulated
from ._memory import DTYPES
from ._session import local
from ._sums import scale
from ._transfers import begin_sum
from .compression import Compression, Compressor

Named = Tuple[str, torch.Tensor]


class Slot:
    """A parameter and where its gradient is.

    * `left` counts the backward passes until the gradient is handed over.
    * `transfer` and `gradient`, which is the parameter's, are None unless the gradient is on its way.
    """

    __slots__ = ("parameter", "name", "key", "left", "transfer", "gradient", "ctx", "delayed")

    def __init__(self, parameter: torch.Tensor, name: str, key: str, passes: int):
        self.parameter = parameter
        self.name = name
        self.key = key.encode()
        self.left = passes
        self.transfer: Optional[Union[Transfer, Share]] = None
        self.gradient: Optional[torch.Tensor] = None
        self.ctx: Any = None
        self.delayed = False  # an update with the last gradient is still to be applied


class Gradients:
    """Sums or averages over all ranks of the gradients of parameters.

    * A gradient is handed over by the hook that backward calls once it is there, after `passes` passes,
      and not touched until finish().
    * Parameters without a gradient count as zeros, so that all ranks hand over the same.
    * `active` False leaves gradients alone.
    """

    def __init__(self, named: Sequence[Named], compression: Type[Compressor] = Compression.none,
                 average: bool = True, predivide: float = 1.0, passes: int = 1, sparse_as_dense: bool = False,
                 begun: Optional[Callable[[], None]] = None):
        check_passes(passes)
        self.active = True
        self.fresh = False  # backward has made some since the last step
        self.settled = False  # synchronized since then
        self.slots: List[Slot] = []
        self.slot_of: Dict[torch.Tensor, Slot] = {}
        self._frozen: Dict[torch.Tensor, str] = {}  # parameters that want no gradient yet, and their names
        self._compression = compression
        self._average = average
        self._predivide = predivide
        self._passes = passes
        self._sparse_as_dense = sparse_as_dense
        self._begun = begun
        self._kept: List[Hooked] = []  # hooks of parameters
        self._buckets: Optional[Buckets] = None
        self._met: Optional[Session] = None  # the session to which that applies
        self._model = session().new_model(self)
        self.prefix = names.prefix("Gradient", self._model)
        self.add(named)

    def add(self, named: Sequence[Named], underway: bool = False) -> None:
        """Takes parameters in, in the order in which forward uses them: earlier ones are more urgent.

        While other gradients may be `underway`, it does not put these into buckets.
        """
        new = []
        for name, parameter in named:
            if parameter in self.slot_of:
                continue
            if not parameter.requires_grad:
                self._frozen[parameter] = name
                continue
            if parameter.dtype not in DTYPES:
                raise TypeError(f"'{name}' has the dtype {parameter.dtype}, which Weir does not sum")
            slot = Slot(parameter, name, self.prefix + name, self._passes)
            self.slot_of[parameter] = slot
            new.append(slot)
        first = not self.slots
        self.slots += new
        if first:
            self.meet()
        elif self._buckets is not None and not underway and all(slot.parameter.is_cuda for slot in new):
            self._buckets.add(self._members(new))
        else:
            self._declare(new)
        for slot in new:
            self._watch(slot)

    def meet(self) -> None:
        """Finds out what sums in the present session: the session itself, or NCCL,
        for which ranks wait for each other."""
        self._met, self._buckets = session(), None
        devices = {slot.parameter.device for slot in self.slots}
        on_gpus = [device for device in devices if device.type == "cuda"]
        if on_gpus and session().size > 1:
            nccl = local().nccl(session(), on_gpus[0], len(devices) == 1)
            if nccl is not None and len(devices) == 1:
                self._buckets = Buckets(nccl, self._model, self._average, self.prefix)
                self._buckets.add(self._members(self.slots))
        elif local().insists and session().size > 1 and self.slots:
            raise InvalidError("local=nccl: gradients are not on GPUs")
        if self._buckets is None:
            self._declare(self.slots)

    def _members(self, slots: Sequence[Slot]) -> List[Member]:
        """In the order in which backward makes their gradients."""
        likes = [(slot, self._like(slot)) for slot in reversed(slots)]
        return [Member(slot, slot.name, like.dtype, like.numel()) for slot, like in likes]

    def _like(self, slot: Slot) -> torch.Tensor:
        """A tensor without memory, with the size and dtype of what is handed over for the slot."""
        packed, _ = self._compression.compress(slot.parameter.detach())
        return packed.to("meta")

    def _declare(self, slots: Sequence[Slot]) -> None:
        """Makes gradients known to the library. Earlier ones are more urgent."""
        if slots:
            likes = [self._like(slot) for slot in slots]
            session().c.declare([
                Declaration(slot.key.decode(), like.numel(), DTYPES[like.dtype],
                            len(slots) - place, kind=kind_of(self._average))
                for place, (slot, like) in enumerate(zip(slots, likes))
            ])

    def _watch(self, slot: Slot) -> None:
        # Weak: a parameter must not keep an optimizer alive, nor hand its gradient over for one that is gone.
        reference = weakref.ref(self)

        def hook(*_: Any) -> None:
            gradients = reference()
            if gradients is not None and gradients.active:
                gradients.ready(slot)

        self._kept.append(when_accumulated(slot.parameter, hook))

    def set_passes(self, passes: int) -> None:
        """From the next step on, gradients are handed over after so many backward passes."""
        check_passes(passes)
        self._passes = passes
        for slot in self.slots:
            slot.left = passes

    def ready(self, slot: Slot) -> None:
        """Backward has made the parameter's gradient."""
        if slot.delayed:
            raise StateError(
                f"'{slot.name}' got a gradient before its last update: forward used it without calling the "
                "module that owns it, so the cross barrier missed it; train without cross_barrier")
        self.fresh = True
        self.settled = False
        if slot.left <= 0:
            raise StateError(
                f"'{slot.name}' got another gradient before step(): for several backward passes a step, set "
                "backward_passes_per_step")
        slot.left -= 1
        if slot.left == 0:
            self.begin(slot)

    def begin(self, slot: Slot) -> None:
        """Hands the gradient over."""
        parameter = slot.parameter
        gradient = parameter.grad
        if gradient is None:
            gradient = parameter.grad = torch.zeros_like(parameter)
        elif gradient.layout != torch.strided:
            if not self._sparse_as_dense:
                raise TypeError(f"'{slot.name}' has a sparse gradient, and Weir sums dense ones only: pass "
                                "sparse_as_dense=True, or make its layer with sparse=False")
            gradient = parameter.grad = gradient.to_dense()
        if self._begun is not None:
            self._begun()
        current = session()
        if current.size == 1:
            return
        slot.gradient = gradient
        tensor = gradient.detach()
        if self._predivide != 1.0:
            tensor.div_(self._predivide)
        packed, slot.ctx = self._compression.compress(tensor)
        if self._met is not current:
            self.meet()
        if self._buckets is not None and slot in self._buckets:
            slot.transfer = self._buckets.begin(slot, packed)
            return
        slot.transfer = begin_sum(current, slot.key, packed, packed, kind_of(self._average))

    def finish(self, slot: Slot) -> None:
        """Waits for the sum and makes it the parameter's gradient."""
        slot.left = self._passes
        transfer, slot.transfer = slot.transfer, None
        gradient, slot.gradient = slot.gradient, None
        if transfer is None or gradient is None:
            return
        total = self._compression.decompress(transfer.wait(), slot.ctx)
        if total.data_ptr() != gradient.data_ptr():
            with torch.no_grad():
                gradient.copy_(total)
        summed = self._average and not isinstance(transfer, Share)
        scale(gradient, self._predivide, session().size if summed else 1)
        slot.parameter.grad = gradient

    def begin_rest(self) -> None:
        """Hands over what backward has not, so that all ranks hand over the same.

        That includes the gradients of parameters that were frozen and no longer are.
        """
        thawed = [(name, parameter) for parameter, name in self._frozen.items() if parameter.requires_grad]
        if thawed:
            for _, parameter in thawed:
                del self._frozen[parameter]
            self.add(thawed, underway=True)  # on this rank or others
        for slot in self.slots:
            if slot.transfer is None:
                self.begin(slot)

    def synchronize(self) -> None:
        """Waits until all gradients are what they are on every rank."""
        self.begin_rest()
        failure = None
        for slot in self.slots:
            try:
                self.finish(slot)
            except Error as why:  # of one tensor, maybe: the others are to be whole
                failure = failure or why
        if failure is not None:
            raise failure
        self.settled = True

    def stepped(self) -> None:
        """A step has used, or will use, the gradients as they are now."""
        self.fresh = self.settled = False

    def underway(self) -> bool:
        """Whether a gradient is on its way."""
        return any(slot.transfer is not None for slot in self.slots)


def named_for(optimizer: torch.optim.Optimizer, named_parameters: Optional[Iterable[Named]]) -> List[Named]:
    """The optimizer's parameters with their names, in the order in which forward uses them.

    Names and order are those of `named_parameters`, else of the optimizer's groups.
    ValueError if they do not fit.
    """
    owned = [(f"group{g}.{index}", parameter) for g, group in enumerate(optimizer.param_groups)
             for index, parameter in enumerate(group["params"])]
    if named_parameters is None:
        return owned
    named = list(named_parameters)
    if not all(isinstance(item, tuple) and len(item) == 2 for item in named):
        raise ValueError(
            "named_parameters must be pairs of names and parameters, as model.named_parameters() gives")
    twice = names.repeated([name for name, _ in named])
    if twice:
        raise ValueError(f"named_parameters gives these names more than once: {', '.join(twice)}")
    known = {id(parameter) for _, parameter in named}
    unnamed = [name for name, parameter in owned if id(parameter) not in known]
    if unnamed:
        raise ValueError(f"named_parameters lacks parameters of the optimizer: {', '.join(unnamed)}")
    ids = {id(parameter) for _, parameter in owned}
    return [(name, parameter) for name, parameter in named if id(parameter) in ids]
