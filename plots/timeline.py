"""Draws one iteration op by op: the tracks of a few machines, coloured by layer,
and the use of their links."""

import re
from dataclasses import dataclass, field
from functools import partial
from typing import List

import matplotlib
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.ticker import MaxNLocator

import results
import style

MOST_MACHINES = 3
MOST_TRACKS = 12  # of a machine
MOST_LANES = 16  # with rows of their own; further ones share a row
MOST_LINKS = 4  # of a machine
NARROWEST = 1 / 3000  # of the width; anything narrower would be invisible
GAP = 0.7  # between machines, in rows
COLORS = ListedColormap(matplotlib.colormaps["viridis"](range(0, 240)))
LINK = {"color": "#9AA7B4", "linewidth": 0}


@dataclass
class Track:
    machine: str
    name: str
    events: List = field(default_factory=list)  # (lane, start, end, layer), in ms

    def lanes(self):
        return min(MOST_LANES, 1 + max(event[0] for event in self.events))

    def height(self):
        return 1 + (self.lanes() - 1) / 5

    def busy(self):
        return sum(end - start for _, start, end, _ in self.events)


@dataclass
class Link:
    machine: str
    name: str
    steps: List = field(default_factory=list)  # (start in ms, percent from then on)

    def height(self):
        return 1

    def busy(self):
        return sum((later[0] - step[0]) * step[1] for step, later in zip(self.steps, self.steps[1:]))


def figures(found):
    """Name and maker of every timeline."""
    drawn = set()
    for row in found.rows:
        if row.timeline and row.timeline not in drawn:
            drawn.add(row.timeline)
            name = row.timeline.rsplit("/", 1)[-1]
            yield re.sub(r"\.json$", "", name), partial(figure, found.folder / name)


def whole(path):
    if not path.is_file():
        raise results.BadInput(f"{path}: results.json names this file, but it does not exist")
    found = results.parsed(path)
    events = found.get("traceEvents") if isinstance(found, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise results.BadInput(f"{path}: expected a list 'traceEvents', as weir run writes it")
    return found


def read(path):
    """The tracks of the first iteration, the used links, and the number of layers."""
    found = whole(path)
    machines, names, tracks, links = {}, {}, {}, {}
    try:
        layers = {layer: i for i, layer in enumerate(found["otherData"]["layers"])}
        for event in found["traceEvents"]:
            if event["name"] == "process_name":
                machines[event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                names[event["pid"], event["tid"]] = event["args"]["name"]
        for event in found["traceEvents"]:
            machine = machines[event["pid"]]
            if event["ph"] == "C":
                link = links.setdefault((machine, event["name"]), Link(machine, event["name"]))
                link.steps.append((event["ts"] / 1e3, event["args"]["%"]))
            if event["ph"] != "X" or event.get("args", {}).get("iteration", 0) != 0:
                continue
            name, layer, lane = names[event["pid"], event["tid"]], event["name"], 0
            if name == "compute":
                name, layer = layer.split(" ", 1)
            elif " to " in name:  # a lane for each receiver
                name, lane = name.split(" to ")[0] + " out", event["tid"]
            track = tracks.setdefault((machine, name), Track(machine, name))
            start = event["ts"] / 1e3
            track.events.append((lane, start, start + event["dur"] / 1e3, layers[layer]))
    except (KeyError, TypeError, ValueError) as error:
        raise results.BadInput(f"{path}: cannot read an event: {error!r}") from None
    if not tracks:
        raise results.BadInput(f"{path}: there are no events to draw")
    for track in tracks.values():
        order = {lane: i for i, lane in enumerate(sorted({event[0] for event in track.events}))}
        track.events = [(order[lane], *rest) for lane, *rest in track.events]
    return list(tracks.values()), list(links.values()), len(layers)


def busiest(rows, most):
    kept = sorted(rows, key=lambda row: -row.busy())[:most]
    return [row for row in rows if row in kept]


def shown(tracks, links):
    """The first active machine of each group, with its busiest tracks and links; and the network."""
    groups = {}
    for track in tracks:
        groups.setdefault(re.sub(r"\[\d+\]$", "", track.machine), track.machine)
    machines = list(groups.values())[:MOST_MACHINES]
    if any(link.machine == "network" for link in links):
        machines.append("network")
    return [(machine, busiest([track for track in tracks if track.machine == machine], MOST_TRACKS)
             + busiest([link for link in links if link.machine == machine], MOST_LINKS))
            for machine in machines]


def figure(path):
    tracks, links, layers = read(path)
    machines = shown(tracks, links)
    rows = sum(row.height() for _, ours in machines for row in ours) + GAP * len(machines)
    sheet, (panel,) = style.sheet(1, 7.2, 0.9 + 0.24 * rows)
    end = max(event[2] for track in tracks for event in track.events)
    boxes, colors = draw(panel, machines, end)
    bars = PolyCollection(boxes, array=colors, cmap=COLORS, norm=Normalize(0, max(1, layers - 1)),
                          linewidths=0, rasterized=True, snap=False)
    panel.add_collection(bars)
    panel.set_xlim(0, end)
    panel.set_ylim(rows, 0)
    panel.set_xlabel("Time (ms)")
    panel.grid(axis="y", visible=False)
    if layers > 1:
        bar = sheet.colorbar(bars, ax=panel, fraction=0.03, pad=0.01, aspect=40)
        bar.set_label("Layer (0 is next to the input)")
        bar.ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        bar.outline.set_visible(False)
    return sheet


def draw(panel, machines, end):
    """Names the rows and draws the links. Returns the boxes of the events, none too narrow to see, and their
    layers."""
    top, boxes, colors, places, names = 0.0, [], [], [], []
    for machine, rows in machines:
        panel.text(0.0, top + GAP / 2 + 0.05, f" {machine}", va="center", fontsize=8, weight="bold")
        top += GAP
        for row in rows:
            if isinstance(row, Link):
                draw_link(panel, row, top, end)
                names.append(link_label(row.name))
            else:
                draw_track(row, top, end * NARROWEST, boxes, colors)
                names.append(row.name)
            places.append(top + row.height() / 2)
            top += row.height()
            panel.axhline(top, color="#E4E4E4", linewidth=0.6)
    panel.set_yticks(places)
    panel.set_yticklabels(names)
    panel.tick_params(axis="y", length=0)
    return boxes, colors


def draw_track(track, top, least, boxes, colors):
    lane_height = (track.height() - 0.2) / track.lanes()
    for lane, start, end, layer in track.events:
        upper = top + 0.1 + lane_height * (lane % MOST_LANES)
        lower = upper + 0.92 * lane_height
        end = max(end, start + least)
        boxes.append([(start, upper), (start, lower), (end, lower), (end, upper)])
        colors.append(layer)


def draw_link(panel, link, top, end):
    """Draws its use: 0 at the bottom of the row, 100 % at the line above."""
    times = [step[0] for step in link.steps] + [end]
    use = [min(100, step[1]) for step in link.steps] + [0]
    bottom = top + 0.95
    panel.fill_between(times, bottom, [bottom - 0.85 * each / 100 for each in use], step="post", **LINK)
    panel.axhline(bottom - 0.85, color="#9AA7B4", linewidth=0.4, linestyle=":")


def link_label(name):
    """The names of links that are alike, on two lines."""
    return "use of " + re.sub(r", \d+ alike$", "", name).replace(" to ", "\nto ")
