"""Asynchronous training, as far as it needs no tensors of a framework.

CPU machines keep the weights. Each rank adds its own updates at its own pace,
and takes over what is kept then.
"""

import os
from typing import Any, Callable, List, Optional, Sequence

from .arguments import check_passes
from .errors import Error, InvalidError
from .session import session
from .transfers import Transfer

VARIABLES = ("WEIR_ASYNC", "BYTEPS_ENABLE_ASYNC")


def enabled() -> Optional[str]:
    """The environment variable that asks for asynchronous training, if one does."""
    for name in VARIABLES:
        value = os.environ.get(name, "").strip().lower()
        if value in ("1", "true"):
            return name
        if value not in ("", "0", "false"):
            raise InvalidError(f"{name}: expected 0 or 1, got '{value}'")
    return None


def check(compressed: bool, average: bool, predivide: float, passes: int) -> None:
    """InvalidError if an optimizer's arguments are for sums of gradients:
    asynchronous training has no such sums."""
    if compressed:
        raise InvalidError("compression is for summed gradients; asynchronous training sends changes of "
                           "weights, uncompressed")
    if not average or predivide != 1.0:
        raise InvalidError("op=Sum and gradient_predivide_factor are for summed gradients; "
                           "asynchronous training sums no gradients")
    check_passes(passes)


def begin(publish: Callable[[], None], fetch: Callable[[], None]) -> None:
    """Gives all ranks the weights of rank 0, which are the first that are kept. All ranks call it.

    Rank 0 calls `publish`, which adds its weights to the zeros that are kept. The others call `fetch` after
    it. No rank goes on before all have the weights.
    """
    current = session()
    if current.rank == 0:
        publish()
    current.c.barrier()
    if current.rank != 0:
        fetch()
    current.c.barrier()


def exchange(slots: Sequence[Any], start: Callable[[Any], Transfer],
             take: Callable[[Any, Any], None]) -> None:
    """Starts a transfer for each slot, in order; then hands what arrives to `take(slot, output)`,
    in the same order.

    If one fails, all others that were started are still waited for, as the library uses their memory.
    Then the first failure is raised.
    """
    transfers: List[Transfer] = []
    failure: Optional[Error] = None
    try:
        for slot in slots:
            transfers.append(start(slot))
    except Error as why:
        failure = why
    for slot, transfer in zip(slots, transfers):
        try:
            take(slot, transfer.wait())
        except Error as why:
            failure = failure or why
    if failure is not None:
        raise failure
