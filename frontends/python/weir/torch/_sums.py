"""Sums and averages over all ranks, under the names of BytePS (push_pull) and Horovod (allreduce)."""

from typing import Any, List, Optional, Sequence, Type

import torch

from ..arguments import Op, all_ranks, averages, kind_of
from ..errors import InvalidError
from ..names import of_group
from ..session import session
from ..transfers import Group, Pending, Then, issue, synchronize
from ._memory import check_tensor
from ._transfers import begin_sum
from .compression import Compression, Compressor

Name = Optional[str]


def scale(tensor: torch.Tensor, factor: float, divisor: int) -> None:
    """tensor *= factor / divisor, in place. Quotients of integers are rounded down, as Horovod's are."""
    with torch.no_grad():
        if factor != 1.0:
            tensor.mul_(factor)
        if divisor != 1:
            if tensor.dtype.is_floating_point:
                tensor.div_(divisor)
            else:
                tensor.div_(divisor, rounding_mode="floor")


def _summed(tensor: torch.Tensor, output: torch.Tensor, name: Name, average: bool, after: float) -> Pending:
    """A sum on its way, which is scaled once it has arrived."""
    current = session()
    encoded = None if name is None else name.encode()
    divisor = current.size if average else 1

    def scaled(result: torch.Tensor) -> torch.Tensor:
        scale(result, after, divisor)
        return result

    return Then(begin_sum(current, encoded, tensor, output, kind_of(average)), scaled)


SUMMED = "the value to sum"  # in errors


def _check(tensor: torch.Tensor, before: float, after: float) -> None:
    check_tensor(tensor, SUMMED)
    if (before != 1.0 or after != 1.0) and not tensor.dtype.is_floating_point:
        raise InvalidError(f"tensors of {tensor.dtype} cannot be scaled")


def _new(tensor: torch.Tensor, name: Name, average: bool, before: float = 1.0, after: float = 1.0,
         compression: Type[Compressor] = Compression.none) -> Pending:
    """Begins to sum into a new tensor."""
    _check(tensor, before, after)
    source, ctx = compression.compress(tensor.detach())
    if before != 1.0:
        source = source * before
        output = source
    else:
        output = torch.empty(source.shape, dtype=source.dtype, device=source.device)
    summed = _summed(source, output, name, average, after)
    if compression is Compression.none:
        return summed
    return Then(summed, lambda result: compression.decompress(result, ctx))


def _same(tensor: torch.Tensor, name: Name, average: bool, before: float = 1.0,
          after: float = 1.0) -> Pending:
    """Begins to sum into the tensor itself."""
    _check(tensor, before, after)
    source = tensor.detach()
    if before != 1.0:
        source.mul_(before)
    return Then(_summed(source, source, name, average, after), lambda _: tensor)


class _Differentiable(torch.autograd.Function):
    """A sum, or average, whose gradient is the sum, or average, of the ranks' gradients."""

    @staticmethod
    def forward(ctx, tensor, name, average, before, after, compression):
        ctx.how = (average, before, after)
        return _new(tensor, name, average, before, after, compression).result()

    @staticmethod
    def backward(ctx, gradient):
        average, before, after = ctx.how
        return _new(gradient, None, average, before, after).result(), None, None, None, None, None


def _out_of_place(tensor: torch.Tensor, name: Name, average: bool, before: float, after: float,
                  compression: Type[Compressor]) -> torch.Tensor:
    check_tensor(tensor, SUMMED)
    if tensor.requires_grad and torch.is_grad_enabled():
        return _Differentiable.apply(tensor, name, average, before, after, compression)
    return _new(tensor, name, average, before, after, compression).result()


def push_pull(tensor: torch.Tensor, average: bool = True, name: Name = None, version: int = 0,
              priority: int = 0, compression: Type[Compressor] = Compression.none) -> torch.Tensor:
    """The average of a tensor over all ranks, or its sum, as a new tensor; gradients flow through it.

    A name means the same tensor on every rank. Tensors without a name are matched by their order. `version`
    and `priority` are BytePS's and make no difference: DistributedOptimizer sets the priorities of a model's
    tensors. Averages of integers are rounded down.
    """
    del version, priority
    return _out_of_place(tensor, name, average, 1.0, 1.0, compression)


def push_pull_inplace(tensor: torch.Tensor, average: bool = True, name: Name = None, version: int = 0,
                      priority: int = 0) -> torch.Tensor:
    """As push_pull(), into the tensor itself."""
    del version, priority
    return _same(tensor, name, average).result()


def push_pull_async(tensor: torch.Tensor, average: bool = True, name: Name = None, version: int = 0,
                    priority: int = 0) -> int:
    """As push_pull(), but returns a handle at once. synchronize() of the handle returns the result.

    Nobody may write to the tensor before that.
    """
    del version, priority
    return issue(_new(tensor, name, average))


def push_pull_async_inplace(tensor: torch.Tensor, average: bool = True, name: Name = None, version: int = 0,
                            priority: int = 0) -> int:
    """As push_pull_async(), into the tensor itself."""
    del version, priority
    return issue(_same(tensor, name, average))


def allreduce(tensor: torch.Tensor, average: Optional[bool] = None, name: Name = None,
              compression: Type[Compressor] = Compression.none, op: Optional[Op] = None,
              prescale_factor: float = 1.0, postscale_factor: float = 1.0,
              process_set: Any = None) -> torch.Tensor:
    """As push_pull(), or with op=Sum or average=False the sum.
    The factors multiply what goes in and what comes out."""
    all_ranks(process_set)
    return _out_of_place(tensor, name, averages(average, op), prescale_factor, postscale_factor, compression)


def allreduce_(tensor: torch.Tensor, average: Optional[bool] = None, name: Name = None,
               op: Optional[Op] = None, prescale_factor: float = 1.0, postscale_factor: float = 1.0,
               process_set: Any = None) -> torch.Tensor:
    """As allreduce(), into the tensor itself."""
    all_ranks(process_set)
    return _same(tensor, name, averages(average, op), prescale_factor, postscale_factor).result()


def allreduce_async(tensor: torch.Tensor, average: Optional[bool] = None, name: Name = None,
                    op: Optional[Op] = None, prescale_factor: float = 1.0, postscale_factor: float = 1.0,
                    process_set: Any = None) -> int:
    """As allreduce(), but returns a handle for synchronize() at once."""
    all_ranks(process_set)
    return issue(_new(tensor, name, averages(average, op), prescale_factor, postscale_factor))


def allreduce_async_(tensor: torch.Tensor, average: Optional[bool] = None, name: Name = None,
                     op: Optional[Op] = None, prescale_factor: float = 1.0, postscale_factor: float = 1.0,
                     process_set: Any = None) -> int:
    """As allreduce_async(), into the tensor itself."""
    all_ranks(process_set)
    return issue(_same(tensor, name, averages(average, op), prescale_factor, postscale_factor))


def grouped_allreduce(tensors: Sequence[torch.Tensor], average: Optional[bool] = None, name: Name = None,
                      compression: Type[Compressor] = Compression.none, op: Optional[Op] = None,
                      prescale_factor: float = 1.0, postscale_factor: float = 1.0,
                      process_set: Any = None) -> List[torch.Tensor]:
    """allreduce() of several tensors at once; a list."""
    all_ranks(process_set)
    mean = averages(average, op)
    for tensor in tensors:
        check_tensor(tensor, SUMMED)
    if any(tensor.requires_grad for tensor in tensors) and torch.is_grad_enabled():
        return [_out_of_place(tensor, own, mean, prescale_factor, postscale_factor, compression)
                for tensor, own in zip(tensors, of_group(name, len(tensors)))]
    return Group([_new(tensor, own, mean, prescale_factor, postscale_factor, compression)
                  for tensor, own in zip(tensors, of_group(name, len(tensors)))]).result()


def grouped_allreduce_(tensors: Sequence[torch.Tensor], average: Optional[bool] = None, name: Name = None,
                       op: Optional[Op] = None, prescale_factor: float = 1.0, postscale_factor: float = 1.0,
                       process_set: Any = None) -> List[torch.Tensor]:
    """As grouped_allreduce(), into the tensors themselves."""
    return synchronize(
        grouped_allreduce_async_(tensors, average, name, op, prescale_factor, postscale_factor, process_set))


def grouped_allreduce_async(tensors: Sequence[torch.Tensor], average: Optional[bool] = None,
                            name: Name = None, op: Optional[Op] = None, prescale_factor: float = 1.0,
                            postscale_factor: float = 1.0, process_set: Any = None) -> int:
    """As grouped_allreduce(), but returns one handle for synchronize() at once."""
    all_ranks(process_set)
    mean = averages(average, op)
    return issue(Group([_new(tensor, own, mean, prescale_factor, postscale_factor)
                        for tensor, own in zip(tensors, of_group(name, len(tensors)))]))


def grouped_allreduce_async_(tensors: Sequence[torch.Tensor], average: Optional[bool] = None,
                             name: Name = None, op: Optional[Op] = None, prescale_factor: float = 1.0,
                             postscale_factor: float = 1.0, process_set: Any = None) -> int:
    """As grouped_allreduce_async(), into the tensors themselves."""
    all_ranks(process_set)
    mean = averages(average, op)
    return issue(Group([_same(tensor, own, mean, prescale_factor, postscale_factor)
                        for tensor, own in zip(tensors, of_group(name, len(tensors)))]))
