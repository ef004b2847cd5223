"""How gradients are made smaller on their way. Each framework adds the compressors that need its tensors."""

from typing import Any, Tuple


class Compressor:
    """Turns a gradient into a tensor that is summed in its place, and the sum back into a gradient."""

    @staticmethod
    def compress(tensor: Any) -> Tuple[Any, Any]:
        """The tensor that is summed, and what decompress() needs to know."""
        raise NotImplementedError

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        """The gradient, with the dtype that it had before compress()."""
        raise NotImplementedError


class NoneCompressor(Compressor):
    """Leaves tensors as they are."""

    @staticmethod
    def compress(tensor: Any) -> Tuple[Any, Any]:
        return tensor, None

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        return tensor
