"""Reads the rows of results.json or, if it is missing, of results.csv."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Tuple


class BadInput(Exception):
    """Results that cannot be drawn; the message says where and why."""


@dataclass(frozen=True)
class Row:
    """One strategy at one point with one seed. Times are in nanoseconds."""

    strategy: str
    gpu_machines: float
    cpu_machines: float
    values: Dict[str, str]  # of the swept fields, as text
    iteration_ns: float
    exposed_ns: float
    communication_ns: float
    compute_ns: float
    bound_ns: float
    goodput: Optional[float]  # bytes per second
    goodput_bound: Optional[float]  # likewise
    speedup: Optional[float]
    links: Tuple[Tuple[str, float], ...]  # name and use (1 is fully used), the most used first
    timeline: Optional[str]


@dataclass(frozen=True)
class Results:
    folder: Path
    fields: List[str]  # the swept ones
    rows: List[Row]
    baseline: Optional[str] = None  # of the speed-ups, if the file names it
    looks: Optional[Dict[str, List[str]]] = None  # colour, marker and line by strategy, if the file has them

    def strategies(self):
        """In the order of the rows. A strategy that is missing at first takes its place from later points."""
        order, last = [], None
        for row in self.rows:
            if row.strategy not in order:
                order.insert(order.index(last) + 1 if last else 0, row.strategy)
            last = row.strategy
        return order


# Column: whether it must hold a number.
NUMBERS = {
    "gpu_machines": True, "cpu_machines": True, "iteration_ns": True, "exposed_communication_ns": True,
    "communication_ns": True, "compute_ns": True, "bound_ns": True, "goodput_bytes_per_s": False,
    "goodput_bound_bytes_per_s": False, "speedup": False,
}
FIRST = ["strategy", "gpu_machines", "cpu_machines"]  # swept fields are between these and "seed"


def read(folder):
    for name, rows_of in [("results.json", json_rows), ("results.csv", csv_rows)]:
        path = folder / name
        if not path.is_file():
            continue
        fields, rows, baseline, looks = rows_of(path)
        if not rows:
            raise BadInput(f"{path}: there are no rows, so nothing to draw")
        return Results(folder, fields, rows, baseline, looks)
    raise BadInput(f"{folder}: there is neither results.json nor results.csv; weir run writes them")


def parsed(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"{path}: expected JSON: {error}") from None


def json_rows(path):
    whole = parsed(path)
    if not isinstance(whole, dict) or not isinstance(whole.get("rows"), list):
        raise BadInput(f"{path}: the list 'rows' is missing; is this a file that weir run wrote?")
    entries = [entry for entry in whole["rows"] if isinstance(entry, dict)]
    if len(entries) < len(whole["rows"]):
        raise BadInput(f"{path}: rows: each must be an object")
    values = [entry.get("values", {}) for entry in entries]
    if not all(isinstance(each, dict) for each in values):
        raise BadInput(f"{path}: rows: the values of each must be an object")
    fields = list(dict.fromkeys(field for each in values for field in each))
    experiment = whole.get("experiment")
    baseline = experiment.get("baseline") if isinstance(experiment, dict) else None
    return fields, [row(entry, each, f"{path}: rows[{i}]")
                    for i, (entry, each) in enumerate(zip(entries, values))], baseline, looks_of(whole, path)


def looks_of(whole, path):
    """Colour, marker and line by strategy; older versions wrote none."""
    looks = whole.get("looks", {})
    if not isinstance(looks, dict) or not all(
            isinstance(look, list) and len(look) == 3 and all(isinstance(word, str) for word in look)
            for look in looks.values()):
        raise BadInput(f"{path}: looks: each must be a colour, a marker and a line")
    return looks


def csv_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        numbered = [(i, line) for i, line in enumerate(file, 1) if not line.startswith("#") and line.strip()]
    lines = list(csv.reader(line for _, line in numbered))
    if not lines:
        return [], [], None, None
    columns = lines[0]
    for column in FIRST + ["seed"] + [name for name in NUMBERS if NUMBERS[name]]:
        if column not in columns:
            raise BadInput(f"{path}: the column '{column}' is missing")
    fields = columns[len(FIRST):columns.index("seed")]
    rows = []
    for (number, _), cells in zip(numbered[1:], lines[1:]):
        if len(cells) != len(columns):
            raise BadInput(f"{path}:{number}: found {len(cells)} cells, expected {len(columns)}")
        entry = dict(zip(columns, cells))
        rows.append(row(entry, {field: entry[field] for field in fields}, f"{path}:{number}"))
    return fields, rows, None, None


def row(entry, values, where):
    if not entry.get("strategy"):
        raise BadInput(f"{where}: 'strategy' is missing")
    numbers = {name: number(entry, name, where, required) for name, required in NUMBERS.items()}
    try:
        links = tuple((link["name"], float(link["use"])) for link in entry.get("links", []))
    except (KeyError, TypeError, ValueError):
        raise BadInput(f"{where}: links: each must have a name and a use") from None
    return Row(entry["strategy"], numbers["gpu_machines"], numbers["cpu_machines"],
               {field: text(value) for field, value in values.items()}, numbers["iteration_ns"],
               numbers["exposed_communication_ns"], numbers["communication_ns"], numbers["compute_ns"],
               numbers["bound_ns"], numbers["goodput_bytes_per_s"], numbers["goodput_bound_bytes_per_s"],
               numbers["speedup"], links, entry.get("timeline"))


def number(entry, name, where, required):
    value = entry.get(name)
    if value is None or value == "":
        if required:
            raise BadInput(f"{where}: '{name}' is missing")
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadInput(f"{where}: {name}: '{value}' is not a number") from None


def text(value):
    return value if isinstance(value, str) else json.dumps(value)
