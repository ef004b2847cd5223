"""Our results over published ones, from the published.csv that weir run writes."""

import csv
from functools import partial

import results
import style

FILE = "published.csv"
LABELS = {  # label of a measure, and the divisor of its unit in the file
    "iteration": ("Iteration time (ms)", 1e-3),
    "throughput": ("Samples per second", 1),
    "goodput": ("Goodput (Gbps)", 1.25e8),
    "efficiency": ("Scaling efficiency (%)", 1e-2),
    "speedup": ("Speed-up over the baseline", 1),
}


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows, 2):
        if row.get("measure") not in LABELS or not row.get("published"):
            raise results.BadInput(f"{path}:{number}: expected a row that weir run wrote")
    return rows


def figures(found):
    path = found.folder / FILE
    if path.is_file():
        yield "published", partial(figure, found, path)


def ticks(rows):
    """The points by name, in order, without settings common to all."""
    points = list(dict.fromkeys(row["at"] for row in rows))
    parts = [point.split() for point in points]
    same = set.intersection(*map(set, parts))
    return points, [" ".join(part for part in each if part not in same).replace(" ", "\n") for each in parts]


def figure(found, path):
    rows = read(path)
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    strategies = found.strategies()
    drawn = [strategy for strategy in strategies if any(row["strategy"] == strategy for row in rows)]
    shown = [
        style.Line2D([], [], color="black", marker="o", linestyle="-", label="ours"),
        style.Line2D([], [], color="black", marker="o", linestyle=":", label="published", **style.HOLLOW)
    ]
    for strategy in drawn:
        color, marker, _ = style.look(strategy, strategies)
        shown.append(style.Line2D([], [], color=color, marker=marker, linestyle="none", label=strategy))
    sheet, panels = style.sheet(len(measures), 4.6, 3.0, shown)
    for panel, measure in zip(panels, measures):
        draw(panel, [row for row in rows if row["measure"] == measure], drawn, strategies, measure)
    for panel in panels[len(measures):]:
        style.blank(panel)
    return sheet


def draw(panel, rows, drawn, strategies, measure):
    points, names = ticks(rows)
    label, unit = LABELS[measure]
    for strategy in drawn:
        color, marker, _ = style.look(strategy, strategies)
        for column, line, kind in (("published", ":", style.HOLLOW), ("ours", "-", {})):
            known = [row for row in rows if row["strategy"] == strategy and row[column]]
            where = [points.index(row["at"]) for row in known]
            panel.plot(where, [float(row[column]) / unit for row in known], color=color, marker=marker,
                       linestyle=line, **kind)
    panel.set_xticks(range(len(points)))
    panel.set_xticklabels(names)
    panel.set_xlim(-0.5, len(points) - 0.5)
    panel.set_ylabel(label)
    panel.set_ylim(bottom=0)
