"""DistributedDataParallel: a module whose gradients are averaged when backward ends."""

import contextlib
from typing import Any, Iterator, List, Type

import torch

from ..arguments import all_ranks
from ..asynchronous import enabled
from ..errors import InvalidError
from ..session import session
from ._copies import broadcast_parameters
from ._gradients import Gradients
from ._transfers import begin_copy
from .compression import Compression, Compressor


class DistributedDataParallel(torch.nn.Module):
    """Wraps a module: parameters and buffers are rank 0's at the start, gradients are averaged over all ranks
    when backward ends, and with `broadcast_buffers` buffers are rank 0's again before each forward in
    training.

    Parameters that no gradient reaches count as zeros.
    The other arguments are PyTorch's and make no difference.
    """

    def __init__(self, module: torch.nn.Module, device_ids: Any = None, broadcast_buffers: bool = True,
                 compression: Type[Compressor] = Compression.none, *, output_device: Any = None, dim: int = 0,
                 process_group: Any = None, bucket_cap_mb: float = 25, find_unused_parameters: bool = False,
                 gradient_as_bucket_view: bool = False, static_graph: bool = False):
        super().__init__()
        del device_ids, output_device, dim, bucket_cap_mb
        del find_unused_parameters, gradient_as_bucket_view, static_graph
        all_ranks(process_group)
        if enabled() is not None:
            raise InvalidError(f"{enabled()} asks for asynchronous training, and DistributedDataParallel "
                               "averages gradients: unset it, or use DistributedOptimizer")
        self.module = module
        self.broadcast_buffers = broadcast_buffers
        self.require_backward_grad_sync = True
        self._queued = False
        self._gradients = Gradients(list(module.named_parameters()), compression, begun=self._queue)
        broadcast_parameters([(name, tensor) for name, tensor in module.state_dict().items()
                              if isinstance(tensor, torch.Tensor)], 0, f"{self._gradients.prefix}Model.")

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The module's."""
        if torch.is_grad_enabled():
            if self._queued and not _in_backward():
                self._finish()  # the last backward has failed, and what it handed over is under way still
            self._gradients.active = self.require_backward_grad_sync
            shared = self.broadcast_buffers and self.training and self.require_backward_grad_sync
            if shared and session().size > 1:
                self._share_buffers()
        return self.module(*inputs, **named)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Gradients of what forward computes within are gathered and not averaged; the first backward pass of
        a forward outside averages what has been gathered."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def __getstate__(self) -> Any:
        raise TypeError(
            "a DistributedDataParallel belongs to its session and cannot be saved or copied: take its "
            "module, or state_dict()")

    def _queue(self) -> None:
        """A first gradient is on its way: wait for all when backward ends."""
        if not self._queued:
            self._queued = True
            torch.autograd.Variable._execution_engine.queue_callback(self._finish)

    def _finish(self) -> None:
        try:
            self._gradients.synchronize()
        finally:
            self._queued = False

    def _share_buffers(self) -> None:
        buffers = [buffer for buffer in self.module.buffers() if buffer.numel() > 0]
        if not buffers:
            return
        packed = torch.cat([_bytes(buffer).to(buffers[0].device) for buffer in buffers])
        begin_copy(session(), f"{self._gradients.prefix}Buffers", packed, 0).wait()
        parts: List[torch.Tensor] = list(
            packed.split([buffer.numel() * buffer.element_size() for buffer in buffers]))
        with torch.no_grad():
            for buffer, part in zip(buffers, parts):
                # A copy begins at an address that every dtype can have.
                buffer.copy_(part.clone().view(buffer.dtype).view(buffer.shape))


def _in_backward() -> bool:
    """Whether this thread's forward is one of backward's own, as checkpoints have it.
    True where PyTorch cannot tell."""
    current = getattr(torch._C, "_current_graph_task_id", None)
    return current is None or current() != -1


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().view(-1).view(torch.uint8)
