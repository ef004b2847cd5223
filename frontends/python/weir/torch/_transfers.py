"""Tensors that are on their way, and the handles by which users know them."""

from typing import Any, List, Optional, Sequence

import torch

from ..errors import InvalidError
from ._memory import check_dense, dtype_code, host_copy, sum_source
from ._session import Session, session


class Transfer:
    """One tensor that the library reads and writes until wait() has returned; the session keeps it so long, whoever
    else forgets it."""

    __slots__ = ("_session", "_handle", "_source", "_target", "output")

    def __init__(self, current: Session, handle: int, source: torch.Tensor, target: torch.Tensor, output: torch.Tensor):
        self._session = current
        self._handle = handle
        self._source = source
        self._target = target
        self.output = output
        current.transfers.add(self)

    def done(self) -> bool:
        """Whether wait() would return at once."""
        return self._session.c.poll(self._handle)

    def wait(self) -> torch.Tensor:
        """The output, once it is there."""
        try:
            self._session.c.wait(self._handle)
        finally:
            self._session.transfers.discard(self)
        if self._target is not self.output:
            with torch.no_grad():
                self.output.copy_(self._target)
        return self.output


def begin_sum(current: Session, name: Optional[bytes], tensor: torch.Tensor, output: torch.Tensor,
              kind: Optional[bytes] = None) -> Transfer:
    """Begins to sum a tensor over all ranks, into `output`: the tensor itself, or one without gaps of its size. `kind` as
    of the library's push_pull()."""
    code = dtype_code(tensor)
    check_dense(tensor, "a tensor to be summed")
    source, device, stream = sum_source(tensor, current.c)
    # A copy is there to be written, and so is an output that the library can write itself.
    target = output if source is tensor else source
    handle = current.c.push_pull(name, source.data_ptr(), target.data_ptr(), tensor.numel(), code, kind, device,
                                 stream)
    return Transfer(current, handle, source, target, output)


def begin_accumulate(current: Session, name: bytes, tensor: torch.Tensor) -> Transfer:
    """Begins to add a tensor to the one of that name that CPU machines keep, and to give in it what that is then."""
    source, device, stream = sum_source(tensor, current.c)
    code = dtype_code(tensor)
    handle = current.c.accumulate(name, source.data_ptr(), source.data_ptr(), tensor.numel(), code, device, stream)
    return Transfer(current, handle, source, source, tensor)


def begin_copy(current: Session, name: Optional[str], tensor: torch.Tensor, root: int) -> Transfer:
    """Begins to copy a tensor of any dtype from rank `root` over all others' tensors."""
    check_dense(tensor, "a tensor to be broadcast")
    if not 0 <= root < current.size:
        raise InvalidError(f"root_rank is {root}, and the ranks are 0 to {current.size - 1}")
    held = host_copy(tensor)
    encoded = None if name is None else name.encode()
    kind = str(tensor.dtype).replace("torch.", "").encode()
    handle = current.c.broadcast(encoded, held.data_ptr(), held.numel() * held.element_size(), kind, root)
    return Transfer(current, handle, held, held, tensor)


class Pending:
    """What a handle stands for: one transfer or a group of them, and what is left to do with the results."""

    def done(self) -> bool:
        """Whether result() would return at once."""
        raise NotImplementedError

    def result(self) -> Any:
        """Waits for it."""
        raise NotImplementedError


class Copied(Pending):
    """A broadcast."""

    def __init__(self, transfer: Transfer):
        self._transfer = transfer

    def done(self) -> bool:
        return self._transfer.done()

    def result(self) -> torch.Tensor:
        return self._transfer.wait()


class Group(Pending):
    """Several, of which the results come as a list."""

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
    """Waits until what the handle stands for has arrived; the tensor, or the list of them for a group. The handle is
    forgotten."""
    pending = _known(handle)
    del session().underway[handle]
    return pending.result()


def _known(handle: int) -> Pending:
    pending = session().underway.get(handle)
    if pending is None:
        raise InvalidError(f"{handle!r} is no handle, or has been synchronized already")
    return pending
