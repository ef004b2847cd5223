"""Traces that are not of a model: what papers measure or draw to show one thing alone."""

from .layer import Layer, Tensor


def large_tensors() -> list[Layer]:
    """1 GB in tensors of 4 MB, one a layer, without computation."""
    return [Layer(f"tensor.{i}", 0, (Tensor(f"tensor.{i}", 1_000_000),)) for i in range(250)]


def three_layers() -> list[Layer]:
    """Layers that take 1.5, 3 and 1.5 units of time to push or pull at 1 GB/s,
    and 1 unit of each computation."""
    return [Layer(f"layer.{i}", 1, (Tensor(f"layer.{i}.weight", elements),))
            for i, elements in enumerate((375_000, 750_000, 375_000))]
