"""Weir: gradient communication of data-parallel training.

``weir.torch`` is the frontend of PyTorch; ``weirrun`` starts the processes of a job on one host. This module
itself needs no framework.
"""

from .errors import Error, InvalidError, LostError, MismatchError, ResourceError, StateError, TimeoutError

__version__ = "0.1.0"

__all__ = ["Error", "InvalidError", "LostError", "MismatchError", "ResourceError", "StateError", "TimeoutError"]
