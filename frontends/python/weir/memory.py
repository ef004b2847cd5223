"""Memory that the library reads and writes: where it is, how much, and who owns it.

A frontend describes each of its tensors as one `Memory` or `Raw`. `of_buffer()` and `raw_of_buffer()` do so
for whatever has Python's buffer protocol.
"""

import ctypes
from typing import Any, NamedTuple, Optional, Tuple

from .dtypes import BYTES, Dtype

HOST = -1  # the device of what is in host memory


class Memory(NamedTuple):
    """Elements without gaps, to be summed.

    * `device` is HOST, or the number of a CUDA device.
    * On a device, the elements are complete once all work that is on `stream`, a cudaStream_t, has been done.
    * `owner` is any object that keeps the memory allocated.
      The session holds it until the transfer has ended.
    """

    pointer: int
    elements: int
    dtype: int
    device: int = HOST
    stream: Optional[int] = None
    owner: Any = None


class Raw(NamedTuple):
    """Bytes in host memory without gaps, to be copied. `kind` is a word such as b"float32",
    the same on all ranks."""

    pointer: int
    size: int  # in bytes
    kind: bytes
    owner: Any = None


class Declaration(NamedTuple):
    """A tensor to be made known to the library.

    * A larger priority is more urgent.
    * CPU machines keep a tensor that is `kept`, and accumulate() adds to it.
    * `kind` is what the ranks make of the sum, as push_pull() gets it.
    """

    name: str
    elements: int
    dtype: int
    priority: int
    kept: bool = False
    kind: Optional[bytes] = None


_FLOATS = {"e": Dtype.F16, "f": Dtype.F32, "d": Dtype.F64}
_INTEGERS = {4: Dtype.I32, 8: Dtype.I64}


def of_buffer(buffer: Any, dtype: Optional[Dtype] = None) -> Memory:
    """The memory of an object with the buffer protocol, such as an array.array,
    a ctypes array or a memoryview.

    The elements' type is the buffer's unless `dtype` is given, as it must be for bfloat16. TypeError if the
    buffer is read-only, has gaps, or has elements that Weir does not sum.
    """
    view, pointer, owner = _opened(buffer)
    code = view.format.lstrip("@=<>")
    if dtype is None:
        dtype = _INTEGERS.get(view.itemsize) if code in tuple("ilq") else _FLOATS.get(code)
    if dtype is None or view.nbytes % BYTES[dtype] != 0:
        raise TypeError(
            f"a buffer whose elements have the format '{view.format}' needs a dtype that fits its "
            f"{view.nbytes} bytes")
    return Memory(pointer, view.nbytes // BYTES[dtype], int(dtype), owner=owner)


def raw_of_buffer(buffer: Any, kind: bytes = b"uint8") -> Raw:
    """The bytes of an object with the buffer protocol. TypeError if it is read-only or has gaps."""
    view, pointer, owner = _opened(buffer)
    return Raw(pointer, view.nbytes, kind, owner)


def _opened(buffer: Any) -> Tuple[memoryview, int, Any]:
    """A view, its address, and an object that keeps the buffer from being freed or resized."""
    view = memoryview(buffer)
    if view.readonly:
        raise TypeError("the buffer is read-only, and the library writes to it")
    if not view.c_contiguous:
        raise TypeError("the buffer has gaps between its elements: copy it into a buffer without gaps")
    if view.nbytes == 0:
        return view, 0, view
    owner = (ctypes.c_char * view.nbytes).from_buffer(view)
    return view, ctypes.addressof(owner), owner
