"""How the ranks of a session find each other.

Every rank must know the session's secret and the address of its leader, rank 0. There are three ways:

* weirrun sets WEIR_SECRET and WEIR_LEADER for all ranks.
* The user sets both, for ranks on several hosts and for CPU machines.
* Rank 0 makes both, and passes them on through a store that the frontend opens at MASTER_ADDR:MASTER_PORT.
  torchrun sets these two variables, and users do with Slurm and Open MPI. Everybody who reaches the store can
  read the secret.
"""

import os
import secrets
import socket
from typing import Any, Dict, List, Mapping, Sequence

from .errors import InvalidError, ResourceError
from .frontend import Frontend, Store

# The library reads these settings too, but ranks must meet before they can ask it. A test compares them with
# backends/real/session/settings.cc.
RANK = ("WEIR_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")
SIZE = ("WEIR_SIZE", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS")
LOCAL_SIZE = ("WEIR_LOCAL_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")
LOOPBACK = "127.0.0.1"
PATIENCE = 600.0

_stores: List[Store] = []  # the process's only one; rank 0's may serve the others as long as it lives
_meetings = 0  # of this process; all ranks count alike


def complete(settings: Dict[str, Any], frontend: Frontend) -> Dict[str, Any]:
    """The settings, with secret, leader and own address added if they are needed and not known yet."""
    if _whole(settings, "size", SIZE, 1) <= 1 or "secret" in settings or "WEIR_SECRET" in os.environ:
        return settings
    if "MASTER_ADDR" not in os.environ or "MASTER_PORT" not in os.environ:
        raise InvalidError(
            "there are several ranks, and they have no way to find each other: start them with weirrun "
            "or torchrun, or set MASTER_ADDR and MASTER_PORT, or WEIR_SECRET and WEIR_LEADER")
    return {**_meet(settings, frontend), **settings}


def patience_of(settings: Mapping[str, Any]) -> float:
    """Seconds for a rank to do its part."""
    return float(settings.get("patience") or os.environ.get("WEIR_PATIENCE") or PATIENCE)


def _whole(settings: Mapping[str, Any], setting: str, names: Sequence[str], otherwise: int) -> int:
    for text in [settings.get(setting), *(os.environ.get(name) for name in names)]:
        if text is not None:
            try:
                return int(text)
            except ValueError:
                raise InvalidError(f"{setting}: '{text}' is not a whole number") from None
    return otherwise


def _meet(settings: Mapping[str, Any], frontend: Frontend) -> Dict[str, Any]:
    global _meetings
    rank = _whole(settings, "rank", RANK, 0)
    size = _whole(settings, "size", SIZE, 1)
    master = os.environ["MASTER_ADDR"]
    # A restart under torchrun finds the store of the run before.
    place = f"weir/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}/{_meetings}/"
    _meetings += 1
    store = _opened(frontend, master, int(os.environ["MASTER_PORT"]), rank == 0, patience_of(settings))
    one_host = _whole(settings, "local_size", LOCAL_SIZE, 0) == size
    own = settings.get("listen") or os.environ.get("WEIR_LISTEN")
    try:
        if rank == 0:
            if not own:
                # If any rank is on another host, the last one is.
                # The way to it shows which address others see.
                toward = LOOPBACK if one_host else store.get(place + "last").decode()
                own = _address_toward(toward)
            secret = secrets.token_hex(32)
            leader = settings.get("leader") or os.environ.get("WEIR_LEADER") or f"{own}:{_free_port(own)}"
            store.set(place + "session", f"{secret} {leader}")
        else:
            own = own or (LOOPBACK if one_host else _address_toward(master))
            if rank == size - 1:
                store.set(place + "last", own)
            secret, leader = store.get(place + "session").decode().split()
    except (RuntimeError, OSError, ValueError) as why:
        where = f"{master}:{os.environ['MASTER_PORT']}"
        raise ResourceError(f"rank {rank} could not meet the other ranks at {where}: {why}") from why
    return {"secret": secret, "leader": leader, "listen": own}


def _opened(frontend: Frontend, host: str, port: int, leads: bool, patience: float) -> Store:
    if not _stores:
        try:
            store = frontend.store(host, port, leads, patience)
        except (RuntimeError, OSError) as why:
            raise ResourceError(
                f"cannot open the store at MASTER_ADDR:MASTER_PORT ({host}:{port}): {why}") from why
        if store is None:
            raise InvalidError(
                "this framework has no store for MASTER_ADDR and MASTER_PORT: start the ranks with "
                "weirrun, or set WEIR_SECRET and WEIR_LEADER")
        _stores.append(store)
    return _stores[0]


def _address_toward(host: str) -> str:
    """The address of this host from which it reaches another. Nothing is sent."""
    family, _, _, _, where = socket.getaddrinfo(host, 9, socket.AF_INET, socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(where)
        return probe.getsockname()[0]


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]
