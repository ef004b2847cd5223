"""Where BytePS's scripts look for its operations: `from weir.torch.ops import push_pull_async_inplace`."""

from ..arguments import Adasum, Average, Sum
from ..session import (get_pushpull_speed, is_initialized, local_rank, local_size, rank, resume, shutdown,
                       size, suspend)
from ..transfers import poll, synchronize
from ._declare import declare
from ._session import init
from ._sums import push_pull, push_pull_async, push_pull_async_inplace, push_pull_inplace
from .compression import Compression

__all__ = [
    "Adasum", "Average", "Compression", "Sum", "declare", "get_pushpull_speed", "init", "is_initialized",
    "local_rank", "local_size", "poll", "push_pull", "push_pull_async", "push_pull_async_inplace",
    "push_pull_inplace", "rank", "resume", "shutdown", "size", "suspend", "synchronize",
]
