"""One iteration op by op: the tracks of a few machines, coloured by layer."""

import re
from dataclasses import dataclass, field
from functools import partial
from typing import List

import matplotlib
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap, Normalize

import results
import style

MOST_MACHINES = 3
MOST_TRACKS = 12  # of a machine
MOST_LANES = 16  # drawn apart; further ones share
NARROWEST = 1 / 3000  # of the width; what is narrower would not be seen
GAP = 0.7  # between machines, in rows
COLORS = ListedColormap(matplotlib.colormaps["viridis"](range(0, 240)))


@dataclass
class Track:
    machine: str
    name: str
    order: int
    events: List = field(default_factory=list)  # (lane, start, end, layer), in ms

    def lanes(self):
        return min(MOST_LANES, 1 + max(event[0] for event in self.events))

    def height(self):
        return 1 + (self.lanes() - 1) / 5

    def busy(self):
        return sum(end - start for _, start, end, _ in self.events)


def figures(found):
    """Name and maker, of every timeline."""
    drawn = set()
    for row in found.rows:
        if row.timeline and row.timeline not in drawn:
            drawn.add(row.timeline)
            name = row.timeline.rsplit("/", 1)[-1]
            yield re.sub(r"\.json$", "", name), partial(figure, found.folder / name)


def events_of(path):
    if not path.is_file():
        raise results.BadInput(f"{path}: there is no such file, but results.json names it")
    whole = results.parsed(path)
    events = whole.get("traceEvents") if isinstance(whole, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise results.BadInput(f"{path}: there is no list 'traceEvents'; is this a file that weir run wrote?")
    return events


def read(path):
    """The tracks of the first iteration, and how many layers there are."""
    machines, names, tracks, layers = {}, {}, {}, {}
    try:
        events = events_of(path)
        for event in events:
            if event.get("name") == "process_name":
                machines[event["pid"]] = event["args"]["name"]
            elif event.get("name") == "thread_name":
                names[event["pid"], event["tid"]] = event["args"]["name"]
        for event in events:
            if event["ph"] != "X" or event["args"]["iteration"] != 0:
                continue
            name, lane = re.fullmatch(r"(.*?)(?: \((\d+)\))?", names[event["pid"], event["tid"]]).groups()
            if name == "compute":
                name = event["cat"]
            layer = event["args"]["layer"]
            layers[layer] = min(layers.get(layer, event["args"]["priority"]), event["args"]["priority"])
            order = event["tid"] - (int(lane) - 1 if lane else 0)
            track = tracks.setdefault((event["pid"], name), Track(machines[event["pid"]], name, order))
            start = event["ts"] / 1e3
            track.events.append((int(lane or 1) - 1, start, start + event["dur"] / 1e3, layer))
    except (KeyError, TypeError, ValueError) as error:
        raise results.BadInput(f"{path}: an event cannot be read: {error!r}") from None
    if not tracks:
        raise results.BadInput(f"{path}: there are no events, so nothing to draw")
    ranks = {layer: i for i, layer in enumerate(sorted(layers, key=lambda layer: (layers[layer], layer)))}
    for track in tracks.values():
        track.events = [(lane, start, end, ranks[layer]) for lane, start, end, layer in track.events]
    order = sorted(tracks, key=lambda key: (key[0], tracks[key].order, key[1]))
    return [tracks[key] for key in order], len(ranks)


def shown(tracks):
    """The first machine of each group that does anything, and of its tracks the busiest."""
    groups = {}
    for track in tracks:
        groups.setdefault(re.sub(r"\[\d+\]$", "", track.machine), track.machine)
    machines = []
    for machine in list(groups.values())[:MOST_MACHINES]:
        ours = [track for track in tracks if track.machine == machine]
        kept = sorted(ours, key=lambda track: -track.busy())[:MOST_TRACKS]
        machines.append((machine, [track for track in ours if track in kept]))
    return machines


def figure(path):
    tracks, layers = read(path)
    machines = shown(tracks)
    rows = sum(track.height() for _, ours in machines for track in ours) + GAP * len(machines)
    sheet, (panel,) = style.sheet(1, 7.2, 0.9 + 0.24 * rows)
    end = max(event[2] for _, ours in machines for track in ours for event in track.events)
    boxes, colors = draw(panel, machines, end * NARROWEST)
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
        bar.outline.set_visible(False)
    return sheet


def draw(panel, machines, least):
    """Names the rows; returns the boxes of the events, none narrower than the least, and their layers."""
    top, boxes, colors, places, names = 0.0, [], [], [], []
    for machine, tracks in machines:
        panel.text(0.0, top + GAP / 2 + 0.05, f" {machine}", va="center", fontsize=8, weight="bold")
        top += GAP
        for track in tracks:
            lane_height = (track.height() - 0.2) / track.lanes()
            for lane, start, end, layer in track.events:
                upper = top + 0.1 + lane_height * (lane % MOST_LANES)
                lower = upper + 0.92 * lane_height
                end = max(end, start + least)
                boxes.append([(start, upper), (start, lower), (end, lower), (end, upper)])
                colors.append(layer)
            places.append(top + track.height() / 2)
            names.append(track.name)
            top += track.height()
            panel.axhline(top, color="#E4E4E4", linewidth=0.6)
    panel.set_yticks(places)
    panel.set_yticklabels(names)
    panel.tick_params(axis="y", length=0)
    return boxes, colors
