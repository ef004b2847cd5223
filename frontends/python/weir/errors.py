"""What can go wrong in a session: one exception for each status of the C library."""

import builtins


class Error(RuntimeError):
    """Any failure that Weir reports."""


class InvalidError(Error, ValueError):
    """An argument or a setting is wrong. Nothing has changed."""


class StateError(Error):
    """Weir is not initialised, or is already, or the call comes at the wrong time."""


class MismatchError(Error):
    """Ranks disagree about a tensor, which can no longer be used. The session goes on."""


class LostError(Error):
    """A process of the session is dead, silent or has left. The session is over."""


class TimeoutError(Error, builtins.TimeoutError):
    """A rank has not done its part in time. The session is over."""


class ResourceError(Error):
    """The system refuses something, such as memory or connections. The session is over."""
