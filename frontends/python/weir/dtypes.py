"""The types of elements that Weir sums."""

import enum
from typing import Dict, Iterable


class Dtype(enum.IntEnum):
    """weir_dtype of the C library."""

    F16 = 0
    BF16 = 1
    F32 = 2
    F64 = 3
    I32 = 4
    I64 = 5


# By the names that NumPy and the frameworks give them.
NAMES: Dict[str, Dtype] = {
    "float16": Dtype.F16,
    "bfloat16": Dtype.BF16,
    "float32": Dtype.F32,
    "float64": Dtype.F64,
    "int32": Dtype.I32,
    "int64": Dtype.I64,
}

BYTES: Dict[Dtype, int] = {Dtype.F16: 2, Dtype.BF16: 2, Dtype.F32: 4, Dtype.F64: 8, Dtype.I32: 4,
                           Dtype.I64: 8}


def named(name: str) -> Dtype:
    """The type of that name, such as "float32"; TypeError if Weir does not sum it."""
    dtype = NAMES.get(name)
    if dtype is None:
        raise unsupported(name, NAMES)
    return dtype


def unsupported(dtype: object, supported: Iterable[object]) -> TypeError:
    """The error for a tensor whose type Weir does not sum."""
    return TypeError(f"Weir does not sum tensors of {dtype}, only of {', '.join(map(str, supported))}")
