#!/usr/bin/python3
"""Draws the files of experiments/tuning/measure.py: plots/tuning.py FOLDER OUT.

A panel for each strategy and model shows the time of an iteration over the partition size: a grey line for
each credit, the lowest times in colour, and the trials of the first search in order. A row for each strategy,
the fastest first.
"""

import argparse
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import quantity  # noqa: E402
import style  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402

COLORS = (style.SKY, style.VERMILION)  # by row
FORM = {"marker": "o", "linestyle": "none", "markersize": 8, "zorder": 4}


class BadInput(Exception):
    """The message names the file and what is wrong with it."""


def read(folder):
    """The cases by strategy and model."""
    cases = {}
    for path in sorted(folder.glob("*.jsonl")):
        try:
            case = json.loads(path.read_text(encoding="utf-8"))
            cases[case["strategy"], case["model"]] = case
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path}: expected a file of experiments/tuning/measure.py ({error!r})") from None
    if not cases:
        raise BadInput(f"{folder}: expected files of experiments/tuning/measure.py, but there are none")
    return cases


def curve(case, credit=None):
    """Sizes in MB and the lowest time in ms for each, with this credit or with any."""
    least = {}
    for one in case["all"]:
        if credit in (None, one["credit"]):
            size = quantity.parse(one["partition_size"]).value / 1e6
            least[size] = min(one["iteration_ns"] / 1e6, least.get(size, float("inf")))
    return sorted(least), [least[size] for size in sorted(least)]


def fastest_first(cases):
    least = {}
    for (strategy, _), case in cases.items():
        best = min(one["iteration_ns"] for one in case["all"])
        least[strategy] = min(best, least.get(strategy, best))
    return sorted(least, key=least.get)


def draw(axes, case, color):
    for credit in case["values"]["credit"]:
        axes.plot(*curve(case, credit), color="#C4C4C4", linewidth=0.8)
    axes.plot(*curve(case), color=color, linewidth=2)
    for number, one in enumerate(case["searches"]["bayes"][0], 1):
        at = quantity.parse(one["partition_size"]).value / 1e6, one["iteration_ns"] / 1e6
        axes.plot(*at, color=color, markerfacecolor="white", **FORM)
        axes.annotate(str(number), at, ha="center", va="center", fontsize=5, zorder=5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    best = min(one["iteration_ns"] for one in case["all"]) / 1e6
    axes.set_ylim(0.93 * best, 4 * best)
    axes.set_yticks([best * factor for factor in (1, 1.5, 2, 3)],
                    [f"{best * factor:.0f}" for factor in (1, 1.5, 2, 3)])
    axes.set_yticks([], minor=True)
    axes.set_xticks([0.2, 1, 4, 15, 60], ["0.2", "1", "4", "15", "60"])
    axes.set_xticks([], minor=True)
    axes.set_title(f"{case['model']}, {case['strategy']}")


def figure(cases):
    marks = [
        Line2D([], [], color=style.GREY, linewidth=2, label="the best credit"),
        Line2D([], [], color="#C4C4C4", linewidth=0.8, label="each credit"),
        Line2D([], [], color=style.GREY, markerfacecolor="white", label="trials of a search, in order",
               **FORM)
    ]
    rows = fastest_first(cases)
    order = sorted(cases, key=lambda case: (rows.index(case[0]), case[1] != "VGG-16", case[1]))
    columns = max(sum(row == other for other, _ in order) for row in rows)
    drawn, panels = style.sheet(len(order), 2.8, 2.4, marks, columns)
    for axes, case in zip(panels, order):
        draw(axes, cases[case], COLORS[rows.index(case[0]) % len(COLORS)])
        axes.set_xlabel("partition size, MB")
        axes.set_ylabel("iteration, ms")
    return drawn


def main(arguments):
    parser = argparse.ArgumentParser(prog="tuning.py", description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the folder that measure.py wrote")
    parser.add_argument("out", metavar="OUT", type=Path, help="the picture's path without .png or .pdf")
    choices = parser.parse_args(arguments)
    style.use()
    try:
        for path in style.save(figure(read(choices.folder)), choices.out.parent, choices.out.name):
            print(path)
    except BadInput as error:
        print(f"tuning.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"tuning.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
