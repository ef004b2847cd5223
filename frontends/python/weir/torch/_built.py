"""What Horovod's scripts ask about how it was built, with what is true of Weir."""

import torch

from ._session import session


def nccl_built() -> bool:
    """Whether NCCL can sum gradients among the GPUs of a host: whether this PyTorch has it."""
    return torch.distributed.is_available() and torch.distributed.is_nccl_available()


def cuda_built() -> bool:
    """Whether tensors on GPUs are summed: whether this PyTorch has CUDA."""
    return torch.backends.cuda.is_built()


def mpi_built() -> bool:
    """False, as mpi_enabled() and the next few: Weir moves tensors itself."""
    return False


mpi_enabled = mpi_threads_supported = gloo_built = gloo_enabled = ddl_built = ccl_built = rocm_built = mpi_built


def is_homogeneous() -> bool:
    """Whether all hosts have the same number of ranks. All ranks call it, and wait for each other."""
    current = session()
    return len({own for own, in current.exchange("local_size", [current.c.local_size()])}) == 1
