"""Speed-up, and goodput or iteration time, of each strategy against what was swept."""

from dataclasses import dataclass
from typing import Callable

from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, ScalarFormatter

import axis
import style

LOG_SPAN = 20  # y is logarithmic beyond, if the measure allows it
GROUP = 0.8  # of the distance between two names


@dataclass(frozen=True)
class Measure:
    name: str  # of the file
    label: str
    of: Callable  # the row's value, or None
    bound: Callable  # likewise
    limit: str  # what the bound is called


def gbps(row, duration_ns):
    """The bytes of the model over a time. Over that of the iteration it cannot exceed the bound."""
    if row.goodput is None or duration_ns == 0:
        return None
    return row.goodput * row.communication_ns / duration_ns * 8 / 1e9


SPEEDUP = Measure("speedup", "Speed-up over the baseline", lambda row: row.speedup, lambda row: None, "")
GOODPUT = Measure("goodput", "Goodput (Gbps)", lambda row: gbps(row, row.iteration_ns),
                  lambda row: gbps(row, row.bound_ns), "upper bound")
ITERATION = Measure("iteration", "Iteration time (ms)", lambda row: row.iteration_ns / 1e6,
                    lambda row: row.bound_ns / 1e6, "lower bound")


def measure(found):
    """Goodput has a bound only where nothing is computed."""
    return GOODPUT if all(row.compute_ns == 0 for row in found.rows) else ITERATION


def figures(found):
    """Name and maker of each."""
    if any(row.speedup is not None for row in found.rows):
        yield SPEEDUP.name, lambda: figure(found, SPEEDUP)
    drawn = measure(found)
    if any(drawn.of(row) is not None for row in found.rows):
        yield drawn.name, lambda: figure(found, drawn)


def figure(found, drawn):
    across, cases = axis.axis(found)
    width = 5.2 if len(cases) == 1 else 3.4
    sheet, panels = style.sheet(len(cases), width, 0.6 * width + 0.2, legend(found, across, drawn))
    for panel, case in zip(panels, cases):
        draw(panel, across, case, drawn, found.strategies())
        panel.set_title(style.wrapped(case.name, width))
    for panel in panels[len(cases):]:
        style.blank(panel)
    return sheet


def legend(found, across, drawn):
    shown = style.handles(found.strategies(), across.numeric)
    if any(drawn.bound(row) is not None for row in found.rows):
        shown.append(Line2D([], [], label=drawn.limit, **style.BOUND))
    return shown


def draw(panel, across, case, drawn, strategies):
    """One panel. Values of a quantity are joined by lines; names have the strategies side by side."""
    across.apply(panel)
    panel.set_ylabel(drawn.label)
    heights = []
    for strategy in strategies:
        points = spread([row for row in case.rows if row.strategy == strategy], across, drawn.of)
        if points:
            draw_strategy(panel, across, points, strategy, strategies)
        heights += [point[1] for point in points]
    bound = spread(case.rows, across, drawn.bound)
    if across.numeric:
        panel.plot([point[0] for point in bound], [point[1] for point in bound], zorder=2.5, **style.BOUND)
    else:
        for place, height, _, _ in bound:
            panel.plot([place - GROUP / 2, place + GROUP / 2], [height, height], zorder=2.5, **style.BOUND)
        panel.grid(axis="x", visible=False)
        panel.set_xlim(-0.5, len(across.places) - 0.5)
    scale(panel, heights + [point[1] for point in bound])


def draw_strategy(panel, across, points, strategy, strategies):
    order = strategies.index(strategy)
    color, marker, line = style.look(strategy, strategies)
    beside = 0.0 if across.numeric else GROUP * ((order + 0.5) / len(strategies) - 0.5)
    # Where curves coincide, the later is drawn smaller, so that both are seen.
    panel.errorbar([point[0] + beside for point in points], [point[1] for point in points],
                   yerr=bars_of(points), color=color, marker=marker,
                   linestyle=line if across.numeric else "none",
                   markersize=8.5 - 3.5 * order / max(1, len(strategies) - 1), zorder=3 + order / 100,
                   elinewidth=0.8, capsize=2, clip_on=False, **style.HOLLOW)


def scale(panel, heights):
    if not heights:  # nothing in this panel has the measure, as where its baseline did not run
        panel.text(0.5, 0.5, "no result", transform=panel.transAxes, ha="center", va="center", fontsize=8,
                   color="#555555")
        panel.set_yticks([])
    elif min(heights) > 0 and max(heights) > LOG_SPAN * min(heights):
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(ScalarFormatter())
        panel.yaxis.set_minor_formatter(NullFormatter())
    else:
        panel.ticklabel_format(axis="y", useOffset=False)


def spread(rows, across, of):
    """Place, mean, least and greatest over the seeds, for each value of the axis in turn."""
    points = []
    for value, place in across.places.items():
        found = [of(row) for row in rows if axis.value_of(row, across.field) == value]
        found = [each for each in found if each is not None]
        if found:
            points.append((place, sum(found) / len(found), min(found), max(found)))
    return points


def bars_of(points):
    """How far the seeds lie below and above the mean, as errorbar wants it; none if there is one seed."""
    if all(least == greatest for _, _, least, greatest in points):
        return None
    return [[max(0.0, mean - least) for _, mean, least, _ in points],
            [max(0.0, greatest - mean) for _, mean, _, greatest in points]]
