"""What a framework may add to sessions. Everything here is optional: without it,
a session works all the same."""

from typing import Any, Dict, Optional


class Store:
    """Values by name, which all ranks reach before they know each other.
    Failures are a RuntimeError or an OSError."""

    def set(self, key: str, value: str) -> None:
        """Sets a value for all ranks."""
        raise NotImplementedError

    def get(self, key: str) -> bytes:
        """The value as UTF-8. Waits until it has been set."""
        raise NotImplementedError


class Part:
    """What a frontend keeps for one session: communicators of its own, for example."""

    def close(self, failed: bool) -> None:
        """Called once, after the session has ended, well or not."""


class Frontend:
    """A framework's share in the beginning of a session. This class adds nothing;
    frontends override what they need."""

    def part(self, settings: Dict[str, Any]) -> Optional[Part]:
        """Called before each session. Takes the frontend's own settings out of `settings`:
        the rest are weir.h's."""
        del settings
        return None

    def store(self, host: str, port: int, leads: bool, patience: float) -> Optional[Store]:
        """Opens the framework's store at MASTER_ADDR:MASTER_PORT, once in a process;
        None if the framework has none.

        `leads` is True on rank 0. The store waits `patience` seconds for a value.
        """
        del host, port, leads, patience
        return None
