"""How ranks that torchrun, Slurm or Open MPI have started find each other.

weirrun gives all ranks a secret and a leader. Elsewhere MASTER_ADDR and MASTER_PORT name a store of PyTorch's, through
which rank 0 gives both to the others. Who can reach the store can learn the secret.
"""

import os
import secrets
import socket
from datetime import timedelta
from typing import Any, Dict, List

import torch.distributed

from ..errors import InvalidError, ResourceError

RANK = ("WEIR_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")
SIZE = ("WEIR_SIZE", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS")
LOCAL_SIZE = ("WEIR_LOCAL_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")
LOOPBACK = "127.0.0.1"

_stores: List[Any] = []  # rank 0's serves the others as long as it lives
_meetings = 0  # of this process; all ranks count alike


def complete(settings: Dict[str, Any]) -> Dict[str, Any]:
    """The settings with secret, leader and own address, if they are needed and not known yet."""
    if _whole(settings, "size", SIZE, 1) <= 1 or "secret" in settings or "WEIR_SECRET" in os.environ:
        return settings
    if "MASTER_ADDR" not in os.environ or "MASTER_PORT" not in os.environ:
        raise InvalidError("there are several ranks and nothing by which they find each other: start them with weirrun or "
                           "torchrun, or set MASTER_ADDR and MASTER_PORT, or WEIR_SECRET and WEIR_LEADER")
    return {**_meet(settings), **settings}


def _whole(settings: Dict[str, Any], setting: str, names: Any, otherwise: int) -> int:
    for text in [settings.get(setting), *(os.environ.get(name) for name in names)]:
        if text is not None:
            try:
                return int(text)
            except ValueError:
                raise InvalidError(f"{setting}: '{text}' is no whole number") from None
    return otherwise


def _meet(settings: Dict[str, Any]) -> Dict[str, Any]:
    global _meetings
    rank = _whole(settings, "rank", RANK, 0)
    size = _whole(settings, "size", SIZE, 1)
    master = os.environ["MASTER_ADDR"]
    # A restart under torchrun meets the store of the run before.
    place = f"weir/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}/{_meetings}/"
    _meetings += 1
    patience = float(settings.get("patience") or os.environ.get("WEIR_PATIENCE") or 600)
    store = _store(rank, master, int(os.environ["MASTER_PORT"]), patience)
    one_host = _whole(settings, "local_size", LOCAL_SIZE, 0) == size
    own = settings.get("listen") or os.environ.get("WEIR_LISTEN")
    try:
        if rank == 0:
            if not own:
                # The last rank is on another host if any is; the way to it says which address others see.
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
        raise ResourceError(f"rank {rank} has not met the others at {master}:{os.environ['MASTER_PORT']}: {why}") from why
    return {"secret": secret, "leader": leader, "listen": own}


def _store(rank: int, host: str, port: int, patience: float) -> Any:
    if not _stores:
        # torchrun's agent may serve the store; otherwise rank 0 does, and shares it with torch.distributed.
        agents = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
        try:
            _stores.append(torch.distributed.TCPStore(
                host, port, is_master=rank == 0 and not agents, timeout=timedelta(seconds=patience), wait_for_workers=False,
                multi_tenant=True))
        except (RuntimeError, OSError) as why:
            raise ResourceError(f"no store at MASTER_ADDR:MASTER_PORT, {host}:{port}: {why}") from why
    return _stores[0]


def _address_toward(host: str) -> str:
    """The address of this host from which it reaches another; nothing is sent."""
    family, _, _, _, where = socket.getaddrinfo(host, 9, socket.AF_INET, socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(where)
        return probe.getsockname()[0]


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]
