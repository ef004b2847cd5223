"""How a process ends that is still in a session: it leaves, and if it has failed,
it tells the other ranks why."""

import atexit
import os
import sys
from typing import Any, Callable, Optional

from .errors import Error

_watching = False
_failed = False


def watch(current: Callable[[], Optional[Any]], leave: Callable[[], None]) -> None:
    """From now on, watches this process's end. `current` gives its Session;
    a fork of the process has none."""
    global _watching
    if _watching:
        return
    _watching = True
    shown = sys.excepthook

    def mine() -> Optional[Any]:
        here = current()
        return here if here is not None and here.process == os.getpid() else None

    def report(kind, error, trace):
        global _failed
        _failed = True
        here = mine()
        if here is not None:
            try:
                here.c.abort(f"rank {here.rank}: {kind.__name__}: {error}")
            except Error:
                pass  # the session is over already, maybe because of this error
        shown(kind, error, trace)

    def left() -> None:
        if mine() is None:
            return
        try:
            leave()
        except Error as why:
            if not _failed:  # else the failure has been reported
                print(f"weir: at the end: {why}", file=sys.stderr)

    sys.excepthook = report
    atexit.register(left)
