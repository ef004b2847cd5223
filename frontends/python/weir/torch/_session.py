"""What PyTorch adds to the session of weir.session: the store of torch.distributed,
and NCCL within a host."""

from typing import Any, Dict

from .. import session as neutral
from ..arguments import everybody
from ..frontend import Frontend
from ..session import session
from ._local import Local, chosen
from ._store import tcp_store


class PyTorch(Frontend):
    """PyTorch's share in the beginning of a session."""

    def part(self, settings: Dict[str, Any]) -> Local:
        """Takes the setting `local`."""
        return Local(chosen(settings))

    def store(self, host: str, port: int, leads: bool, patience: float) -> Any:
        """torch.distributed's, which torchrun's agent may serve."""
        return tcp_store(host, port, leads, patience)


def local() -> Local:
    """What sums gradients within this host, in the session as it is now."""
    parts = session().parts
    part = parts.get(Local)
    if not isinstance(part, Local):  # another frontend has begun the session
        part = parts[Local] = Local(chosen({}))
    return part


def init(lazy: bool = True, comm: Any = None, process_sets: Any = None, **settings: Any) -> None:
    """Takes part in a session, and returns once all its processes have come.
    Does nothing if this process already does.

    Ranks find each other through what weirrun, torchrun, Slurm or Open MPI put into the environment.
    `settings` are those of weir.h (``patience=60``, ``strategy="ps"``, ...) and override the environment.
    `lazy` is BytePS's and makes no difference; `comm` and `process_sets` are Horovod's and must be None: a
    session has all ranks.
    """
    del lazy
    everybody(comm, process_sets)
    neutral.init(settings, PyTorch())
