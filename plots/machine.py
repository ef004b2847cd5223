#!/usr/bin/python3
"""Draws what is inside the machines of a topology:
plots/machine.py TOPOLOGY OUT writes OUT.png and OUT.pdf."""

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import List, Optional

sys.dont_write_bytecode = True  # the folder may be installed for all users

try:
    import matplotlib  # noqa: F401  (imported first, so that its absence is reported in one line)
except ImportError:
    sys.exit(f"machine.py: {sys.executable} has no matplotlib; on Debian: apt-get install python3-matplotlib")

import quantity  # noqa: E402
import style  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.patches import Arc, FancyBboxPatch  # noqa: E402

UNIT = 0.92  # inches for a device
ROW = 0.95  # inches from one row to the next
NUMA_WIDTH = 2.0  # units
MARGIN = 0.35  # units around a machine
GAP = 0.5  # units between machines
LABEL = 6.5  # points
FILL = {"numa": "#CFE3F1", "switch": "#E9E9E9", "gpu": "#CDE8DF", "nic": "#FBE7C2"}


class BadInput(Exception):
    """A topology that cannot be drawn; the text says where and why."""


@dataclass
class Node:
    """A NUMA node, switch, GPU or NIC, with all that is connected below it.
    Positions are in units and rows from the top."""

    kind: str
    name: str
    lines: List[str]  # below the name
    label: str = ""  # of the link upwards
    wire: str = ""  # a NIC's rate
    children: List["Node"] = field(default_factory=list)
    x: float = 0
    y: float = 0

    def leaves(self):
        if self.kind in ("gpu", "nic"):
            return [self]
        return [leaf for child in self.children for leaf in child.leaves()]

    def width(self):
        inside = sum(child.width() for child in self.children)
        return max(inside, NUMA_WIDTH) if self.kind == "numa" else max(inside, 1)

    def depth(self):
        """Rows of switches from here down."""
        return (self.kind == "switch") + max((child.depth() for child in self.children), default=0)

    def place(self, left, y, bottom):
        inside = sum(child.width() for child in self.children)
        self.x, self.y = left + self.width() / 2, bottom if self.kind in ("gpu", "nic") else y
        at = self.x - inside / 2
        for child in self.children:
            child.place(at, y - 1, bottom)
            at += child.width()


@dataclass
class Machine:
    title: str
    numas: List[Node]
    sockets: list  # pairs of NUMA nodes and a label
    switch: Optional[str]  # the label of a GPU's link to the NVSwitch
    pairs: list  # pairs of GPUs and a label

    def check(self):
        """Raises a LookupError if an end of a link does not exist."""
        for ends, links in ((self.numas, self.sockets), (self.devices("gpu"), self.pairs)):
            for between, _ in links:
                if not all(0 <= end < len(ends) for end in between) or len(set(between)) != 2:
                    raise LookupError(between)

    def devices(self, kind):
        found = [leaf for numa in self.numas for leaf in numa.leaves() if leaf.kind == kind]
        return sorted(found, key=lambda node: int(node.name[3:]))

    def width(self):
        return sum(numa.width() for numa in self.numas) + 2 * MARGIN


def rounded(text):
    """A rate as in tables, "105 Gbps"; empty if it is unlimited."""
    rate = quantity.parse(text)
    if rate is None:
        return ""
    bits = rate.value * 8
    for unit, size in (("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1)):
        if bits >= size:
            return f"{bits / size:.4g} {unit}"
    return text


def both(rates):
    """The rates of both directions, on two lines if they differ."""
    if not isinstance(rates, dict):
        return rounded(rates or "unlimited")
    into, out = rounded(rates["in"]) or "unlimited", rounded(rates["out"]) or "unlimited"
    return both(rates["in"]) if into == out else f"in {into}\nout {out}"


def sums(rates):
    """The rate of summation of 32-bit floats, or else of another type."""
    if isinstance(rates, dict):
        kind = "f32" if "f32" in rates else next(iter(rates), None)
        return [f"sum {rounded(rates[kind])} {kind}"] if kind and rounded(rates[kind]) else []
    return [f"sum {rounded(rates)}"] if rounded(rates or "unlimited") else []


def read_machine(group):
    places, numas = {}, []
    for i, numa in enumerate(group.get("numa", [{}])):
        memory = rounded(numa.get("memory_rate", "unlimited"))
        lines = ([f"memory {memory}"] if memory else []) + sums(numa.get("sum_rate"))
        places[f"numa{i}"] = Node("numa", f"numa{i}", lines)
        numas.append(places[f"numa{i}"])
    for switch in group.get("switches", []):
        peers = both(switch.get("peer_rate")).replace("\n", ", ")
        label = "\n".join(line for line in (both(switch.get("rate")), f"peers {peers}" if peers else "")
                          if line)
        places[switch["name"]] = Node("switch", switch["name"], [], label)
    for switch in group.get("switches", []):
        places[switch["at"]].children.append(places[switch["name"]])
    for kind, rate in (("gpu", "rate"), ("nic", "pcie")):
        number = 0
        for spec in group.get(f"{kind}s", []):
            for _ in range(spec.get("count", 1)):
                lines = [spec["memory"]] if kind == "gpu" and spec.get("memory") else []
                wire = both(spec["rate"]) if kind == "nic" else ""
                places[spec["at"]].children.append(
                    Node(kind, f"{kind}{number}", lines, both(spec.get(rate)), wire))
                number += 1
    nvlink = group.get("nvlink", {})
    sockets = [(link["between"], both(link.get("rate"))) for link in group.get("sockets", [])]
    pairs = [(pair["between"], both(pair["rate"])) for pair in nvlink.get("pairs", [])]
    switch = both(nvlink["switch"]["rate"]) if "switch" in nvlink else None
    count = group.get("count", 1)
    return Machine(f"{group['name']}: {count} machine{'s' if count > 1 else ''}", numas, sockets, switch,
                   pairs)


def network_text(topology):
    network = topology.get("network", {})
    words = ["network"] + ([network["latency"]] if network.get("latency", "0ns") != "0ns" else [])
    if "racks" in network:
        racks = network["racks"]
        uplink = (f"oversubscribed {racks['oversubscription']:g} times" if "oversubscription" in racks
                  else f"uplinks {both(racks['uplink'])}".replace("\n", ", "))
        words.append(f"racks of {racks['size']}, {uplink}")
    return ", ".join(words)


def read(path):
    try:
        topology = json.loads(path.read_text(encoding="utf-8"))
        machines = [read_machine(group) for group in topology["groups"] if group.get("count", 1) > 0]
        for machine in machines:
            machine.check()
        return topology["name"], machines, network_text(topology)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise BadInput(f"{path}: not a valid topology; weir check {path} says what is wrong") from None


class Canvas:
    """Draws boxes, links and labels, in units and rows."""

    def __init__(self, width, height):
        self.figure = pyplot.figure(figsize=(width * UNIT, height * ROW))
        self.axes = self.figure.add_axes([0, 0, 1, 1])
        self.axes.set_xlim(0, width)
        style.blank(self.axes)

    def box(self, x, y, width, height, fill, lines, edge="#555555"):
        self.axes.add_patch(
            FancyBboxPatch((x - width / 2, y - height / 2), width, height, facecolor=fill,
                           boxstyle="round,pad=0,rounding_size=0.06", edgecolor=edge, linewidth=0.8,
                           zorder=3))
        shown = "\n".join(lines)
        self.axes.text(x, y, shown, ha="center", va="center", fontsize=7.5 if len(lines) < 2 else 6.5,
                       zorder=4)

    def line(self, x, y, color=style.GREY, **how):
        self.axes.plot(x, y, color=color, linewidth=how.pop("linewidth", 1), zorder=how.pop("zorder", 2),
                       solid_capstyle="round", **how)

    def label(self, x, y, text, color=style.BLACK):
        if text:
            self.axes.text(x, y, text, ha="center", va="center", fontsize=LABEL, color=color, zorder=5,
                           linespacing=1.05, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})

    def arc(self, x, y, width, height, up, **how):
        start, end = (0, 180) if up else (180, 360)
        self.axes.add_patch(Arc((x, y), width, 2 * height, theta1=start, theta2=end, zorder=2, **how))


def height_of(node):
    heights = {"numa": 0.24 + 0.15 * len(node.lines), "switch": 0.26}
    return heights.get(node.kind, 0.22 + 0.14 * len(node.lines))


def draw_tree(canvas, node):
    width = {"numa": NUMA_WIDTH - 0.4, "switch": 0.6}.get(node.kind, 0.68)
    canvas.box(node.x, node.y, width, height_of(node), FILL[node.kind], [node.name] + node.lines)
    for child in node.children:
        top, bottom = node.y - height_of(node) / 2, child.y + height_of(child) / 2
        # Runs above everything between the two, and then straight down.
        canvas.line([node.x, child.x, child.x], [top, top - 0.13, bottom])
        canvas.label(child.x, child.y + 0.45, child.label)
        draw_tree(canvas, child)


def draw_sockets(canvas, machine):
    labels = {label for _, label in machine.sockets}
    each = len(machine.sockets) > 3 and len(labels) == 1
    highest = 0
    for (a, b), label in machine.sockets:
        left, right = sorted((machine.numas[a], machine.numas[b]), key=lambda node: node.x)
        if abs(a - b) == 1:
            canvas.line([left.x, right.x], [left.y, right.y], color=style.BLUE, linewidth=1.6)
            canvas.label((left.x + right.x) / 2, left.y, "" if each else label)
        else:
            rise = 0.28 + 0.14 * abs(a - b)
            canvas.arc((left.x + right.x) / 2, left.y + 0.1, right.x - left.x, rise, True, color=style.BLUE,
                       linewidth=1.2)
            canvas.label((left.x + right.x) / 2, left.y + 0.1 + rise, "" if each else label)
            highest = max(highest, rise)
    if each and labels != {""}:
        middle = sum(numa.x for numa in machine.numas) / len(machine.numas)
        canvas.label(middle, machine.numas[0].y + 0.14 + highest, f"each two {labels.pop()}")


def pair_looks(machines):
    """The line width for each rate of NVLinks, thicker for faster ones."""
    rates = sorted(
        {label for machine in machines for _, label in machine.pairs},
        key=lambda label: quantity.parse(label.split("\n")[0].replace(" ", "").removeprefix("in")).value
        if label and "unlimited" not in label else float("inf"))
    return {label: 0.9 + 1.3 * i for i, label in enumerate(rates)}


def draw_nvlink(canvas, machine, row, looks):
    gpus = machine.devices("gpu")
    if machine.switch is not None:
        left, right = min(gpu.x for gpu in gpus) - 0.35, max(gpu.x for gpu in gpus) + 0.35
        canvas.box((left + right) / 2, row, right - left, 0.26, style.GREEN, [], style.GREEN)
        canvas.axes.text((left + right) / 2, row, "NVSwitch", color="white", ha="center", va="center",
                         fontsize=7.5, zorder=4)
        for gpu in gpus:
            canvas.line([gpu.x, gpu.x], [gpu.y, row], color=style.GREEN, linewidth=1.6)
            canvas.label(gpu.x, (gpu.y - height_of(gpu) / 2 + row + 0.13) / 2, machine.switch, style.GREEN)
    for (a, b), label in machine.pairs:
        span = abs(gpus[a].x - gpus[b].x)
        longest = max(gpu.x for gpu in gpus) - min(gpu.x for gpu in gpus)
        canvas.arc((gpus[a].x + gpus[b].x) / 2, gpus[a].y - height_of(gpus[a]) / 2, span,
                   0.2 + 0.75 * span / longest, False, color=style.GREEN, linewidth=looks[label])


def figure(name, machines, network):
    depth = max((numa.depth() for machine in machines for numa in machine.numas), default=0)
    bottom = -1.15 - depth  # of GPUs and NICs
    nvlink = any(machine.switch is not None or machine.pairs for machine in machines)
    wired = any(machine.devices("nic") for machine in machines)
    switch_row = bottom - 0.85
    end = bottom - (1.15 if nvlink else 0.4)  # of machines
    row = end - 0.62  # the network's
    looks = pair_looks(machines)
    arcs = max((abs(a - b) for machine in machines for (a, b), _ in machine.sockets), default=0)
    top = 0.5 if arcs < 2 else 0.55 + 0.14 * arcs + 0.2
    upper, lower = top + 0.62, row - 0.3 if wired else end - 0.15
    width = sum(machine.width() for machine in machines) + GAP * (len(machines) - 1) + 0.4
    canvas = Canvas(width, upper - lower)
    canvas.axes.set_ylim(lower, upper)
    canvas.axes.text(0.2, upper - 0.14, name, fontsize=10, va="center")
    at = 0.2
    for machine in machines:
        canvas.axes.add_patch(
            FancyBboxPatch((at, end), machine.width(), top + 0.2 - end, facecolor="#FAFAFA",
                           boxstyle="round,pad=0,rounding_size=0.1", edgecolor="#BBBBBB", zorder=0))
        canvas.axes.text(at + 0.12, top + 0.06, machine.title, fontsize=8, va="center")
        left = at + MARGIN
        for numa in machine.numas:
            numa.place(left, 0, bottom)
            left += numa.width()
            draw_tree(canvas, numa)
        draw_sockets(canvas, machine)
        draw_nvlink(canvas, machine, switch_row, looks)
        for nic in machine.devices("nic"):
            canvas.line([nic.x, nic.x], [nic.y, row], color=style.ORANGE, linewidth=1.6, zorder=1)
            canvas.label(nic.x, end - 0.24, nic.wire)
        at += machine.width() + GAP
    if wired:
        canvas.box(width / 2, row, width - 0.4, 0.28, "#FBE7C2", [network], style.ORANGE)
    if looks:
        lines = [
            Line2D([], [], color=style.GREEN, linewidth=each, label=f"NVLink {label}".replace("\n", ", "))
            for label, each in looks.items()
        ]
        canvas.axes.legend(handles=lines, loc="upper right", ncol=len(lines), fontsize=7, borderaxespad=0.2)
    return canvas.figure


def main(arguments):
    parser = argparse.ArgumentParser(prog="machine.py", description=__doc__)
    parser.add_argument("topology", metavar="TOPOLOGY", type=Path, help="a topology file")
    parser.add_argument("out", metavar="OUT", type=Path, help="the picture's path without .png or .pdf")
    choices = parser.parse_args(arguments)
    out = choices.out.with_suffix("") if choices.out.suffix in (".png", ".pdf") else choices.out
    style.use()
    try:
        for path in style.save(figure(*read(choices.topology)), out.parent, out.name):
            print(path)
    except BadInput as error:
        print(f"machine.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"machine.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
