"""The session that this process takes part in: how it begins and ends, and who is in it.
Knows no framework."""

import ctypes
import itertools
import os
import time
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from . import _ending, rendezvous
from ._library import Library, library
from .arguments import all_ranks
from .dtypes import Dtype
from .errors import Error, StateError
from .frontend import Frontend, Part
from .memory import Declaration
from .names import Distinct


class Session:
    """What this process knows of the session, and its transfers that are under way.

    * `underway` and `transfers` belong to transfers.py.
      The library reads and writes the memory of `transfers`.
    * `parts` are what frontends keep for this session, by their class.
    * `copied` gives names to what is broadcast.
    """

    def __init__(self, c: Library, frontend: Frontend, part: Optional[Part], patience: float):
        self.c = c
        self.frontend = frontend
        self.patience = patience
        self.parts: Dict[type, Part] = {} if part is None else {type(part): part}
        self.process = os.getpid()
        self.handles: Iterator[int] = itertools.count(1)
        self.underway: Dict[int, Any] = {}  # handle -> what synchronize() waits for
        self.transfers: Set[Any] = set()
        self.declared: List[List[Declaration]] = []
        self.models: List[Callable[[], Any]] = []  # weak references to models, in the order of their making
        self.copied = Distinct()
        self.rank = c.rank()
        self.size = c.size()

    def new_model(self, model: Any = None) -> int:
        """A number for a model: the same on all ranks, as they make their models in the same order.

        A model that is given here has a method meet(). resume() calls it in the new session.
        """
        self.models.append(weakref.ref(model) if model is not None else lambda: None)
        return len(self.models) - 1

    def exchange(self, label: str, numbers: Sequence[int]) -> List[List[int]]:
        """Every rank's numbers, by rank. All ranks call it, and wait for each other."""
        count = len(numbers)
        rows = (ctypes.c_int64 * (self.size * count))()
        rows[self.rank * count:(self.rank + 1) * count] = list(numbers)
        where = ctypes.addressof(rows)
        self.c.wait(self.c.push_pull(f"weir.{label}".encode(), where, where, len(rows), Dtype.I64))
        return [list(rows[rank * count:(rank + 1) * count]) for rank in range(self.size)]

    def declare(self, tensors: Sequence[Declaration]) -> None:
        """Makes tensors known, now and after each resume(). They are planned together."""
        self.c.declare(tensors)
        self.declared.append(list(tensors))

    def close(self, failed: bool) -> None:
        """Ends the frontends' parts, once the library has left the session or failed to."""
        for part in self.parts.values():
            part.close(failed)
        self.parts.clear()


_current: Optional[Session] = None
_suspended: Optional[Session] = None


def session() -> Session:
    """The session; StateError if there is none."""
    if _current is None:
        raise StateError("Weir is suspended: call resume() first" if _suspended is not None else
                         "Weir is not initialised: call init() first")
    return _current


def current() -> Optional[Session]:
    """The session, or None."""
    return _current


def init(settings: Optional[Dict[str, Any]] = None, frontend: Optional[Frontend] = None) -> None:
    """Takes part in a session, and returns once all its processes have come.
    Does nothing if this process already does.

    Ranks find each other as rendezvous.py says. `settings` are those of weir.h, such as {"patience": 60}, and
    override the environment. `frontend` is what the framework adds, if anything.
    """
    global _current
    given = dict(settings or {})
    if _current is not None:
        if given:
            raise StateError("Weir is already initialised: pass settings to the first init()")
        return
    if _suspended is not None:
        raise StateError("Weir is suspended: call resume()")
    _current = _joined(given, frontend or Frontend())
    _ending.watch(current, shutdown)


def _joined(settings: Dict[str, Any], frontend: Frontend) -> Session:
    c = library()
    part = frontend.part(settings)
    c.init(rendezvous.complete(settings, frontend))
    return Session(c, frontend, part, rendezvous.patience_of(settings))


def shutdown() -> None:
    """Leaves the session once every tensor under way has arrived and all ranks have called this.

    Does nothing without a session. init() may follow.
    """
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
    """Leaves the session as shutdown() does, but remembers which tensors are declared, for resume()."""
    global _suspended
    leaving = session()
    shutdown()
    _suspended = leaving


def resume(num_workers: int, num_servers: int, global_rank: Optional[int] = None, **settings: Any) -> None:
    """Takes part in a session again after suspend().

    The session has so many ranks and CPU machines, and this process is rank `global_rank`; None keeps its
    rank. All processes begin anew: the others call this too, or init().
    """
    global _current, _suspended
    if _suspended is None:
        raise StateError("Weir is not suspended: call suspend() before resume()")
    before = _suspended
    rank_now = before.rank if global_rank is None else global_rank
    _current = _joined({"size": num_workers, "servers": num_servers, "rank": rank_now, **settings},
                       before.frontend)
    _suspended = None
    for tensors in before.declared:
        _current.declare(tensors)
    _current.models = before.models
    for reference in _current.models:
        model = reference()
        if model is not None:
            model.meet()


def is_initialized() -> bool:
    """Whether this process takes part in a session."""
    return _current is not None


def rank() -> int:
    """The number of this process among all that train, from 0 on."""
    return session().rank


def size() -> int:
    """How many processes train."""
    return session().size


def local_rank() -> int:
    """The number of this process among those of its host, from 0 on: which of the host's GPUs to take."""
    return session().c.local_rank()


def local_size() -> int:
    """How many processes train on this host."""
    return session().c.local_size()


def cross_rank() -> int:
    """The number of this process's host, if all hosts have the same number of ranks,
    with consecutive numbers."""
    return session().rank // session().c.local_size()


def cross_size() -> int:
    """How many hosts there are, if all have the same number of ranks."""
    return -(-session().size // session().c.local_size())


def is_homogeneous() -> bool:
    """Whether all hosts have the same number of ranks. All ranks call it, and wait for each other."""
    here = session()
    return len({own for own, in here.exchange("local_size", [here.c.local_size()])}) == 1


def barrier(process_set: Any = None) -> None:
    """Returns once every rank has called it."""
    all_ranks(process_set)
    session().c.barrier()


def get_pushpull_speed() -> Tuple[int, float]:
    """The time in milliseconds since 1970, and the MB/s of tensors that this rank got back in the last ten
    seconds."""
    return int(time.time() * 1000), session().c.speed() / 1e6
