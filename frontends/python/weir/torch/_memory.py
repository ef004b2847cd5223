"""What of tensors the C library takes: dtypes that it sums, and where their elements lie."""

from typing import Any, Dict, Optional, Tuple

import torch

from .._library import HOST, Dtype, Library

DTYPES: Dict[torch.dtype, int] = {
    torch.float16: int(Dtype.F16),
    torch.bfloat16: int(Dtype.BF16),
    torch.float32: int(Dtype.F32),
    torch.float64: int(Dtype.F64),
    torch.int32: int(Dtype.I32),
    torch.int64: int(Dtype.I64),
}


def dtype_code(tensor: torch.Tensor) -> int:
    """weir_dtype of the tensor; TypeError if Weir does not sum such."""
    code = DTYPES.get(tensor.dtype)
    if code is None:
        names = ", ".join(str(dtype) for dtype in DTYPES)
        raise TypeError(f"Weir sums no tensors of {tensor.dtype}, only of {names}")
    return code


def kind_of(average: bool) -> bytes:
    """What is made of a sum, for ranks to compare."""
    return b"averaged" if average else b"summed"


def check_tensor(value: Any, what: str) -> None:
    """TypeError if it is none."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{what} must be a torch.Tensor, and is a {type(value).__name__}")


def check_dense(tensor: torch.Tensor, what: str) -> None:
    """TypeError if the tensor is sparse or otherwise has no plain memory."""
    if tensor.layout != torch.strided:
        raise TypeError(f"{what} has the layout {tensor.layout}, and Weir takes dense tensors only: use to_dense()")


def host_copy(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself if it lies in host memory without gaps, else a copy that does. Elements of GPUs come to pinned
    memory; their stream is waited for, so that the copy is whole when the library reads it."""
    if tensor.is_cpu:
        return tensor if tensor.is_contiguous() else tensor.contiguous()
    _check_device(tensor)
    staged = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    staged.copy_(tensor, non_blocking=True)
    torch.cuda.current_stream(tensor.device).synchronize()
    return staged


def sum_source(tensor: torch.Tensor, library: Library) -> Tuple[torch.Tensor, int, Optional[int]]:
    """The tensor itself if the library can sum it as it is, else a copy that it can sum; and its device and stream as
    the library takes them."""
    if tensor.is_cpu or not library.takes_gpus:
        return host_copy(tensor), HOST, None
    _check_device(tensor)
    stream = torch.cuda.current_stream(tensor.device).cuda_stream
    return tensor.contiguous(), tensor.device.index, stream


def _check_device(tensor: torch.Tensor) -> None:
    if tensor.device.type != "cuda":
        raise TypeError(f"Weir takes tensors of CPUs and CUDA GPUs, not of {tensor.device}")
