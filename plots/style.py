"""The look and the writing of figures. The same input gives the same bytes."""

import math
import textwrap

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

# The colour-blind-safe palette of Okabe and Ito, with grey for its yellow, which is too pale for lines.
BLUE, ORANGE, VERMILION, GREEN = "#0072B2", "#E69F00", "#D55E00", "#009E73"
PURPLE, SKY, GREY, BLACK = "#CC79A7", "#56B4E9", "#777777", "#000000"

# Colour, marker and line of each strategy, from results.json. So a strategy looks the same in every figure.
# All others take the spare looks in turn.
LOOKS = {}
SPARE = [(BLUE, "<", ":"), (VERMILION, ">", "--"), (GREEN, "p", "-."), (PURPLE, "h", "-"), (ORANGE, "*", ":"),
         (GREY, "d", "--"), (SKY, "8", "-")]
BOUND = {"color": "#8A8A8A", "linewidth": 0.8, "linestyle": "-"}
BEYOND = {"facecolor": "#F1F1F1", "edgecolor": "#C4C4C4", "hatch": "/////", "linewidth": 0}

HOLLOW = {"markerfacecolor": "white", "markeredgewidth": 1.3}
LEGEND_LINE = 0.22  # inches
LEGEND_MARK = 0.62  # inches of an entry without its text: the mark and the space around it
LETTERS = 13  # in an inch


def use(looks=None):
    """For all figures from now on. Looks are colour, marker and line by strategy; a line is matplotlib's
    name, or the lengths of dashes and gaps: "5 1 1 1"."""
    LOOKS.clear()
    for strategy, (color, marker, line) in (looks or {}).items():
        LOOKS[strategy] = color, marker, (0, tuple(map(int, line.split()))) if " " in line else line
    matplotlib.rcdefaults()
    pyplot.rcParams.update({
        "font.family": "DejaVu Sans", "font.size": 9, "axes.labelsize": 9, "axes.titlesize": 9,
        "xtick.labelsize": 8, "ytick.labelsize": 8, "legend.fontsize": 8, "legend.frameon": False,
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
        "grid.color": "#E4E4E4", "grid.linewidth": 0.6, "lines.linewidth": 1.5, "lines.markersize": 5.5,
        "text.parse_math": False,  # names may hold a '$'
        "legend.handlelength": 2.9, "legend.columnspacing": 1.5, "pdf.fonttype": 42, "hatch.linewidth": 0.6,
        "savefig.dpi": 200,
    })


def look(strategy, strategies):
    """Colour, marker, line; strategies are all those drawn."""
    if strategy in LOOKS:
        return LOOKS[strategy]
    return SPARE[[name for name in strategies if name not in LOOKS].index(strategy) % len(SPARE)]


def handles(strategies, lines):
    """The legend's entries for the strategies, with lines if those are drawn."""
    shown = []
    for strategy in strategies:
        color, marker, line = look(strategy, strategies)
        shown.append(Line2D([], [], color=color, marker=marker, linestyle=line if lines else "none",
                            label=strategy, **HOLLOW))
    return shown


def wrapped(text, width):
    """The text broken into lines of at most this many inches."""
    return textwrap.fill(text, int(width * LETTERS))


def lines_of(labels, width):
    """The lines that a legend of this width in inches needs,
    if each column is as wide as its widest label."""
    for lines in range(1, len(labels)):
        columns = [labels[i:i + lines] for i in range(0, len(labels), lines)]
        if sum(LEGEND_MARK + max(map(len, column)) / LETTERS for column in columns) <= width:
            return lines
    return max(1, len(labels))


def sheet(panels, width, height, shown=(), columns=3):
    """A figure with panels of this size in inches, a limited number of them in a row, and a legend above."""
    columns = min(columns, panels)
    rows = -(-panels // columns)
    lines = lines_of([handle.get_label() for handle in shown], columns * width)
    legend = LEGEND_LINE * lines + 0.08 if shown else 0.01
    figure = pyplot.figure(figsize=(columns * width, rows * height + legend), layout="constrained")
    top, rest = figure.subfigures(2, 1, height_ratios=[legend, rows * height])
    if shown:
        top.legend(handles=list(shown), loc="center", ncol=math.ceil(len(shown) / lines))
    return figure, list(rest.subplots(rows, columns, squeeze=False).flat)


def width_of(axes):
    """The space of its panel, in inches, before the layout is made."""
    sheet = axes.get_figure()
    return sheet.bbox.width / sheet.dpi / axes.get_subplotspec().get_gridspec().ncols


def blank(axes):
    axes.set_axis_off()


def save(figure, folder, name):
    """Writes the figure as PNG and PDF, and closes it; returns the paths."""
    paths = []
    for ending, metadata in [("png", {"Software": None}),
                             ("pdf", {"CreationDate": None, "Creator": None, "Producer": None})]:
        paths.append(folder / f"{name}.{ending}")
        figure.savefig(paths[-1], metadata=metadata)
        figure.set_layout_engine("none")  # the layout is done already, and slow to repeat
    pyplot.close(figure)
    return paths
