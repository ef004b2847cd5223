"""What the arguments of Horovod's and BytePS's functions mean, whatever the framework."""

import enum
from typing import Any, Optional, Union

from .errors import InvalidError


class Op(enum.IntEnum):
    """How the ranks' tensors are combined. Weir supports Average and Sum, and refuses the others."""

    Average = 0
    Sum = 1
    Adasum = 2
    Min = 3
    Max = 4
    Product = 5


Average, Sum, Adasum, Min, Max, Product = Op


def averages(average: Optional[bool], op: Optional[Union[Op, int]]) -> bool:
    """Whether an average is meant, and not a sum. Horovod has two ways to say it."""
    if average is not None and op is not None:
        raise InvalidError("give either average or op, not both")
    if op is None:
        return average is None or bool(average)
    try:
        meant = Op(op)
    except ValueError:
        raise InvalidError(f"op is {op!r}: it must be Average or Sum") from None
    if meant not in (Op.Average, Op.Sum):
        raise InvalidError(f"op={meant.name} is not supported: Weir averages and sums")
    return meant == Op.Average


def kind_of(average: bool) -> bytes:
    """The word for what ranks make of a sum. The library compares it over the ranks."""
    return b"averaged" if average else b"summed"


def all_ranks(process_set: Any) -> None:
    """InvalidError if only some ranks are meant."""
    if process_set is not None:
        raise InvalidError("process_set must be None: a session of Weir includes all ranks")


def everybody(comm: Any, process_sets: Any) -> None:
    """InvalidError if init() is asked for a session of some ranks."""
    if comm is not None or process_sets is not None:
        raise InvalidError("comm and process_sets must be None: a session of Weir includes all ranks")


def check_passes(passes: int) -> None:
    """InvalidError unless it is a number of backward passes."""
    if passes < 1:
        raise InvalidError(f"backward_passes_per_step is {passes}: it must be 1 or more")


def check_predivide(factor: float, average: bool) -> None:
    """InvalidError unless gradients can be divided by this factor before the sum."""
    if factor <= 0 or (factor != 1.0 and not average):
        raise InvalidError("gradient_predivide_factor must be more than 0, and requires op=Average")
