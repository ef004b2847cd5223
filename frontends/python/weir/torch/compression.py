"""How gradients are made smaller on their way: Weir's compressors for PyTorch."""

from typing import Any, Tuple

import torch

from ..compression import Compressor, NoneCompressor

__all__ = ["Compression", "Compressor", "FP16Compressor", "NoneCompressor"]


class FP16Compressor(Compressor):
    """Floating-point tensors as 16-bit ones. Sums above 65504 become infinite."""

    @staticmethod
    def compress(tensor: torch.Tensor) -> Tuple[torch.Tensor, Any]:
        return (tensor.half(), tensor.dtype) if tensor.dtype.is_floating_point else (tensor, None)

    @staticmethod
    def decompress(tensor: torch.Tensor, ctx: Any) -> torch.Tensor:
        return tensor if ctx is None else tensor.to(ctx)


class Compression:
    """What `compression` of an optimizer may be, besides Compressors of your own."""

    none = NoneCompressor
    fp16 = FP16Compressor
