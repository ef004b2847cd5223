"""Transfers of PyTorch's tensors."""

from functools import partial
from typing import Optional

import torch

from .. import transfers
from ..memory import Raw
from ..session import Session
from ..transfers import Transfer, check_root
from ._memory import check_dense, dtype_code, host_copy, memory_of, summable


def _deliver(output: torch.Tensor, staged: torch.Tensor) -> None:
    with torch.no_grad():
        output.copy_(staged)


def begin_sum(current: Session, name: Optional[bytes], tensor: torch.Tensor, output: torch.Tensor,
              kind: Optional[bytes] = None) -> Transfer:
    """Begins to sum a tensor over all ranks into `output`: the tensor itself,
    or another of its size without gaps.

    `kind` is what the library's push_pull() takes.
    """
    code = dtype_code(tensor)
    check_dense(tensor, "the tensor to sum")
    source = summable(tensor, code, current.c)
    if source.owner is not tensor:  # a copy, which may be written
        return transfers.begin_sum(current, name, source, source, kind, output,
                                   partial(_deliver, output, source.owner))
    target = source if output is tensor else memory_of(output, code, source.device, source.stream)
    return transfers.begin_sum(current, name, source, target, kind, output)


def begin_accumulate(current: Session, name: bytes, tensor: torch.Tensor) -> Transfer:
    """Begins to add a tensor to the one of that name that CPU machines keep.
    What is kept then comes back in it."""
    memory = summable(tensor, dtype_code(tensor), current.c)
    deliver = None if memory.owner is tensor else partial(_deliver, tensor, memory.owner)
    return transfers.begin_accumulate(current, name, memory, tensor, deliver)


def begin_copy(current: Session, name: Optional[str], tensor: torch.Tensor, root: int) -> Transfer:
    """Begins to copy a tensor of any dtype from rank `root` over all others' tensors."""
    check_dense(tensor, "the tensor to broadcast")
    check_root(current, root)
    held = host_copy(tensor)
    kind = str(tensor.dtype).replace("torch.", "").encode()
    memory = Raw(held.data_ptr(), held.numel() * held.element_size(), kind, held)
    deliver = None if held is tensor else partial(_deliver, tensor, held)
    return transfers.begin_copy(current, None if name is None else name.encode(), memory, root, tensor,
                                deliver)
