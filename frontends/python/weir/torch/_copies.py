"""Broadcasts: tensors, models and optimizers of one rank for all."""

from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

import torch

from ..arguments import all_ranks
from ..objects import broadcast_object
from ..session import session
from ..transfers import Transfer, issue
from ._memory import check_tensor
from ._sums import push_pull
from ._transfers import begin_copy


def _detached(tensor: torch.Tensor) -> torch.Tensor:
    check_tensor(tensor, "the value to broadcast")
    return tensor.detach()


def _copy(tensor: torch.Tensor, root_rank: int, name: Optional[str]) -> Transfer:
    return begin_copy(session(), name, _detached(tensor), root_rank)


class _Differentiable(torch.autograd.Function):
    """A broadcast, whose gradient is the sum of the ranks' gradients on the root and zero elsewhere."""

    @staticmethod
    def forward(ctx, tensor, root_rank, name):
        ctx.root_rank = root_rank
        return _copy(tensor.detach().clone(), root_rank, name).wait()

    @staticmethod
    def backward(ctx, gradient):
        total = push_pull(gradient, average=False)
        return total if session().rank == ctx.root_rank else total.zero_(), None, None


def broadcast(tensor: torch.Tensor, root_rank: int, name: Optional[str] = None,
              process_set: Any = None) -> torch.Tensor:
    """Rank `root_rank`'s tensor, of any dtype, as a new tensor; gradients flow through it."""
    all_ranks(process_set)
    own = _detached(tensor)
    if tensor.requires_grad and torch.is_grad_enabled():
        return _Differentiable.apply(tensor, root_rank, name)
    return _copy(own.clone(), root_rank, name).wait()


def broadcast_(tensor: torch.Tensor, root_rank: int, name: Optional[str] = None,
               process_set: Any = None) -> torch.Tensor:
    """As broadcast(), into the tensor itself."""
    all_ranks(process_set)
    _copy(tensor, root_rank, name).wait()
    return tensor


def broadcast_async(tensor: torch.Tensor, root_rank: int, name: Optional[str] = None,
                    process_set: Any = None) -> int:
    """As broadcast(), but returns a handle for synchronize() at once."""
    all_ranks(process_set)
    return issue(_copy(_detached(tensor).clone(), root_rank, name))


def broadcast_async_(tensor: torch.Tensor, root_rank: int, name: Optional[str] = None,
                     process_set: Any = None) -> int:
    """As broadcast_async(), into the tensor itself."""
    all_ranks(process_set)
    return issue(_copy(tensor, root_rank, name))


Parameters = Union[Mapping[str, Any], Iterable[Tuple[str, Any]], Iterable[torch.Tensor]]


def broadcast_parameters(params: Parameters, root_rank: int = 0, prefix: str = "Parameter.") -> None:
    """Gives all ranks the tensors of one: a state_dict(), named_parameters(),
    or tensors in the same order on all."""
    seen = set()
    transfers: List[Transfer] = []
    for name, tensor in _named(params):
        if tensor is None:
            continue
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"'{name}' is a {type(tensor).__name__} and not a tensor: use broadcast_object()")
        where = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        # Shared, as embeddings may be: not to be written twice at once.
        if tensor.numel() > 0 and where in seen:
            continue
        seen.add(where)
        distinct = session().copied.name(f"{prefix}{name}", (tensor.numel(), tensor.dtype))
        transfers.append(_copy(tensor, root_rank, distinct))
    for transfer in transfers:
        transfer.wait()


def _named(params: Parameters) -> List[Tuple[str, Any]]:
    if isinstance(params, Mapping):
        return sorted(params.items())
    items: List[Any] = list(params)
    if all(isinstance(item, tuple) and len(item) == 2 for item in items):
        return items
    if all(isinstance(item, torch.Tensor) for item in items):
        return [(str(index), item) for index, item in enumerate(items)]
    raise TypeError("params must be a dict, pairs of names and tensors, or tensors")


class _Placeholder:
    """Where a tensor stood in a state."""

    def __init__(self, tensor: torch.Tensor):
        self.shape = tensor.shape
        self.dtype = tensor.dtype
        self.on_host = tensor.device.type == "cpu"


def _outline(value: Any, tensors: List[torch.Tensor]) -> Any:
    """The value with placeholders for tensors, which are put into the list."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return _Placeholder(value)
    if isinstance(value, dict):
        return {key: _outline(item, tensors) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_outline(item, tensors) for item in value)
    return value


def _filled(value: Any, device: torch.device, tensors: List[torch.Tensor]) -> Any:
    """The value with new tensors for placeholders."""
    if isinstance(value, _Placeholder):
        tensors.append(torch.empty(value.shape, dtype=value.dtype, device="cpu" if value.on_host else device))
        return tensors[-1]
    if isinstance(value, dict):
        return {key: _filled(item, device, tensors) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_filled(item, device, tensors) for item in value)
    return value


def broadcast_optimizer_state(optimizer: torch.optim.Optimizer, root_rank: int = 0,
                              prefix: str = "Parameter.") -> None:
    """Gives all ranks' optimizers the state of one: learning rates and other settings,
    and what it has accumulated."""
    tensors: List[torch.Tensor] = []
    if session().rank == root_rank:
        broadcast_object(_outline(optimizer.state_dict(), tensors), root_rank)
        _broadcast_state(tensors, root_rank, prefix)
        return
    outline: Dict[str, Any] = broadcast_object(None, root_rank)
    device = next((tensor.device for group in optimizer.param_groups for tensor in group["params"]),
                  torch.device("cpu"))
    state = _filled(outline, device, tensors)
    _broadcast_state(tensors, root_rank, prefix)
    optimizer.load_state_dict(state)


def _broadcast_state(tensors: List[torch.Tensor], root_rank: int, prefix: str) -> None:
    broadcast_parameters([(f"state.{index}", tensor) for index, tensor in enumerate(tensors)], root_rank,
                         prefix)
