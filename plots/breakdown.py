"""Divides an iteration into compute and communication that no computation hides."""

from matplotlib.patches import Patch

import axis
import style

MOST_PANELS = 12
# These are no colours of strategies.
COMPUTE = {"facecolor": "#C8C8C8"}
EXPOSED = {"facecolor": "#303030"}


def legend(found):
    shown = [Patch(label="exposed communication (with its ms)", **EXPOSED)]
    if any(row.exposed_ns < row.iteration_ns for row in found.rows):
        shown.insert(0, Patch(label="compute", **COMPUTE))
    return shown


def points(found):
    """Name and rows of each point of the sweep, in the order of the axis."""
    across, cases = axis.axis(found)
    shown = []
    for case in cases:
        for value in across.places:
            rows = [row for row in case.rows if axis.value_of(row, across.field) == value]
            here = f"{axis.label_of(across.field)}: {axis.short(value)}" if across.field else ""
            if rows:
                shown.append((", ".join(part for part in (case.name, here) if part), rows))
    return shown


def chosen(found):
    """Among the points with the most strategies, the last one, or the one with most machines."""
    shown = points(found)
    most = max(len({row.strategy for row in rows}) for _, rows in shown)
    return [(name, rows) for name, rows in shown if len({row.strategy for row in rows}) == most][-1]


def figure(found):
    shown = points(found)
    if len(shown) > MOST_PANELS:
        shown = [shown[i * (len(shown) - 1) // (MOST_PANELS - 1)] for i in range(MOST_PANELS)]
    strategies = found.strategies()
    height = 0.75 + 0.2 * len(strategies)
    sheet, panels = style.sheet(len(shown), 3.4 if len(shown) > 1 else 5.2, height, legend(found))
    reach = max(row.iteration_ns for _, rows in shown for row in rows) / 1e6
    for panel, (name, rows) in zip(panels, shown):
        draw(panel, rows, strategies, reach)
        panel.set_title(style.wrapped(name, 3.4))
        if not panel.get_subplotspec().is_first_col():
            panel.set_yticklabels([])
    for panel in panels[len(shown):]:
        style.blank(panel)
    return sheet


def draw(panel, rows, strategies, reach):
    """One bar for each strategy, with its exposed communication as a number;
    reach is the longest bar in ms."""
    for place, strategy in enumerate(strategies):
        ours = [row for row in rows if row.strategy == strategy]
        if not ours:
            panel.text(0.01 * reach, place, "no result", va="center", fontsize=8, color="#555555")
            continue
        exposed = sum(row.exposed_ns for row in ours) / len(ours) / 1e6
        whole = sum(row.iteration_ns for row in ours) / len(ours) / 1e6
        panel.barh(place, whole - exposed, 0.72, linewidth=0, **COMPUTE)
        panel.barh(place, exposed, 0.72, left=whole - exposed, linewidth=0, **EXPOSED)
        panel.text(whole + 0.015 * reach, place, f"{exposed:.3g}" if exposed < 100 else f"{exposed:.0f}",
                   va="center", fontsize=8)
    panel.set_yticks(range(len(strategies)))
    panel.set_yticklabels(strategies)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(len(strategies) - 0.5, -0.5)
    panel.set_xlim(0, reach * 1.17)
    panel.set_xlabel("Iteration time (ms)")
    panel.grid(axis="y", visible=False)
