"""Asynchronous training: CPU machines keep the weights,
and each rank adds its own updates at its own pace."""

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Type

import torch

from .. import asynchronous as neutral
from .. import names
from ..arguments import check_passes
from ..errors import StateError
from ..memory import Declaration
from ..session import Session, session
from ..transfers import Transfer
from ._gradients import Named, named_for
from ._memory import DTYPES
from ._optimizer import members
from ._transfers import begin_accumulate
from .compression import Compression, Compressor


class Slot:
    """A parameter, and its weights as they last came from the CPU machines.

    * `buffer` has these weights without gaps, but while they are on their way:
      then what is to be added to them.
    * `version` is the parameter's when it got them, to tell whether somebody else has written to it since.
    """

    __slots__ = ("parameter", "name", "key", "buffer", "version")

    def __init__(self, parameter: torch.Tensor, name: str, key: str):
        self.parameter = parameter
        self.name = name
        self.key = key.encode()
        self.buffer = torch.empty(parameter.shape, dtype=parameter.dtype, device=parameter.device)
        self.version = -1


class Weights:
    """Parameters whose weights the CPU machines keep: those of rank 0 at first."""

    def __init__(self, named: Sequence[Named]):
        self._slots: List[Slot] = []
        self._known: Set[torch.Tensor] = set()
        self._frozen: Dict[torch.Tensor, str] = {}
        self._session: Session = session()
        self._prefix = names.prefix("Weights", self._session.new_model())
        self.add(named)

    def add(self, named: Sequence[Named]) -> None:
        """Takes parameters in, in the order in which forward uses them, which get rank 0's weights;
        all ranks do."""
        self.check()
        new: List[Slot] = []
        for name, parameter in named:
            if parameter in self._known:
                continue
            if not parameter.requires_grad:
                self._frozen[parameter] = name
                continue
            if parameter.dtype not in DTYPES:
                raise TypeError(f"'{name}' has the dtype {parameter.dtype}, which Weir does not sum")
            new.append(Slot(parameter, name, self._prefix + name))
        if new:
            session().declare([
                Declaration(slot.key.decode(), slot.buffer.numel(), DTYPES[slot.buffer.dtype],
                            len(new) - place, kept=True) for place, slot in enumerate(new)
            ])
        self._known.update(slot.parameter for slot in new)
        self._slots += new
        _begin(new)

    def check(self) -> None:
        """To be called before a step. In another session than before weights begin anew, with rank 0's."""
        current = session()
        if current is not self._session:
            self._session = current
            _begin(self._slots)
        for parameter, name in self._frozen.items():
            if parameter.requires_grad:
                raise StateError(
                    f"'{name}' was frozen when the optimizer was made, so the CPU machines do not keep it: "
                    "make a new optimizer once every trained parameter requires gradients")
        for slot in self._slots:
            parameter = slot.parameter
            if parameter._version != slot.version and not torch.equal(parameter, slot.buffer):
                raise StateError(
                    f"'{slot.name}' has been changed since the last step(), but not by the optimizer. The "
                    "CPU machines keep the weights: load weights before DistributedOptimizer is made")

    def push(self) -> None:
        """Adds what the parameters have changed by to what is kept, and gives them what that is then."""
        _exchange(self._slots, lambda slot: torch.sub(slot.parameter, slot.buffer, out=slot.buffer))

    def pull(self) -> None:
        """Gives the parameters what is kept."""
        _exchange(self._slots, lambda slot: slot.buffer.zero_())


def _begin(slots: Sequence[Slot]) -> None:
    """All ranks begin with rank 0's weights."""
    neutral.begin(lambda: _exchange(slots, lambda slot: slot.buffer.copy_(slot.parameter)),
                  lambda: _exchange(slots, lambda slot: slot.buffer.zero_()))


def _exchange(slots: Sequence[Slot], fill: Callable[[Slot], Any]) -> None:
    """Adds what `fill` puts into each buffer to what is kept, and takes over what is kept then."""
    current = session()

    def start(slot: Slot) -> Transfer:
        fill(slot)
        return begin_accumulate(current, slot.key, slot.buffer)

    def take(slot: Slot, kept: torch.Tensor) -> None:
        slot.parameter.copy_(kept)
        slot.version = slot.parameter._version

    with torch.no_grad():
        neutral.exchange(slots, start, take)


class Asynchronous(torch.optim.Optimizer):
    """What asynchronous training adds to the class of an optimizer,
    which stands behind it in the order of bases."""

    _weights: Weights

    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """Updates the parameters with this rank's gradients, adds the change to the weights that the CPU
        machines keep, and takes over what these are then. Waits for no other rank."""
        self._weights.check()
        result = super().step() if closure is None else super().step(closure)
        self._weights.push()
        return result

    step.hooked = True  # type: ignore[attr-defined]  # the base's step already calls the hooks of PyTorch 2

    def pull(self) -> None:
        """Takes over the weights as they are kept now: after a barrier() they are the same on all ranks."""
        self._weights.check()
        self._weights.pull()

    def synchronize(self) -> None:
        """Does nothing: gradients are this rank's, and whole when backward ends."""

    @contextlib.contextmanager
    def skip_synchronize(self) -> Iterator[None]:
        """Changes nothing, as there is nothing to skip."""
        yield

    def set_backward_passes_per_step(self, passes: int) -> None:
        """Changes nothing: gradients add up until zero_grad(), however many backward passes a step has."""
        check_passes(passes)

    def add_param_group(self, param_group: dict) -> None:
        """As the optimizer's; the new parameters are rank 0's, and kept too. All ranks call it."""
        super().add_param_group(param_group)
        self._weights.add(named_for(self, None))


def asynchronous(optimizer: torch.optim.Optimizer, named: Sequence[Named], compression: Type[Compressor],
                 average: bool, predivide: float, passes: int) -> Any:
    """The optimizer as one that trains asynchronously; it shares state and groups with it."""
    neutral.check(compression is not Compression.none, average, predivide, passes)
    own = type(optimizer)
    result: Any = object.__new__(type(own.__name__, (Asynchronous, own), {}))
    result.__dict__.update(members(optimizer))
    result._weights = Weights(named)
    return result
