"""The store through which ranks that torchrun, Slurm or Open MPI have started find each other:
torch.distributed's."""

import os
from datetime import timedelta
from typing import Any

import torch.distributed


def tcp_store(host: str, port: int, leads: bool, patience: float) -> Any:
    """A client of the store at that address; rank 0, which `leads`, serves it unless torchrun's agent does.

    The process shares the store with torch.distributed.
    """
    agents = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    return torch.distributed.TCPStore(host, port, is_master=leads and not agents,
                                      timeout=timedelta(seconds=patience), wait_for_workers=False,
                                      multi_tenant=True)
