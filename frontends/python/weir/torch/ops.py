"""Where BytePS's scripts look for its operations: `from weir.torch.ops import push_pull_async_inplace`."""

from ._declare import declare
from ._session import (get_pushpull_speed, init, is_initialized, local_rank, local_size, rank, resume, shutdown, size,
                       suspend)
from ._sums import Adasum, Average, Sum, push_pull, push_pull_async, push_pull_async_inplace, push_pull_inplace
from ._transfers import poll, synchronize
from .compression import Compression

__all__ = [
    "Adasum", "Average", "Compression", "Sum", "declare", "get_pushpull_speed", "init", "is_initialized", "local_rank",
    "local_size", "poll", "push_pull", "push_pull_async", "push_pull_async_inplace", "push_pull_inplace", "rank", "resume",
    "shutdown", "size", "suspend", "synchronize",
]
