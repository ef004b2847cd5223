"""The rules of pages, which reviews need not check: widths, lengths, and that what they point to exists.

Run as: python3 tests/test_page_rules.py
"""

import os
import re
import unittest

from reading import FILES, read

COLUMNS = 120
DECISION_LINES = range(5, 11)
ARCHITECTURE_LINES = 72
GENERATED = {"docs/reproduction.md": "`weir run --page` writes its tables and the lines between them"}
HISTORY = ("CHANGELOG.md",)  # may name what is gone

PAGES = [name for name in FILES if name.endswith(".md")]
FOLDERS = {"/".join(name.split("/")[:depth]) for name in FILES for depth in range(name.count("/") + 1)}
PLACES = {*FILES, *FOLDERS}
FENCE = re.compile(r"^\s*```.*?^\s*```\s*$", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"""\]\(\s*<?([^()\s<>]+)>?(?:\s+"[^"]*")?\s*\)"""
                  r"""|^\s*\[[^\]]+\]:\s+(\S+)|(?:href|src)="([^"]+)\"""", re.MULTILINE)


def without(pattern, text):
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def wide_lines(page):
    """The numbers of lines of prose that are too wide: neither tables nor code, and more than one word."""
    for number, line in enumerate(without(FENCE, page).splitlines(), 1):
        if len(line) > COLUMNS and not line.lstrip().startswith("|") and not line.startswith("    "):
            if " " in re.sub(r"^[\s>*\d.-]*", "", line).strip():
                yield number


def anchors(page):
    """Those of its headings, as GitHub makes them, and its own."""
    found = {}
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", without(FENCE, page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found[anchor] = found.get(anchor, -1) + 1
    numbered = {f"{anchor}-{number}" for anchor, last in found.items() for number in range(1, last + 1)}
    return {*found, *numbered, *re.findall(r'<a (?:id|name)="([^"]+)"', page)}


def links(page):
    """Where its links lead, those to other hosts left out."""
    for found in LINK.finditer(without(CODE_SPAN, without(FENCE, page))):
        target = found[1] or found[2] or found[3]
        if not re.match(r"[a-z]+:", target):
            yield target


def broken(name, page, texts):
    """The links of a page that lead nowhere. `texts` gives the text of another page."""
    for target in links(page):
        path, _, anchor = target.partition("#")
        place = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if place not in PLACES and place != ".":
            yield target
        elif anchor and place.endswith(".md"):
            if anchor not in anchors(page if place == name else texts(place)):
                yield target


PATH = re.compile(r"(?<![\w/.{-])((?:apps|backends|benchmarks|cmake|core|deploy|docs|experiments|frontends"
                  r"|plots|schemas|scripts|studies|tests|topologies|traces)"
                  r"/[\w./-]*[a-z\d])(?![\w/*{<-]|\.[\w{])")


def missing(name, page):
    """Paths in a page's code spans that exist neither from the top of the repository nor from the page."""
    for span in CODE_SPAN.finditer(page):
        for found in PATH.finditer(span[0]):
            if found[1] not in PLACES and os.path.join(os.path.dirname(name), found[1]) not in PLACES:
                yield found[1]


def decisions(page):
    """Headings, each with the number of lines of its text."""
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        heading, *lines = part.splitlines()
        yield heading, [line for line in lines if line.strip()]


def wrong_decisions(page):
    for heading, lines in decisions(page):
        parts = re.findall(r"^- \*\*(\w+)\.\*\*", "\n".join(lines), re.MULTILINE)
        if len(lines) not in DECISION_LINES or [part for part in parts if part != "Cost"] != [
                "Decision", "Why", "Rejected", "Evidence"]:
            yield heading, len(lines), parts


class Pages(unittest.TestCase):
    maxDiff = None

    def test_lines_are_narrow(self):
        self.assertEqual([f"{name}:{number}" for name in PAGES if name not in GENERATED
                          for number in wide_lines(read(name))], [])

    def test_links_lead_somewhere(self):
        self.assertGreater(sum(len(list(links(read(name)))) for name in PAGES), 300)
        self.assertEqual([f"{name}: {target}" for name in PAGES
                          for target in broken(name, read(name), read)], [])

    def test_paths_in_pages_exist(self):
        self.assertEqual([f"{name}: {path}" for name in PAGES if name not in HISTORY
                          for path in missing(name, read(name))], [])

    def test_decisions_have_five_to_ten_lines(self):
        pages = [name for name in PAGES if re.match(r"docs/decisions/(?!README)", name)]
        self.assertGreater(sum(len(list(decisions(read(name)))) for name in pages), 150)
        self.assertEqual([(name, *wrong) for name in pages for wrong in wrong_decisions(read(name))], [])

    def test_architecture_is_one_screen(self):
        self.assertLessEqual(read("ARCHITECTURE.md").count("\n"), ARCHITECTURE_LINES)


class TheTestsThemselves(unittest.TestCase):
    def test_wide_lines_are_found(self):
        wide = "word " * 30
        page = (f"{wide}\n\n* see [this](page.md) {wide}\n\n```\n{wide}\n```\n| {wide}|\n\n"
                f"- [a](b/{'c' * 130})\n    {wide}\n")
        self.assertEqual(list(wide_lines(page)), [1, 3])

    def test_broken_links_are_found(self):
        page = ("# One `two`, three\n## A\n## A\n[1](#one-two-three) [2](#a-1) [3](#a-2) [4](README.md)\n"
                "[5](docs) [6](nowhere.md) `[7](nowhere.md)` [8](https://x.y)\n"
                "[long\ntext](README.md#nowhere)\n\n[9]: gone.md\n")
        self.assertEqual(list(broken("ARCHITECTURE.md", page, read)),
                         ["#a-2", "nowhere.md", "README.md#nowhere", "gone.md"])
        self.assertEqual(list(broken("docs/x.md", "[1](../README.md) [2](README.md)\n", read)), ["README.md"])

    def test_missing_paths_are_found(self):
        page = ("`core/plan/plan.h` `core/plan` core/no.h `python3 tests/no.py` `x/core/no.h` "
                "`core/run/port.{h,cc}`")
        self.assertEqual(list(missing("README.md", page)), ["tests/no.py"])
        self.assertEqual(list(missing("tests/README.md", "`core/run/node_test.cc` `core/no.cc`")),
                         ["core/no.cc"])

    def test_wrong_decisions_are_found(self):
        parts = [f"- **{part}.** Text." for part in ("Decision", "Why", "Rejected", "Evidence")]
        for lines, found in ((parts, True), ([*parts, "  More."], False), ([*parts, *["  More."] * 7], True),
                             ([*parts[:3], "  More.", "  More."], True)):
            page = "# Room\n\n## It is so\n\n" + "\n".join(lines) + "\n"
            self.assertEqual(bool(list(wrong_decisions(page))), found, page)


if __name__ == "__main__":
    unittest.main()
