"""Transfers of raw memory that are under way, and the handles by which users know them. Knows no framework.

    from weir import memory, session, transfers

    session.init()
    numbers = array.array("f", [1, 2, 3])
    where = memory.of_buffer(numbers)
    transfers.begin_sum(session.session(), b"numbers", where, where).wait()  # the sum over all ranks

A frontend gives a transfer its `output`, which wait() returns, and `deliver`, which wait() calls before: to
copy from staging memory into the output, for example.
"""

from typing import Any, Callable, List, Optional, Sequence

from .errors import InvalidError
from .memory import Memory, Raw
from .session import Session, session


class Pending:
    """What a handle stands for: one transfer or several, and what is left to do with the results."""

    __slots__ = ()

    def done(self) -> bool:
        """Whether result() would return at once."""
        raise NotImplementedError

    def result(self) -> Any:
        """Waits for it."""
        raise NotImplementedError


class Transfer(Pending):
    """Memory that the library reads and writes until wait() has returned.

    The session keeps the memory alive so long, even if everybody else forgets the transfer.
    """

    __slots__ = ("_session", "_handle", "_kept", "_output", "_deliver")

    def __init__(self, current: Session, handle: int, kept: Any, output: Any,
                 deliver: Optional[Callable[[], Any]]):
        self._session = current
        self._handle = handle
        self._kept = kept
        self._output = output
        self._deliver = deliver
        current.transfers.add(self)

    def done(self) -> bool:
        return self._session.c.poll(self._handle)

    def wait(self) -> Any:
        """The output, once it has arrived."""
        try:
            self._session.c.wait(self._handle)
        finally:
            self._session.transfers.discard(self)
        if self._deliver is not None:
            self._deliver()
        return self._output

    def result(self) -> Any:
        return self.wait()


def begin_sum(current: Session, name: Optional[bytes], source: Memory, target: Memory,
              kind: Optional[bytes] = None, output: Any = None,
              deliver: Optional[Callable[[], Any]] = None) -> Transfer:
    """Begins to sum `source` over all ranks into `target`, which may be the same.

    Both have the same elements, dtype, device and stream. `kind` is what the ranks make of the sum, such as
    b"averaged". The library only compares it over the ranks.
    """
    handle = current.c.push_pull(name, source.pointer, target.pointer, source.elements, source.dtype, kind,
                                 source.device, source.stream)
    return Transfer(current, handle, (source.owner, target.owner), output, deliver)


def begin_accumulate(current: Session, name: bytes, memory: Memory, output: Any = None,
                     deliver: Optional[Callable[[], Any]] = None) -> Transfer:
    """Begins to add `memory` to the tensor of that name that CPU machines keep.
    What is kept then comes back in it."""
    handle = current.c.accumulate(name, memory.pointer, memory.pointer, memory.elements, memory.dtype,
                                  memory.device, memory.stream)
    return Transfer(current, handle, memory.owner, output, deliver)


def begin_copy(current: Session, name: Optional[bytes], memory: Raw, root: int, output: Any = None,
               deliver: Optional[Callable[[], Any]] = None) -> Transfer:
    """Begins to copy bytes from rank `root` over those of all other ranks."""
    check_root(current, root)
    handle = current.c.broadcast(name, memory.pointer, memory.size, memory.kind, root)
    return Transfer(current, handle, memory.owner, output, deliver)


def check_root(current: Session, root: int) -> None:
    """InvalidError if there is no such rank."""
    if not 0 <= root < current.size:
        raise InvalidError(f"root_rank is {root}, and the ranks are 0 to {current.size - 1}")


class Then(Pending):
    """Another's result, and what is still to be done with it."""

    __slots__ = ("_inner", "_follow")

    def __init__(self, inner: Pending, follow: Callable[[Any], Any]):
        self._inner = inner
        self._follow = follow

    def done(self) -> bool:
        return self._inner.done()

    def result(self) -> Any:
        return self._follow(self._inner.result())


class Group(Pending):
    """Several, whose results come as a list."""

    __slots__ = ("_members",)

    def __init__(self, members: Sequence[Pending]):
        self._members = members

    def done(self) -> bool:
        return all(member.done() for member in self._members)

    def result(self) -> List[Any]:
        return [member.result() for member in self._members]


def issue(pending: Pending) -> int:
    """A handle for it."""
    current = session()
    handle = next(current.handles)
    current.underway[handle] = pending
    return handle


def poll(handle: int) -> bool:
    """Whether synchronize() of this handle would return at once."""
    return _known(handle).done()


def synchronize(handle: int) -> Any:
    """Waits until what the handle stands for has arrived; the tensor, or a list of tensors for a group.

    The handle is not valid afterwards.
    """
    pending = _known(handle)
    del session().underway[handle]
    return pending.result()


def _known(handle: int) -> Pending:
    pending = session().underway.get(handle)
    if pending is None:
        raise InvalidError(f"{handle!r} is not a handle, or has been synchronized already")
    return pending
