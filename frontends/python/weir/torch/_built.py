"""What Horovod's scripts ask about how it was built, where the answer depends on PyTorch."""

import torch


def nccl_built() -> bool:
    """Whether NCCL can sum gradients among the GPUs of a host: that is, whether this PyTorch has it."""
    return torch.distributed.is_available() and torch.distributed.is_nccl_available()


def cuda_built() -> bool:
    """Whether tensors on GPUs are summed: that is, whether this PyTorch has CUDA."""
    return torch.backends.cuda.is_built()
