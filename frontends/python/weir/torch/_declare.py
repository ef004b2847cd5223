"""Tensors made known before they are handed over."""

from typing import Optional

import torch

from .._library import Declaration
from ._memory import check_tensor, dtype_code, kind_of
from ._session import session


def declare(name: str, tensor: Optional[torch.Tensor] = None, priority: int = 0, average: bool = True) -> None:
    """Makes a tensor for push_pull() known, so that the first sum does not have to plan for it. Without the tensor, as
    BytePS calls it, nothing is known yet that could be planned, and nothing happens. `average` as of push_pull()."""
    current = session()
    if not name:
        raise ValueError("a tensor that is declared needs a name")
    if tensor is not None:
        check_tensor(tensor, "what is declared")
        current.declare([Declaration(name, tensor.numel(), dtype_code(tensor), priority, kind=kind_of(average))])
