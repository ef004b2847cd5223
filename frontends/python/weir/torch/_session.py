"""The session that this process takes part in: its beginning and end, and who is in it."""

import atexit
import itertools
import os
import sys
import time
import weakref
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

import torch

from .._library import Declaration, Dtype, Library, library
from ..errors import Error, InvalidError, StateError
from . import _local, _rendezvous


class Session:
    """What is known of the session, and what is on its way in it."""

    def __init__(self, c: Library, local: str, patience: float):
        self.c = c
        self._local = local
        self._patience = patience
        self._nccl: List[Optional[_local.Nccl]] = []  # empty until it is asked for
        self.process = os.getpid()
        self.handles = itertools.count(1)
        self.underway: Dict[int, Any] = {}  # handle -> what synchronize() is to wait for
        self.transfers: Set[Any] = set()  # whose tensors the library reads and writes
        self.declared: List[List[Declaration]] = []
        self.models: List[Any] = []  # weak references to their gradients, in the order of their making
        self.copied: Dict[str, Tuple[Any, int]] = {}  # of broadcast_parameters(): name -> size and dtype, and their changes
        self.refresh()

    @property
    def insists_on_nccl(self) -> bool:
        """Whether what NCCL cannot sum is an error."""
        return self._local == "nccl"

    def new_model(self, gradients: Any = None) -> int:
        """A number for a model: the same on all ranks, which make theirs in the same order. Its gradients, if they are
        summed, meet() in sessions that follow."""
        self.models.append(weakref.ref(gradients) if gradients is not None else lambda: None)
        return len(self.models) - 1

    def refresh(self) -> None:
        """Asks the library who is here."""
        self.rank = self.c.rank()
        self.size = self.c.size()

    def nccl(self, device: torch.device, on_gpus: bool) -> Optional[_local.Nccl]:
        """What sums gradients on GPUs, if it is not the session itself. All ranks ask, and the first time they wait for
        each other and say on which device theirs are, and whether all are."""
        if not self._nccl:
            place = _local.Place(self.rank, self.size, self.c.local_rank(), self.c.local_size(), self.c.servers())
            self._nccl.append(_local.meet(self._local, place, self._patience, device, on_gpus, self.exchange))
        return self._nccl[0]

    def exchange(self, label: str, numbers: Sequence[int]) -> List[List[int]]:
        """Gives each rank's numbers to all, by rank."""
        rows = torch.zeros(self.size, len(numbers), dtype=torch.int64)
        rows[self.rank] = torch.tensor(numbers)
        self.c.wait(self.c.push_pull(f"weir.{label}".encode(), rows.data_ptr(), rows.data_ptr(), rows.numel(), Dtype.I64))
        return rows.tolist()

    def close(self, failed: bool) -> None:
        """After the library has left, or failed to."""
        for nccl in self._nccl:
            if nccl is not None:
                nccl.close(failed)
        self._nccl.clear()

    def declare(self, tensors: Sequence[Declaration]) -> None:
        """Makes tensors known, which are planned together, now and after each resume()."""
        self.c.declare(tensors)
        self.declared.append(list(tensors))


_current: Optional[Session] = None
_suspended: Optional[Session] = None
_watching = False
_failed = False


def session() -> Session:
    """The session; StateError if there is none."""
    if _current is None:
        raise StateError("Weir is suspended: call weir.torch.resume() first" if _suspended is not None else
                         "Weir is not initialised: call weir.torch.init() first")
    return _current


def init(lazy: bool = True, comm: Any = None, process_sets: Any = None, **settings: Any) -> None:
    """Takes part in a session; returns once all its processes are there. Does nothing if this process does already.

    Ranks find each other through what weirrun, torchrun, Slurm or Open MPI put into the environment. `settings` are
    those of weir.h (``patience=60``, ``strategy="ps"``, ...) and go before the environment's. `lazy` is BytePS's and
    makes no difference; `comm` and `process_sets` are Horovod's and must be None: a session has all ranks.
    """
    del lazy
    if comm is not None or process_sets is not None:
        raise InvalidError("comm and process_sets must be None: a session of Weir has all ranks")
    global _current
    if _current is not None:
        if settings:
            raise StateError("Weir is initialised already: settings come too late")
        return
    if _suspended is not None:
        raise StateError("Weir is suspended: call weir.torch.resume()")
    _current = _joined(settings)
    _watch()


def _joined(settings: Dict[str, Any]) -> Session:
    c = library()
    local = _local.chosen(settings)
    c.init(_rendezvous.complete(settings))
    patience = settings.get("patience") or os.environ.get("WEIR_PATIENCE") or 600
    return Session(c, local, float(patience))


def shutdown() -> None:
    """Leaves the session once every tensor that is on its way has arrived, and all ranks have come so far. Does
    nothing without a session. init() may follow."""
    global _current, _suspended
    _suspended = None
    if _current is None:
        return
    leaving, _current = _current, None
    try:
        leaving.c.shutdown()
    except Error:
        leaving.close(failed=True)
        raise
    leaving.close(failed=False)
    leaving.underway.clear()
    leaving.transfers.clear()


def suspend() -> None:
    """Leaves the session as shutdown() does, but keeps in mind which tensors are declared, for resume()."""
    global _suspended
    leaving = session()
    shutdown()
    _suspended = leaving


def resume(num_workers: int, num_servers: int, global_rank: Optional[int] = None, **settings: Any) -> None:
    """Takes part in a session again after suspend(), of so many ranks and CPU machines and as this rank (the one
    before, if None). All its processes begin anew: the others call this too, or init()."""
    global _current, _suspended
    if _suspended is None:
        raise StateError("Weir is not suspended: resume() comes after suspend()")
    before = _suspended
    rank_now = before.rank if global_rank is None else global_rank
    _current = _joined({"size": num_workers, "servers": num_servers, "rank": rank_now, **settings})
    _suspended = None
    for tensors in before.declared:
        _current.declare(tensors)
    _current.models = before.models
    for reference in _current.models:
        gradients = reference()
        if gradients is not None:
            gradients.meet()


def is_initialized() -> bool:
    """Whether this process takes part in a session."""
    return _current is not None


def rank() -> int:
    """This process among all that train, from 0 on."""
    return session().rank


def size() -> int:
    """How many processes train."""
    return session().size


def local_rank() -> int:
    """This process among those of its host, from 0 on: which of its GPUs to take."""
    return session().c.local_rank()


def local_size() -> int:
    """How many processes train on this host."""
    return session().c.local_size()


def cross_rank() -> int:
    """This process's host among all, if all have the same number of ranks, with consecutive numbers."""
    return session().rank // session().c.local_size()


def cross_size() -> int:
    """How many hosts there are, if all have the same number of ranks."""
    return -(-session().size // session().c.local_size())


def barrier(process_set: Any = None) -> None:
    """Returns once every rank has called it."""
    if process_set is not None:
        raise InvalidError("process_set must be None: a session of Weir has all ranks")
    session().c.barrier()


def get_pushpull_speed() -> Tuple[int, float]:
    """Now, in milliseconds since 1970, and the MB/s of tensors that this rank has got back in the last ten seconds."""
    return int(time.time() * 1000), session().c.speed() / 1e6


def _watch() -> None:
    """Sees that a process that ends leaves the session, and that one that fails tells the others why."""
    global _watching
    if _watching:
        return
    _watching = True
    atexit.register(_leave)
    shown = sys.excepthook

    def told(kind, error, trace):
        global _failed
        _failed = True
        here = _current
        if here is not None and here.process == os.getpid():
            try:
                here.c.abort(f"rank {here.rank}: {kind.__name__}: {error}")
            except Error:
                pass  # the session is over already, maybe by this very error
        shown(kind, error, trace)

    sys.excepthook = told


def _leave() -> None:
    if _current is None or _current.process != os.getpid():
        return
    try:
        shutdown()
    except Error as why:
        if not _failed:  # else the failure has been told
            print(f"weir: at the end: {why}", file=sys.stderr)
