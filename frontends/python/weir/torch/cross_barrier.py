"""CrossBarrier: communication that overlaps with the next forward, layer by layer.

step() only notes the update of each parameter; before a module's next forward, the gradients of its own
parameters are waited for and the updates applied. So the first layers compute while gradients of later ones
are on their way.
"""

import collections
import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional

import torch

from ..asynchronous import enabled
from ..errors import InvalidError
from ._asynchronous import Asynchronous
from ._gradients import Slot
from ._optimizer import Distributed, DistributedOptimizer, distributed, members

CONTAINERS = (torch.nn.ParameterList, torch.nn.ParameterDict)  # whose forward nobody calls


class Delayed(Distributed):
    """An optimizer whose updates wait for the next forward.

    * `_noted` has the settings of its group, as they were at step(),
      of each parameter that has to be updated.
    * `_plain` is the optimizer as it was, but for its groups, which are those of one update.
    * `_cleared` are zero_grad()'s arguments if it was called since,
      and holds for noted parameters after the update.
    """

    _noted: Dict[torch.Tensor, Dict[str, Any]]
    _plain: torch.optim.Optimizer
    _cleared: Any = None
    _steps_left: int

    def step(self, closure: Optional[Callable[[], Any]] = None) -> Any:
        """Notes the update of all parameters; a closure is called before."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self.flush()  # of parameters that forward did not use
        if not self._gradients.settled and not self._skipping:
            self._gradients.begin_rest()
        self._gradients.stepped()
        self._cleared = None
        for group in self.param_groups:
            settings = {key: value for key, value in group.items() if key != "params"}
            for parameter in group["params"]:
                slot = self._gradients.slot_of.get(parameter)
                if slot is not None:
                    slot.delayed = True
                    self._noted[parameter] = settings
        self._steps_left -= 1
        if self._steps_left == 0:
            self.flush()
        return loss

    step.hooked = True  # type: ignore[attr-defined]

    def synchronize(self) -> None:
        """Applies updates that step() has noted, and waits for gradients that backward has made since,
        say to clip them before step()."""
        self.flush()
        if self._gradients.fresh:
            super().synchronize()

    def flush(self) -> None:
        """Applies what is noted: before parameters are looked at without a forward."""
        if self._noted:
            self.apply(list(self._noted))

    def apply(self, parameters: Iterable[torch.Tensor]) -> None:
        """Waits for the gradients of those that are noted, and updates them."""
        groups: Dict[int, Dict[str, Any]] = {}
        for parameter in parameters:
            settings = self._noted.pop(parameter, None)
            if settings is None:
                continue
            slot: Slot = self._gradients.slot_of[parameter]
            self._gradients.finish(slot)
            slot.delayed = False
            groups.setdefault(id(settings), {**settings, "params": []})["params"].append(parameter)
        if groups:
            self._plain.state = self.state
            self._plain.param_groups = list(groups.values())
            self._plain.step()
            if self._cleared is not None:
                how, named = self._cleared
                self._plain.zero_grad(*how, **named)

    def zero_grad(self, *how: Any, **named: Any) -> None:
        """As the optimizer's; gradients that an update needs still are cleared after it."""
        if not self._noted:
            super().zero_grad(*how, **named)
            return
        self._cleared = (how, named)
        self._plain.param_groups = [
            {**group, "params": [parameter for parameter in group["params"] if parameter not in self._noted]}
            for group in self.param_groups]
        self._plain.zero_grad(*how, **named)

    def state_dict(self, *how: Any, **named: Any) -> Dict[str, Any]:
        """As the optimizer's, after all updates."""
        self.flush()
        return super().state_dict(*how, **named)

    def load_state_dict(self, *how: Any, **named: Any) -> None:
        """As the optimizer's, after all updates."""
        self.flush()
        super().load_state_dict(*how, **named)


def _own(module: torch.nn.Module) -> List[torch.Tensor]:
    """The parameters that the module's forward uses itself."""
    result = list(module.parameters(recurse=False))
    for child in module.children():
        if isinstance(child, CONTAINERS):
            result += list(child.parameters())
    return result


def CrossBarrier(model: torch.nn.Module, optimizer: torch.optim.Optimizer, num_steps: int = 10**6) -> Any:
    """An optimizer, distributed or not yet, whose step() waits for nothing: the next forward of the model
    does, layer by layer. After `num_steps` steps, in synchronize() and in the state_dict() of model and
    optimizer all updates are applied; whoever reads parameters otherwise calls synchronize() before.

    It is for optimizers that update each parameter by itself, as all of torch.optim except LBFGS do, and for
    models whose parameters are used by the forward of the module that owns them.
    """
    if isinstance(optimizer, torch.optim.LBFGS):
        raise InvalidError(
            "LBFGS updates all parameters together, and a cross barrier updates them layer by layer")
    if isinstance(optimizer, Asynchronous):
        raise InvalidError(
            "the optimizer trains asynchronously: there are no sums of gradients for a forward to wait for")
    if not isinstance(optimizer, Distributed):
        if enabled() is not None:
            raise InvalidError(
                f"{enabled()} asks for asynchronous training, which has no sums of gradients for a "
                "forward to wait for: unset it, or use DistributedOptimizer without a cross barrier")
        optimizer = DistributedOptimizer(optimizer, _names(model, optimizer))
    if isinstance(optimizer, Delayed):
        raise InvalidError("the optimizer has a cross barrier already")
    own = type(optimizer).__mro__[2]  # behind the made class and Distributed
    plain: Any = object.__new__(own)
    plain.__dict__.update(members(optimizer))
    for hooks in ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"):  # not once a layer
        if hooks in plain.__dict__:
            plain.__dict__[hooks] = collections.OrderedDict()
    result = distributed(optimizer, Delayed, own, optimizer._gradients)
    result._noted = {}
    result._plain = plain
    result._steps_left = num_steps
    reference = weakref.ref(result)
    for module in model.modules():
        used = _own(module)  # of which some may be taken in later
        if used:
            module.register_forward_pre_hook(_waiter(reference, used))

    def whole(*_: Any) -> None:
        delayed = reference()
        if delayed is not None:
            delayed.flush()

    # Its tensors share memory with the parameters, so after is early enough.
    model._register_state_dict_hook(whole)
    return result


def _waiter(reference: Any, used: List[torch.Tensor]) -> Callable[..., None]:
    def wait(*_: Any) -> None:
        delayed = reference()
        if delayed is not None and delayed._noted:
            delayed.apply(used)

    return wait


def _names(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Any:
    """The model's names if they cover what the optimizer has."""
    named = list(model.named_parameters())
    known = {id(parameter) for _, parameter in named}
    whole = all(id(parameter) in known for group in optimizer.param_groups for parameter in group["params"])
    return named if whole else None
