"""Four panels at a glance: speed-up, goodput or iteration time, breakdown, links."""

import axis
import breakdown
import curves
import links
import style

WIDTH = 4.8  # of a panel, in inches
NO_DATA = {"ha": "center", "va": "center", "fontsize": 9, "color": "#555555"}


def figure(found):
    across, cases = axis.axis(found)
    case = cases[-1]
    drawn = curves.measure(found)
    legend = curves.legend(found, across, drawn) + breakdown.legend(found)
    height = max(3.2, 0.9 + 0.3 * len(found.strategies()))  # two lines for each strategy
    sheet, panels = style.sheet(4, WIDTH, height, legend, columns=2)
    for panel, measure in zip(panels, [curves.SPEEDUP, drawn]):
        if any(measure.of(row) is not None for row in case.rows):
            curves.draw(panel, across, case, measure, found)
        else:
            missing(panel, "no baseline ran")
        panel.set_title(style.wrapped(case.name, WIDTH))
    name, rows = breakdown.chosen(found)
    breakdown.draw(panels[2], rows, found.strategies(), max(row.iteration_ns for row in rows) / 1e6)
    if name:
        panels[2].set_xlabel(f"Iteration time (ms)\n{style.wrapped(name, WIDTH)}")
    if links.rows_of(found)[1]:
        links.draw_condensed(panels[3], found)
    else:
        missing(panels[3], "no links in these results")
    return sheet


def missing(panel, text):
    style.blank(panel)
    panel.text(0.5, 0.5, text, transform=panel.transAxes, **NO_DATA)
