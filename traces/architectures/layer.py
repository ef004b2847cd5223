"""A layer of a model: its tensors and its matrix work, and the kinds of layer that the models share."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Tensor:
    """A trainable parameter, hence also the gradient that is communicated for it."""

    name: str
    elements: int


@dataclass(frozen=True)
class Layer:
    """Tensors whose gradients become ready together.

    `work` counts the multiply-adds of matrix products and convolutions in one forward pass over one sample
    (an image, or a sequence of tokens); element-wise operations count nothing.
    """

    name: str
    work: int
    tensors: tuple[Tensor, ...]

    def plus(self, *tensors: Tensor, work: int = 0) -> "Layer":
        return replace(self, tensors=self.tensors + tensors, work=self.work + work)


def affine(name: str, features: int) -> tuple[Tensor, Tensor]:
    """The scale and shift of a batch or layer normalisation."""
    return Tensor(f"{name}.weight", features), Tensor(f"{name}.bias", features)


def conv(name: str, inputs: int, outputs: int, kernel: int, side: int, bias: bool = False) -> Layer:
    """A square convolution that makes `outputs` images of side x side positions."""
    weight = inputs * outputs * kernel * kernel
    return filled(name, weight, outputs if bias else 0, work=weight * side * side)


def linear(name: str, inputs: int, outputs: int, rows: int, bias: bool = True) -> Layer:
    """A matrix product over `rows` vectors (tokens, or 1 for a classifier) of one sample."""
    return filled(name, inputs * outputs, outputs if bias else 0, work=inputs * outputs * rows)


def filled(name: str, weight: int, bias: int, work: int) -> Layer:
    tensors = (Tensor(f"{name}.weight", weight),)
    return Layer(name, work, tensors + (Tensor(f"{name}.bias", bias),) if bias else tensors)


def attention_work(queries: int, keys: int, width: int) -> int:
    """Scores (queries x keys) and the weighted sum of the values; a causal mask saves nothing."""
    return 2 * queries * keys * width
