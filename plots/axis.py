"""The x axis of figures, and the cases that get a panel each."""

import math
from dataclasses import dataclass
from typing import Dict, List, Tuple

import quantity
import style

LOG_SPAN = 20  # the axis is logarithmic if the largest value exceeds this many times the smallest one above 0
MARGIN = 0.9  # inches of a panel beside the axis
TILTED = {"rotation": 20, "ha": "right", "rotation_mode": "anchor"}
COUNTS = {"cpu_machines": "CPU machines", "gpu_machines": "GPU machines"}


@dataclass(frozen=True)
class Axis:
    """Invariants: there are as many places and texts as values, in the order of the places. Names are
    not quantities: they are at 0, 1, 2."""

    field: str  # empty if nothing varies
    label: str
    numeric: bool
    places: Dict[str, float]  # by value
    texts: Dict[str, str]  # of the ticks, by value

    def apply(self, axes):
        """Scales and labels the x axis."""
        axes.set_xlabel(self.label)
        values = list(self.places) if self.field else []
        names = [self.texts[value] for value in values]
        if self.numeric:
            positive = [place for place in self.places.values() if place > 0]
            where = list(self.places.values())
            if positive and max(positive) > LOG_SPAN * min(positive):
                if min(where) > 0:
                    axes.set_xscale("log")
                else:
                    axes.set_xscale("symlog", linthresh=min(positive), linscale=0.5)
                where = [math.log10(place / min(positive)) if place > 0 else -0.5 for place in where]
            names = fitting(names, where, style.width_of(axes) - MARGIN)
        axes.set_xticks([self.places[value] for value in values])
        axes.set_xticks([], minor=True)
        tilted = not self.numeric and sum(map(len, names)) > 45
        axes.set_xticklabels(names, **(TILTED if tilted else {}))


def fitting(names, where, width):
    """The names that fit into the width in inches, others empty; the first and the last are always kept."""
    if len(names) < 2:
        return names
    inches = [width * (place - where[0]) / (where[-1] - where[0]) for place in where]
    reach = [(len(name) + 1) / 2 / style.LETTERS for name in names]
    kept = [0]
    for i in range(1, len(names) - 1):
        if all(abs(inches[i] - inches[j]) >= reach[i] + reach[j] for j in (kept[-1], len(names) - 1)):
            kept.append(i)
    kept.append(len(names) - 1)
    return [name if i in kept else "" for i, name in enumerate(names)]


@dataclass(frozen=True)
class Case:
    """The rows of one panel, which differ only in the field of the axis."""

    name: str  # "Policy: fifo"; empty if there is only one case
    rows: Tuple


def value_of(row, field):
    if not field:
        return ""
    return row.values[field] if field in row.values else f"{getattr(row, field):g}"


def fields_of(found):
    """The fields that vary. The number of machines replaces the swept field that sets it."""
    fields = [field for field in found.fields if len({row.values.get(field, "") for row in found.rows}) > 1]
    for count in COUNTS:
        if len({getattr(row, count) for row in found.rows}) < 2:
            continue
        says = [field for field in fields if counts(found.rows, field, count)]
        if says:
            fields[fields.index(says[0])] = count
        elif not explained(found.rows, fields, count):
            fields.append(count)
    return fields


def counts(rows, field, count):
    pairs = {(value_of(row, field), getattr(row, count)) for row in rows}
    values, numbers = ({pair[i] for pair in pairs} for i in (0, 1))
    return len(pairs) == len(values) == len(numbers) and all(value.isdigit() for value in values)


def explained(rows, fields, count):
    pairs = {(tuple(value_of(row, field) for field in fields), getattr(row, count)) for row in rows}
    return len(pairs) == len({point for point, _ in pairs})


def label_of(field):
    if field in COUNTS:
        return COUNTS[field]
    label = field.replace("topology.groups.", "").replace("topology.", "").replace("_", " ")
    return label if "." in label else label.capitalize()


def axis_of(field, rows):
    values = list(dict.fromkeys(value_of(row, field) for row in rows))
    parsed = {value: quantity.parse(value) for value in values}
    if not field or not all(parsed.values()) or len({each.kind for each in parsed.values()}) > 1:
        return Axis(field, label_of(field), False, {value: i for i, value in enumerate(values)},
                    {value: short(value) for value in values})
    values.sort(key=lambda value: parsed[value].value)
    units = {parsed[value].unit for value in values if parsed[value].value != 0}
    unit = next(iter(units)) if len(units) == 1 else ""
    texts = {value: parsed[value].digits if unit or not parsed[value].value else value for value in values}
    return Axis(field, label_of(field) + (f" ({unit})" if unit else ""), True,
                {value: parsed[value].value for value in values}, texts)


def short(value):
    """The name of a file without folder and ending."""
    name = value.rsplit("/", 1)[-1]
    return name[:-len(".json")] if name.endswith(".json") else name


def axis(found) -> Tuple[Axis, List[Case]]:
    """The number of CPU machines if it varies, else the field with most values, preferably a quantity."""
    fields = fields_of(found)

    def rank(field):
        drawn = axis_of(field, found.rows)
        return (field == "cpu_machines", drawn.numeric, len(drawn.places))

    best = max(fields, key=rank, default="")
    others = [field for field in fields if field != best]
    cases = {}
    for row in found.rows:
        name = ", ".join(f"{label_of(field)}: {short(value_of(row, field))}" for field in others)
        cases.setdefault(name, []).append(row)
    return axis_of(best, found.rows), [Case(name, tuple(rows)) for name, rows in cases.items()]
