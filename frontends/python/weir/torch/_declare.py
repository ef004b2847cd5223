"""Tensors made known before they are handed over."""

from typing import Optional

import torch

from ..arguments import kind_of
from ..memory import Declaration
from ..session import session
from ._memory import check_tensor, dtype_code


def declare(name: str, tensor: Optional[torch.Tensor] = None, priority: int = 0,
            average: bool = True) -> None:
    """Makes a tensor for push_pull() known, so that its first sum does not have to wait for a plan.

    BytePS's scripts do not pass the tensor: then there is nothing to plan yet, and nothing happens.
    `average` is that of push_pull().
    """
    current = session()
    if not name:
        raise ValueError("declare() needs the name of the tensor")
    if tensor is not None:
        check_tensor(tensor, "the value to declare")
        current.declare(
            [Declaration(name, tensor.numel(), dtype_code(tensor), priority, kind=kind_of(average))])
