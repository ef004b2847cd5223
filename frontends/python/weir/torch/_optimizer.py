"""DistributedOptimizer: any optimizer of PyTorch, with gradients that all ranks share."""

import contextlib
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Type

import torch

from ..arguments import Op, all_ranks, averages, check_predivide
from ..asynchronous import enabled
from ..errors import InvalidError, StateError
from ._gradients import Gradients, Named, named_for
from .compression import Compression, Compressor

ADVICE = "call step(), or synchronize(), first"


class Distributed(torch.optim.Optimizer):
    """What DistributedOptimizer adds to the class of an optimizer,
    which stands behind it in the order of bases."""

    _gradients: Gradients
    _skipping = False

    def synchronize(self) -> None:
        """Waits until all gradients are the same on every rank:
        to look at them or clip them before step()."""
        self._gradients.synchronize()

    @contextlib.contextmanager
    def skip_synchronize(self) -> Iterator[None]:
        """step() within does not synchronize: after an explicit synchronize(), say for clipping."""
        self._skipping = True
        try:
            yield
        finally:
            self._skipping = False

    def set_backward_passes_per_step(self, passes: int) -> None:
        """From the next step on, gradients are gathered over so many backward passes before they are
        summed."""
        self._gradients.set_passes(passes)

    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """Synchronizes, unless that has been done since the last backward pass, and updates the parameters. A
        closure is called first, by the optimizer, and its gradients are synchronized."""
        if closure is None:
            self._settle()
            return super().step()

        def settled() -> Any:
            loss = closure()
            self._settle()
            return loss

        return super().step(settled)

    step.hooked = True  # type: ignore[attr-defined]  # the base's step already calls the hooks of PyTorch 2

    def _settle(self) -> None:
        if not self._gradients.settled and not self._skipping:
            self.synchronize()
        self._gradients.stepped()

    def zero_grad(self, *how: Any, **named: Any) -> None:
        """As the optimizer's. Not while gradients are on their way."""
        if self._gradients.underway():
            raise StateError(f"zero_grad() while gradients are on their way: {ADVICE}")
        super().zero_grad(*how, **named)

    def add_param_group(self, param_group: dict) -> None:
        """As the optimizer's; the new parameters are synchronized too.
        Not while gradients are on their way."""
        if self._gradients.underway():
            raise StateError(f"add_param_group() while gradients are on their way: {ADVICE}")
        super().add_param_group(param_group)
        self._gradients.add(named_for(self, None))


def distributed(optimizer: torch.optim.Optimizer, kind: type, own: type, gradients: Gradients) -> Any:
    """The optimizer as one of a class that is both `kind` and `own`; it shares state and groups with it."""
    result: Any = object.__new__(type(own.__name__, (kind, own), {}))
    result.__dict__.update(members(optimizer))
    result._gradients = gradients
    return result


def members(optimizer: torch.optim.Optimizer) -> Dict[str, Any]:
    """What the optimizer holds, for another object; without a `step` of this one, which a scheduler of
    learning rates may have put into it."""
    return {key: value for key, value in optimizer.__dict__.items() if key != "step"}


def DistributedOptimizer(optimizer: torch.optim.Optimizer, named_parameters: Optional[Iterable[Named]] = None,
                         compression: Type[Compressor] = Compression.none, backward_passes_per_step: int = 1,
                         op: Op = Op.Average, gradient_predivide_factor: float = 1.0, num_groups: int = 0,
                         groups: Any = None, sparse_as_dense: bool = False, process_set: Any = None, *,
                         cross_barrier: bool = False, model: Optional[torch.nn.Module] = None,
                         asynchronous: Optional[bool] = None, **more: Any) -> Any:
    """An optimizer whose gradients are averaged (op=Sum: summed) over all ranks,
    beginning while backward goes on.

    `named_parameters`, best model.named_parameters(), gives tensors the same names on all ranks; their order
    is that of their urgency, as forward needs the first ones first. A parameter that gets no gradient in a
    step counts as zeros, and has the average as gradient then. Gradients are divided by
    `gradient_predivide_factor` before the sum, and by the rest of the ranks' number after it. `num_groups`
    and `groups` are Horovod's and make no difference.

    With `cross_barrier`, step() does not wait: the next forward of `model` does,
    layer by layer (CrossBarrier).

    With `asynchronous`, which `**{"async": True}`, WEIR_ASYNC=1 and BYTEPS_ENABLE_ASYNC=1 ask for, too, no
    gradients are summed: each rank updates with its own, adds the change to the weights that CPU machines
    keep, takes over what these are then, and waits for no other rank. All begin with rank 0's weights. pull()
    takes over what is kept at its time.
    """
    from . import _asynchronous
    del num_groups, groups
    if "async" in more and asynchronous is None:
        asynchronous = more.pop("async")
    if more:
        raise TypeError(
            f"DistributedOptimizer() has no argument {', '.join(map(repr, more))}, or got it twice")
    all_ranks(process_set)
    average = averages(None, op)
    check_predivide(gradient_predivide_factor, average)
    if cross_barrier and model is None:
        raise InvalidError("cross_barrier needs the model, whose forward waits: pass model=model")
    if isinstance(optimizer, (Distributed, _asynchronous.Asynchronous)):
        raise InvalidError("the optimizer is distributed already")
    if enabled() is not None if asynchronous is None else asynchronous:
        if cross_barrier:
            raise InvalidError(
                "cross_barrier lets forward wait for sums of gradients, but asynchronous training has "
                "no such sums: use only one of the two")
        return _asynchronous.asynchronous(optimizer, named_for(optimizer, named_parameters), compression,
                                          average, gradient_predivide_factor, backward_passes_per_step)
    gradients = Gradients(named_for(optimizer, named_parameters), compression, average,
                          gradient_predivide_factor, backward_passes_per_step, sparse_as_dense)
    result = distributed(optimizer, Distributed, type(optimizer), gradients)
    if cross_barrier:
        from .cross_barrier import CrossBarrier
        return CrossBarrier(model, result)
    return result
