"""Weir: gradient communication of data-parallel training.

``weir.torch`` is the frontend for PyTorch. ``weirrun`` starts the processes of a job on one host. Every
module of this package except ``weir.torch`` works without a framework. docs/frontends.md shows how to build
on them.
"""

from .errors import Error, InvalidError, LostError, MismatchError, ResourceError, StateError, TimeoutError

__version__ = "0.1.0"

__all__ = [
    "Error", "InvalidError", "LostError", "MismatchError", "ResourceError", "StateError", "TimeoutError"
]
