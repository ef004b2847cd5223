"""Weir for PyTorch: the functions of Horovod's and BytePS's frontends.

    import weir.torch as bps     # or: as hvd

    bps.init()
    optimizer = bps.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    bps.broadcast_parameters(model.state_dict(), root_rank=0)

Gradients are summed while backward goes on. Those that the next forward needs first go first. Failures of the
session raise a weir.Error. docs/pytorch.md has the rest.
"""

from ..arguments import Adasum, Average, Max, Min, Op, Product, Sum
from ..built import (ccl_built, ddl_built, gloo_built, gloo_enabled, mpi_built, mpi_enabled,
                     mpi_threads_supported, rocm_built)
from ..errors import Error, InvalidError, LostError, MismatchError, ResourceError, StateError, TimeoutError
from ..objects import broadcast_object
from ..session import (barrier, cross_rank, cross_size, get_pushpull_speed, is_homogeneous, is_initialized,
                       local_rank, local_size, rank, resume, shutdown, size, suspend)
from ..transfers import poll, synchronize
from . import ops, parallel
from ._built import cuda_built, nccl_built
from ._copies import (broadcast, broadcast_, broadcast_async, broadcast_async_, broadcast_optimizer_state,
                      broadcast_parameters)
from ._declare import declare
from ._optimizer import DistributedOptimizer
from ._session import init
from ._sums import (allreduce, allreduce_, allreduce_async, allreduce_async_, grouped_allreduce,
                    grouped_allreduce_, grouped_allreduce_async, grouped_allreduce_async_, push_pull,
                    push_pull_async, push_pull_async_inplace, push_pull_inplace)
from .compression import Compression
from .cross_barrier import CrossBarrier
from .parallel import DistributedDataParallel

__all__ = [
    "Adasum", "Average", "Compression", "CrossBarrier", "DistributedDataParallel", "DistributedOptimizer",
    "Error", "InvalidError", "LostError", "Max", "Min", "MismatchError", "Op", "Product", "ResourceError",
    "StateError", "Sum", "TimeoutError", "allreduce", "allreduce_", "allreduce_async", "allreduce_async_",
    "barrier", "broadcast", "broadcast_", "broadcast_async", "broadcast_async_", "broadcast_object",
    "broadcast_optimizer_state", "broadcast_parameters", "ccl_built", "cross_rank", "cross_size",
    "cuda_built", "ddl_built", "declare", "get_pushpull_speed", "gloo_built", "gloo_enabled",
    "grouped_allreduce", "grouped_allreduce_", "grouped_allreduce_async", "grouped_allreduce_async_", "init",
    "is_homogeneous", "is_initialized", "local_rank", "local_size", "mpi_built", "mpi_enabled",
    "mpi_threads_supported", "nccl_built", "ops", "parallel", "poll", "push_pull", "push_pull_async",
    "push_pull_async_inplace", "push_pull_inplace", "rank", "resume", "rocm_built", "shutdown", "size",
    "suspend", "synchronize",
]
