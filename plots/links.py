"""How busy the most used links are, by strategy, at one point of the sweep."""

import re

import breakdown
import style

MOST_LINKS = 12
NUMBERS = re.compile(r"(?<=\[)\d+|(?<=[A-Za-z])\d+(?=\.|$)")  # gpu[3].nic0.out; a group may be v100


def busiest(row):
    """The most used one of each set of links that differ only in their numbers."""
    kinds = {}
    for name, use in row.links:
        kind = NUMBERS.sub("", name)
        if kind not in kinds or use > kinds[kind][1]:
            kinds[kind] = (name, use)
    return sorted(kinds.values(), key=lambda link: (-link[1], link[0]))[:MOST_LINKS]


def rows_of(found):
    """Name of the point, and for each strategy the first row there that has links."""
    name, rows = breakdown.chosen(found)
    first = {}
    for row in rows:
        if row.links:
            first.setdefault(row.strategy, row)
    return name, list(first.values())


def figures(found):
    """Name and maker, if the results at that point have links."""
    if rows_of(found)[1]:
        yield "links", lambda: figure(found)


def figure(found):
    name, rows = rows_of(found)
    most = max(len(busiest(row)) for row in rows)
    height = 0.65 + 0.22 * most
    sheet, panels = style.sheet(len(rows), 3.4 if len(rows) > 1 else 5.2, height)
    for panel, row in zip(panels, rows):
        draw(panel, busiest(row), style.look(row.strategy, found.strategies())[0])
        panel.set_title(row.strategy)
        panel.set_xlabel("")
        panel.set_ylim(most - 0.5, -0.5)
    for panel in panels[len(rows):]:
        style.blank(panel)
    sheet.supxlabel(f"Link use (%)\n{name}" if name else "Link use (%)", fontsize=9)
    return sheet


def draw(panel, bars, colors):
    """Horizontal bars of (name, use), from the top."""
    panel.barh(range(len(bars)), [100 * use for _, use in bars], 0.7, color=colors, linewidth=0)
    for place, (_, use) in enumerate(bars):
        panel.text(100 * use + 1.5, place, f"{100 * use:.3g} %", va="center", fontsize=8)
    panel.set_yticks(range(len(bars)))
    panel.set_yticklabels([name for name, _ in bars])
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(len(bars) - 0.5, -0.5)
    panel.set_xlim(0, 118)
    panel.set_xticks(range(0, 101, 25))
    panel.set_xlabel("Link use (%)")
    panel.grid(axis="y", visible=False)


def draw_condensed(panel, found):
    """One bar for each strategy: its most used link."""
    name, rows = rows_of(found)
    bars = [(f"{row.strategy}\n{busiest(row)[0][0]}", busiest(row)[0][1]) for row in rows]
    draw(panel, bars, [style.look(row.strategy, found.strategies())[0] for row in rows])
    panel.set_xlabel("Use of the most used link (%)" + (f"\n{style.wrapped(name, 4.8)}" if name else ""))
