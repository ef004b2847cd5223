"""The names by which ranks recognise the same tensor."""

from typing import Any, Dict, List, Optional, Sequence, Tuple


def prefix(what: str, model: int) -> str:
    """The start of the names of a model's tensors, such as "Gradient."; models have numbers,
    and 0 is not written."""
    return f"{what}." if model == 0 else f"{what}{model}."


def of_group(name: Optional[str], count: int) -> List[Optional[str]]:
    """The names of a group's tensors; none if the group has none."""
    return [None if name is None else f"{name}.{index}" for index in range(count)]


def repeated(names: Sequence[str]) -> List[str]:
    """The names that occur more than once, sorted."""
    if len(set(names)) == len(names):
        return []
    return sorted({name for name in names if names.count(name) > 1})


class Distinct:
    """Gives a tensor another name if the last tensor of its name had another size or type.

    Two models may have parameters of the same name. The library knows one tensor by one name.
    """

    def __init__(self) -> None:
        self._known: Dict[str, Tuple[Any, int]] = {}  # name -> size and type, and how often they have changed

    def name(self, name: str, kind: Any) -> str:
        """The name for a tensor whose size and type are `kind`."""
        before, changes = self._known.get(name, (kind, 0))
        if before != kind:
            changes += 1
        self._known[name] = (kind, changes)
        return name if changes == 0 else f"{name}#{changes}"
