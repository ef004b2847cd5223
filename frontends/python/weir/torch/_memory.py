"""What of tensors the C library takes: dtypes that it sums, and where their elements lie."""

from typing import Dict

import torch

from .._library import Dtype

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


def check_dense(tensor: torch.Tensor, what: str) -> None:
    """TypeError if the tensor is sparse or otherwise has no plain memory."""
    if tensor.layout != torch.strided:
        raise TypeError(f"{what} has the layout {tensor.layout}, and Weir takes dense tensors only: use to_dense()")


def host_copy(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself if the library can take it as it is, else a copy that it can take: the one place that
    decides about devices. Elements of GPUs are staged in pinned host memory; their stream is waited for, so that the
    copy is whole when the library reads it."""
    if tensor.device.type == "cpu":
        return tensor if tensor.is_contiguous() else tensor.contiguous()
    if tensor.device.type != "cuda":
        raise TypeError(f"Weir takes tensors of CPUs and CUDA GPUs, not of {tensor.device}")
    staged = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    staged.copy_(tensor, non_blocking=True)
    torch.cuda.current_stream(tensor.device).synchronize()
    return staged
