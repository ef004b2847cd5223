"""PyTorch's tensors as the memory that weir.transfers takes: which dtypes are summed,
and where the elements are."""

from typing import Any, Dict, Optional

import torch

from .. import dtypes
from .._library import Library
from ..memory import HOST, Memory

DTYPES: Dict[torch.dtype, int] = {getattr(torch, name): int(dtype) for name, dtype in dtypes.NAMES.items()}


def dtype_code(tensor: torch.Tensor) -> int:
    """weir_dtype of the tensor; TypeError if Weir does not sum its dtype."""
    code = DTYPES.get(tensor.dtype)
    if code is None:
        raise dtypes.unsupported(tensor.dtype, DTYPES)
    return code


def check_tensor(value: Any, what: str) -> None:
    """TypeError if it is not a tensor."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{what} must be a torch.Tensor, but is a {type(value).__name__}")


def check_dense(tensor: torch.Tensor, what: str) -> None:
    """TypeError if the tensor is sparse or otherwise has no plain memory."""
    if tensor.layout != torch.strided:
        raise TypeError(
            f"{what} has the layout {tensor.layout}, and Weir takes dense tensors only: use to_dense()")


def host_copy(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself if it is in host memory without gaps, else such a copy.

    Elements of GPUs are copied to pinned memory. This waits for their stream,
    as the library may read the copy at once.
    """
    if tensor.is_cpu:
        return tensor if tensor.is_contiguous() else tensor.contiguous()
    _check_device(tensor)
    staged = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    staged.copy_(tensor, non_blocking=True)
    torch.cuda.current_stream(tensor.device).synchronize()
    return staged


def summable(tensor: torch.Tensor, code: int, library: Library) -> Memory:
    """The memory of the tensor itself if the library can sum it there, else of a copy.
    The owner shows which."""
    if tensor.is_cpu or not library.takes_gpus:
        return memory_of(host_copy(tensor), code)
    _check_device(tensor)
    stream = torch.cuda.current_stream(tensor.device).cuda_stream
    return memory_of(tensor.contiguous(), code, tensor.device.index, stream)


def memory_of(tensor: torch.Tensor, code: int, device: int = HOST, stream: Optional[int] = None) -> Memory:
    """The memory of a tensor without gaps. `code` is its weir_dtype."""
    return Memory(tensor.data_ptr(), tensor.numel(), code, device, stream, tensor)


def _check_device(tensor: torch.Tensor) -> None:
    if tensor.device.type != "cuda":
        raise TypeError(f"Weir takes tensors of CPUs and CUDA GPUs, not of {tensor.device}")
