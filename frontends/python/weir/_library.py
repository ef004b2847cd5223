"""The C library as Python functions: weir.h through ctypes, with exceptions for its statuses.
Knows no framework."""

import ctypes
import functools
import json
import os
from pathlib import Path
from typing import Any, Dict, Iterable, Optional, Sequence

from . import errors
from .memory import HOST, Declaration

ABI_VERSION = 4
KEPT = 1  # WEIR_KEPT

ERRORS = {
    1: errors.InvalidError,
    2: errors.StateError,
    3: errors.MismatchError,
    4: errors.LostError,
    5: errors.TimeoutError,
    6: errors.ResourceError,
}


class _Tensor(ctypes.Structure):
    """weir_tensor."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("elements", ctypes.c_int64),
        ("dtype", ctypes.c_int32),
        ("flags", ctypes.c_int32),
        ("priority", ctypes.c_int64),
        ("kind", ctypes.c_char_p),
    ]


_POINTER = ctypes.c_void_p
_TEXT = ctypes.c_char_p
_INT32 = ctypes.c_int32
_INT64 = ctypes.c_int64
_HANDLE = ctypes.POINTER(ctypes.c_int64)

# Name -> the type it returns, and those of its arguments. Every status is checked.
_STATUS = ctypes.c_int
_FUNCTIONS: Dict[str, Any] = {
    "weir_abi_version": (_INT32, []),
    "weir_version": (_TEXT, []),
    "weir_error": (_TEXT, []),
    "weir_init": (_STATUS, [_TEXT]),
    "weir_serve": (_STATUS, [_TEXT]),
    "weir_shutdown": (_STATUS, []),
    "weir_abort": (_STATUS, [_TEXT]),
    "weir_is_initialized": (_INT32, []),
    "weir_rank": (_INT32, []),
    "weir_size": (_INT32, []),
    "weir_local_rank": (_INT32, []),
    "weir_local_size": (_INT32, []),
    "weir_servers": (_INT32, []),
    "weir_takes_gpus": (_INT32, []),
    "weir_declare": (_STATUS, [ctypes.POINTER(_Tensor), _INT64]),
    "weir_declare_among": (_STATUS, [ctypes.POINTER(_Tensor), _INT64, ctypes.POINTER(_INT32), _INT32]),
    "weir_push_pull": (_STATUS, [_TEXT, _POINTER, _POINTER, _INT64, _INT32, _TEXT, _INT32, _POINTER,
                                 _HANDLE]),
    "weir_accumulate": (_STATUS, [_TEXT, _POINTER, _POINTER, _INT64, _INT32, _INT32, _POINTER, _HANDLE]),
    "weir_broadcast": (_STATUS, [_TEXT, _POINTER, _INT64, _TEXT, _INT32, _INT32, _POINTER, _HANDLE]),
    "weir_poll": (_STATUS, [_INT64, ctypes.POINTER(_INT32)]),
    "weir_wait": (_STATUS, [_INT64]),
    "weir_barrier": (_STATUS, []),
    "weir_speed": (_STATUS, [ctypes.POINTER(ctypes.c_double)]),
}


def find() -> Path:
    """Where the library is: $WEIR_LIBRARY, else beside this package."""
    named = os.environ.get("WEIR_LIBRARY")
    path = Path(named) if named else Path(__file__).resolve().parent / "libweir.so"
    if not path.is_file():
        where = "WEIR_LIBRARY names it" if named else "`pip install` puts it there"
        raise ImportError(
            f"no library of Weir at {path}, though {where}. Build it with `cmake --build --preset release "
            "--target weir_c` and set WEIR_LIBRARY=build/release/frontends/c/libweir.so, or `pip install .`"
        )
    return path


class Library:
    """libweir.so, loaded and checked. Failures of its functions raise a weir.Error."""

    def __init__(self, path: Path):
        try:
            self._c = ctypes.CDLL(str(path))
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(self._c, name)
                function.restype = result
                function.argtypes = arguments
        except (OSError, AttributeError) as why:
            raise ImportError(f"{path} is not a usable library of Weir: {why}") from why
        version = self._c.weir_abi_version()
        if version != ABI_VERSION:
            raise ImportError(
                f"{path} has version {version} of Weir's ABI, and this package needs {ABI_VERSION}: "
                "take both from one build")
        # Bound once: they are called for every gradient.
        self._push_pull = self._c.weir_push_pull
        self._accumulate = self._c.weir_accumulate
        self._wait = self._c.weir_wait

    def _check(self, status: int) -> None:
        if status != 0:
            raise self._failure(status)

    def _failure(self, status: int) -> errors.Error:
        text = self._c.weir_error().decode("utf-8", "replace")
        return ERRORS.get(status, errors.Error)(text or f"status {status}; the library gave no reason")

    def version(self) -> str:
        """Of the library."""
        return self._c.weir_version().decode()

    def init(self, settings: Dict[str, Any]) -> None:
        """Takes part in a session as a rank. `settings` are weir.h's and override the environment."""
        self._check(self._c.weir_init(json.dumps(settings).encode()))

    def serve(self, settings: Dict[str, Any]) -> None:
        """Runs as a CPU machine of a session until the ranks have shut down."""
        self._check(self._c.weir_serve(json.dumps(settings).encode()))

    def shutdown(self) -> None:
        """Leaves the session once every tensor under way has arrived."""
        self._check(self._c.weir_shutdown())

    def abort(self, why: str) -> None:
        """Ends the session for all processes, and tells them why."""
        self._check(self._c.weir_abort(why.replace("\0", "?").encode("utf-8", "replace")))

    def is_initialized(self) -> bool:
        """Whether there is a session."""
        return self._c.weir_is_initialized() != 0

    def rank(self) -> int:
        """The number of this rank; -1 if not initialised, as for the next four."""
        return self._c.weir_rank()

    def size(self) -> int:
        """Ranks of the session."""
        return self._c.weir_size()

    def local_rank(self) -> int:
        """The number of this rank among those of its host."""
        return self._c.weir_local_rank()

    def local_size(self) -> int:
        """Ranks on this host."""
        return self._c.weir_local_size()

    def servers(self) -> int:
        """CPU machines of the session."""
        return self._c.weir_servers()

    def declare(self, tensors: Iterable[Declaration], ranks: Optional[Sequence[int]] = None) -> None:
        """Makes tensors known. They are planned together, and summed over all ranks or over `ranks` alone."""
        rows = [_Tensor(t.name.encode(), t.elements, t.dtype, KEPT if t.kept else 0, t.priority, t.kind)
                for t in tensors]
        array = (_Tensor * len(rows))(*rows)
        if ranks is None:
            self._check(self._c.weir_declare(array, len(rows)))
        else:
            self._check(
                self._c.weir_declare_among(array, len(rows), (_INT32 * len(ranks))(*ranks), len(ranks)))

    @functools.cached_property
    def takes_gpus(self) -> bool:
        """Whether push_pull() takes GPU memory here."""
        return self._c.weir_takes_gpus() != 0

    def push_pull(self, name: Optional[bytes], source: int, target: int, elements: int, dtype: int,
                  kind: Optional[bytes] = None, device: int = HOST, stream: Optional[int] = None) -> int:
        """Begins to sum a tensor over all ranks, and returns its handle.

        `name` is UTF-8, or None. `kind` is what the ranks make of the sum, the same on all. GPU memory is
        read once all work that is on its `stream` so far has been done.
        """
        handle = ctypes.c_int64()
        status = self._push_pull(name, source, target, elements, dtype, kind, device, stream, handle)
        if status != 0:
            raise self._failure(status)
        return handle.value

    def accumulate(self, name: bytes, delta: int, weights: int, elements: int, dtype: int, device: int = HOST,
                   stream: Optional[int] = None) -> int:
        """Begins to add to the tensor of that name that CPU machines keep, and returns its handle.

        `weights` gets what is kept then. Memory is as in push_pull().
        """
        handle = ctypes.c_int64()
        status = self._accumulate(name, delta, weights, elements, dtype, device, stream, handle)
        if status != 0:
            raise self._failure(status)
        return handle.value

    def broadcast(self, name: Optional[bytes], data: int, count: int, kind: bytes, root: int) -> int:
        """Begins to copy bytes of host memory from the root to all, and returns the handle.
        `kind` names the dtype."""
        handle = ctypes.c_int64()
        self._check(self._c.weir_broadcast(name, data, count, kind, root, HOST, None, handle))
        return handle.value

    def poll(self, handle: int) -> bool:
        """Whether wait() would return at once."""
        done = ctypes.c_int32()
        self._check(self._c.weir_poll(handle, done))
        return done.value != 0

    def wait(self, handle: int) -> None:
        """Waits until the tensor has arrived or failed. The handle is not valid afterwards."""
        status = self._wait(handle)
        if status != 0:
            raise self._failure(status)

    def barrier(self) -> None:
        """Returns once every rank has called it."""
        self._check(self._c.weir_barrier())

    def speed(self) -> float:
        """Bytes a second that this rank got back during the last ten seconds."""
        rate = ctypes.c_double()
        self._check(self._c.weir_speed(rate))
        return rate.value


_loaded: Optional[Library] = None


def library() -> Library:
    """The process's library. The first call loads it."""
    global _loaded
    if _loaded is None:
        _loaded = Library(find())
    return _loaded
