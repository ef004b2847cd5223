"""Objects of Python that one rank sends to all others. Knows no framework."""

import pickle
from typing import Any, Optional

from .arguments import all_ranks
from .memory import raw_of_buffer
from .session import Session, session
from .transfers import begin_copy

HEAD_BYTES = 4096  # of the first message, which carries the length and the beginning of the pickled object
LENGTH_BYTES = 8


def broadcast_object(obj: Any = None, root_rank: int = 0, name: Optional[str] = None,
                     process_set: Any = None) -> Any:
    """Rank `root_rank`'s object, which pickle must be able to save. The other ranks' objects are ignored."""
    all_ranks(process_set)
    current = session()
    label = name or "object"
    here = current.rank == root_rank
    # The first message has a fixed size, which suffices for small objects; the second has one of few sizes.
    head = bytearray(HEAD_BYTES)
    data = b""
    if here:
        data = pickle.dumps(obj, protocol=4)
        first = len(data).to_bytes(LENGTH_BYTES, "little") + data[:HEAD_BYTES - LENGTH_BYTES]
        head[:len(first)] = first
    _copy(current, f"{label}.head", head, root_rank)
    if here and len(data) <= HEAD_BYTES - LENGTH_BYTES:
        return obj
    length = int.from_bytes(head[:LENGTH_BYTES], "little")
    received = bytes(head[LENGTH_BYTES:])
    if length > len(received):
        rest = length - len(received)
        tail = bytearray(1 << (rest - 1).bit_length())
        if here:
            tail[:rest] = data[-rest:]
        _copy(current, f"{label}.{len(tail)}", tail, root_rank)
        received += tail
    return obj if here else pickle.loads(received[:length])


def _copy(current: Session, name: str, data: bytearray, root: int) -> None:
    begin_copy(current, name.encode(), raw_of_buffer(data), root).wait()
