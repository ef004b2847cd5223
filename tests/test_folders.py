"""Includes point down: a folder knows only those that stand before it, and the core knows no world.

Run as: python3 tests/test_folders.py
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["core/base", "core/document", "core/protocol", "core/cluster", "core/workload", "core/plan", "core/formats", "core/run", "core/fluid",
           "core/compare", "backends", "core/strategies", "core/experiment", "core/calibrate", "core/tune",
           "backends/real/job", "backends/real/session",
           "apps", "frontends", "benchmarks", "tests"]
WORLDS = ["simgrid", "xbt", "zmq", "hwloc", "infiniband", "nccl", "cuda", "cuda_runtime",
          "sys", "netinet", "arpa"]


def sources():
    for top in ("core", "backends", "apps", "frontends", "benchmarks"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".cc", ".cu"):
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def rank(name):
    """The place of the folder that a path starts with; -1 if the path is none of the project's."""
    return max((i for i, folder in enumerate(FOLDERS) if name.startswith(folder + "/")), default=-1)


class Folders(unittest.TestCase):
    def test_includes_point_down(self):
        count = 0
        for name, text in sources():
            for included in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
                count += 1
                with self.subTest(file=name, includes=included):
                    self.assertGreaterEqual(rank(included), 0, "paths start at the top of the repository")
                    self.assertGreaterEqual(rank(name), rank(included))
                    if name.startswith("backends/") and included.startswith("backends/"):
                        self.assertEqual(name.split("/")[1], included.split("/")[1], "no backend knows another")
        self.assertGreater(count, 100)

    def test_no_two_headers_define_types_of_one_name(self):
        # The linker takes either for both, without a word.
        where = {}
        for name, text in sources():
            if not name.endswith(".h"):
                continue
            spaces = []
            for line in text.splitlines():
                if opened := re.match(r"(?:inline )?namespace ?([\w:]*) \{$", line):
                    spaces.append(opened[1])
                elif line.startswith("}  // namespace"):
                    spaces.pop()
                elif defined := re.match(r"(?:struct|class) (\w+)(?: final)?(?: :.*)? \{", line):
                    where.setdefault("::".join([*spaces, defined[1]]), set()).add(name)
        self.assertGreater(len(where), 100)
        self.assertEqual({kind: names for kind, names in where.items() if len(names) > 1}, {})

    def test_the_core_knows_no_world(self):
        for name, text in sources():
            if not name.startswith("core/"):
                continue
            for included in re.findall(r"^#include <([^>]+)>", text, re.MULTILINE):
                with self.subTest(file=name, includes=included):
                    self.assertNotIn(re.split(r"[/.]", included)[0], WORLDS)


if __name__ == "__main__":
    unittest.main()
