#!/usr/bin/python3
"""Draws the output of weir_plan_and_simulate --json: plots/cost.py FILE OUT.

The CPU time and memory to plan, prove and simulate an iteration, over the number of GPU machines.
"""

import argparse
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import style  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: E402

# Key, name, colour, marker, line.
TIMES = (
    ("simgrid_s", "SimGrid", style.VERMILION, "s", "--"),
    ("exact_s", "fluid engine", style.ORANGE, "^", "-."),
    ("rough_s", "fluid engine to {precision:g}", style.BLUE, "o", "-"),
    ("prove_s", "prove", style.PURPLE, "v", (0, (3, 1))),
    ("plan_s", "plan", style.GREEN, "D", ":"),
)
NUMBERS = ("gpu_machines", "cpu_machines", "messages", "precision", "plan_s", "rough_s", "memory_bytes")


class BadInput(Exception):
    """The message names the file and what is wrong with it."""


def read(path):
    """The rows, smallest cluster first. Values that were not measured are None."""
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            if not all(isinstance(row[key], (int, float)) for key in NUMBERS):
                raise ValueError("not a number")
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: expected the output of weir_plan_and_simulate --json ({error!r})") from None
    if not rows:
        raise BadInput(f"{path}: the file is empty")
    return sorted(rows, key=lambda row: row["gpu_machines"])


def curve(rows, key, scale=1):
    """Machines and values, for rows that have a value."""
    found = [(row["gpu_machines"], row[key] * scale) for row in rows if row.get(key) is not None]
    return [machines for machines, _ in found], [value for _, value in found]


def prepare(axes, rows, label):
    axes.set_xscale("log")
    axes.set_yscale("log")
    machines = [row["gpu_machines"] for row in rows]
    axes.set_xticks(machines, [str(each) for each in machines])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("GPU machines, of 8 GPUs each")
    axes.set_ylabel(label)


def figure(rows):
    times = [(*curve(rows, key), name.format(**rows[0]), color, marker, line)
             for key, name, color, marker, line in TIMES if curve(rows, key)[0]]
    marks = [Line2D([], [], color=color, marker=marker, linestyle=line, label=name, **style.HOLLOW)
             for _, _, name, color, marker, line in times]
    drawn, (time, memory) = style.sheet(2, 4.0, 3.0, marks)
    for machines, values, _, color, marker, line in times:
        time.plot(machines, values, color=color, marker=marker, linestyle=line, **style.HOLLOW)
    prepare(time, rows, "Processor time for an iteration (s)")
    machines, values = curve(rows, "memory_bytes", 1e-9)
    memory.plot(machines, values, color=style.BLUE, marker="o", **style.HOLLOW)
    prepare(memory, rows, "Most memory, all but SimGrid (GB)")
    return drawn


def main(arguments):
    parser = argparse.ArgumentParser(prog="cost.py", description=__doc__)
    parser.add_argument("file", metavar="FILE", type=Path, help="the output of weir_plan_and_simulate --json")
    parser.add_argument("out", metavar="OUT", type=Path, help="the picture's path without .png or .pdf")
    choices = parser.parse_args(arguments)
    style.use()
    try:
        for path in style.save(figure(read(choices.file)), choices.out.parent, choices.out.name):
            print(path)
    except BadInput as error:
        print(f"cost.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"cost.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
