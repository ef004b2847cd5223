"""Speed-up, and goodput or iteration time, of each strategy over the swept field."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Callable

from matplotlib.patches import Patch
from matplotlib.ticker import NullFormatter, ScalarFormatter

import axis
import style

LEAST_SPAN = 0.05  # of the largest value
LOG_SPAN = 20  # y is logarithmic beyond this, if the measure allows it
CUT = 3  # times the height of the lower nine tenths
ROOM = 0.08  # of the height, beyond the bound
GROUP = 0.8  # of the distance between two names


@dataclass(frozen=True)
class Measure:
    name: str  # of the figure's file
    label: str
    of: Callable  # the row's value, or None
    bound: Callable  # likewise
    beyond: str  # where no value is possible: "above" or "below" the bound


def gbps(bytes_per_s):
    return None if bytes_per_s is None else bytes_per_s * 8 / 1e9


SPEEDUP = Measure("speedup", "Speed-up over {baseline}", lambda row: row.speedup, lambda row: None, "")
GOODPUT = Measure("goodput", "Goodput while messages\nare under way (Gbps)", lambda row: gbps(row.goodput),
                  lambda row: gbps(row.goodput_bound), "above")
ITERATION = Measure("iteration", "Iteration time (ms)", lambda row: row.iteration_ns / 1e6,
                    lambda row: row.bound_ns / 1e6, "below")


def measure(found):
    """The measure in the overview. Goodput says little if computation hides communication."""
    nothing_computed = all(row.compute_ns == 0 for row in found.rows)
    return GOODPUT if nothing_computed and shows(found, GOODPUT) else ITERATION


def shows(found, drawn):
    return any(drawn.of(row) is not None for row in found.rows)


def figures(found):
    """Name and maker of each figure."""
    for drawn in (SPEEDUP, GOODPUT, ITERATION):
        if shows(found, drawn):
            yield drawn.name, partial(figure, found, drawn)


def figure(found, drawn):
    across, cases = axis.axis(found)
    width = 5.2 if len(cases) == 1 else 3.4
    sheet, panels = style.sheet(len(cases), width, 0.6 * width + 0.2, legend(found, across, drawn))
    for panel, case in zip(panels, cases):
        draw(panel, across, case, drawn, found)
        panel.set_title(style.wrapped(case.name, width))
    for panel in panels[len(cases):]:
        style.blank(panel)
    return sheet


def legend(found, across, drawn):
    shown = style.handles(found.strategies(), across.numeric)
    if any(drawn.bound(row) is not None for row in found.rows):
        shown.append(Patch(label=f"{drawn.beyond} the bound", **style.BEYOND))
    return shown


def draw(panel, across, case, drawn, found):
    """One panel. Lines join the values of a quantity; for names, the strategies are side by side."""
    across.apply(panel)
    panel.set_ylabel(drawn.label.format(baseline=found.baseline or "the baseline"))
    strategies = found.strategies()
    curves = {strategy: spread([row for row in case.rows if row.strategy == strategy], across, drawn.of)
              for strategy in strategies}
    heights = [point[1] for points in curves.values() for point in points]
    end = cut(heights) if drawn.beyond == "below" else math.inf
    for strategy, points in curves.items():
        if points:
            draw_strategy(panel, across, points, strategy, strategies, end)
    heights = [min(height, end) for height in heights]
    if not across.numeric:
        panel.grid(axis="x", visible=False)
        panel.set_xlim(-0.5, len(across.places) - 0.5)
    bound = [(place, height) for place, height, _, _ in spread(case.rows, across, drawn.bound)]
    scale(panel, heights + [height for _, height in bound] if heights else [])
    if end < math.inf:
        panel.set_ylim(top=end)
    if heights and bound:
        draw_bound(panel, across, bound, drawn.beyond)


def draw_bound(panel, across, bound, beyond):
    """Marks the area beyond the bound, so that curves next to it stay visible."""
    least, most = panel.get_ylim()
    heights = [height for _, height in bound]
    if panel.get_yscale() == "log":
        least, most = min(least, min(heights) * (1 - 2 * ROOM)), max(most, max(heights) * (1 + 2 * ROOM))
    else:
        least, most = min(least, *heights), max(most, *heights)
        room = ROOM * (most - least)
        least, most = min(least, min(heights) - room), max(most, max(heights) + room)
    end = most if beyond == "above" else least
    if not across.numeric:
        pieces = [([place - GROUP / 2, place + GROUP / 2], [height] * 2) for place, height in bound]
    elif len(bound) == 1:
        pieces = [(list(panel.get_xlim()), heights * 2)]
    else:
        pieces = [([place for place, _ in bound], heights)]
    limits = panel.get_xlim()
    for places, edge in pieces:
        panel.fill_between(places, edge, end, zorder=1.5, **style.BEYOND)
        panel.plot(places, edge, zorder=1.6, **style.BOUND)
    panel.set_xlim(limits)
    panel.set_ylim((least, end) if beyond == "above" else (end, most))


def cut(heights):
    """The end of the axis. A few points far above all others are cut off,
    since they would squeeze the rest."""
    ordered = sorted(heights)
    if not ordered:
        return math.inf
    end = ordered[0] + CUT * (ordered[int(0.9 * (len(ordered) - 1))] - ordered[0])
    return end if ordered[0] < end < ordered[-1] else math.inf


def draw_strategy(panel, across, points, strategy, strategies, end):
    order = strategies.index(strategy)
    color, marker, line = style.look(strategy, strategies)
    beside = 0.0 if across.numeric else GROUP * ((order + 0.5) / len(strategies) - 0.5)
    # If curves coincide, the later one is drawn smaller, so that both are visible.
    panel.errorbar([point[0] + beside for point in points], [point[1] for point in points],
                   yerr=bars_of(points), color=color, marker=marker,
                   linestyle=line if across.numeric else "none",
                   markersize=8.5 - 3.5 * order / max(1, len(strategies) - 1), zorder=3 + order / 100,
                   elinewidth=0.8, capsize=2, clip_on=end < math.inf, **style.HOLLOW)
    for place, height, _, _ in points:
        if height > end:
            panel.annotate(f"{height:.0f} \u2191", (place + beside, end), (0, -3), ha="center", va="top",
                           fontsize=8, textcoords="offset points", color=color)


def scale(panel, heights):
    if not heights:  # no row of this panel has the measure, for example because its baseline did not run
        panel.text(0.5, 0.5, "no result", transform=panel.transAxes, ha="center", va="center", fontsize=8,
                   color="#555555")
        panel.set_yticks([])
    elif min(heights) > 0 and max(heights) > LOG_SPAN * min(heights):
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(ScalarFormatter())
        panel.yaxis.set_minor_formatter(NullFormatter())
    else:
        panel.ticklabel_format(axis="y", useOffset=False)
        least, most = panel.get_ylim()
        room = (LEAST_SPAN * max(heights) - (most - least)) / 2
        if room > 0:  # tiny differences should look tiny
            panel.set_ylim(least - room, most + room)


def spread(rows, across, of):
    """Place, mean, smallest and largest over the seeds, for each value of the axis."""
    points = []
    for value, place in across.places.items():
        found = [of(row) for row in rows if axis.value_of(row, across.field) == value]
        found = [each for each in found if each is not None]
        if found:
            points.append((place, sum(found) / len(found), min(found), max(found)))
    return points


def bars_of(points):
    """How far the seeds lie below and above the mean, for errorbar; None if there is only one seed."""
    if all(least == greatest for _, _, least, greatest in points):
        return None
    return [[max(0.0, mean - least) for _, mean, least, _ in points],
            [max(0.0, greatest - mean) for _, mean, _, greatest in points]]
