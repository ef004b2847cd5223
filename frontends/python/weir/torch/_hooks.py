"""When PyTorch has made a parameter's gradient."""

from typing import Any, Callable

import torch


class Hooked:
    """A hook of a parameter, until remove()."""

    def __init__(self, handle: Any, node: Any = None):
        self._handle = handle
        self._node = node  # which must live as long as its hook is to be called

    def remove(self) -> None:
        """Nothing happens if the parameter or the node is gone."""
        self._handle.remove()
        self._node = None


def when_accumulated(parameter: torch.Tensor, hook: Callable[..., None]) -> Hooked:
    """Has the hook called whenever a backward has completed the parameter's gradient,
    as long as what is returned lives."""
    if hasattr(parameter, "register_post_accumulate_grad_hook"):
        return Hooked(parameter.register_post_accumulate_grad_hook(hook))
    # Before PyTorch 2.1: after the node that accumulates, which lives as long as somebody holds it.
    with torch.enable_grad():
        node = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
    return Hooked(node.register_hook(lambda *_: hook(parameter)), node)
