"""A new kind of op cannot be forgotten: the compiler names each place that must decide about it.

Adds a kind to a copy of core/plan/op_kind.h, and an enumerator to each enumeration that its rows answer with.
Then compiles what stands in DECIDES, which has to fail in each switch. Other rules see to it that no place
decides in another way. Run as: python3 tests/test_kinds.py [COMPILER [FOLDER_OF_HEADERS...]]
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from reading import ROOT, TOPS, cpp_bodies, read, sources, without_text
from test_rules import room

KINDS = "core/plan/op_kind.h"
ENUMS = ("OpKind", "OpFamily", "SliceUse", "Meets", "Serving")

# What the compiler must complain about, by file: the enumerations whose new enumerators a switch there lacks.
DECIDES = {
    "backends/real/compute/gpu/gpu_engine.cc": {"OpKind"},
    "backends/real/compute/host_work.cc": {"OpKind", "OpFamily"},
    "backends/real/port/port.cc": {"OpFamily"},
    "backends/real/session/application.cc": {"OpKind"},
    "core/analysis/critical_path.cc": {"OpKind", "Meets"},
    "core/analysis/loads.cc": {"OpKind"},
    "core/calibrate/uses.cc": {"OpKind"},
    "core/compare/stage.cc": {"OpKind"},
    "core/formats/goal.cc": {"Meets"},
    "core/hardware/work.cc": {"OpKind"},
    "core/plan/access.cc": {"SliceUse"},
    "core/plan/fit.cc": {"OpKind"},
    "core/plan/op_kind.h": {"OpKind"},
    "core/plan/order.cc": {"Meets"},
    "core/plan/plan.cc": {"Meets"},
    "core/plan/print.cc": {"OpKind"},
    "core/plan/structure.cc": {"OpKind"},
    "core/plan/sums.cc": {"OpKind"},
    "core/run/queue.cc": {"Serving"},
    "core/simulate/dispatcher.cc": {"Meets"},
    "core/simulate/folding.cc": {"Meets"},
    "tests/fuzz/random_order.cc": {"Meets"},
    "tests/toy/world.cc": {"OpKind"},
}

# Functions that compare with several kinds, each with its reason.
COMPARE_SEVERAL = {
    "backends/real/port/port.cc: RealPort::submit": "the two ends of a message start differently",
    "core/simulate/folding.cc: match": "a message is an edge from its send to its receive",
}
NEEDS_CUDA = "backends/real/compute/gpu/"

COMPILER = sys.argv[1] if len(sys.argv) > 1 else "c++"
FOLDERS = sys.argv[2:]


def with_new_enumerators(header):
    for enum in ENUMS:
        header, count = re.subn(rf"(enum class {enum} : std::uint8_t {{.*?)(\n}};)",
                                rf"\1\n  kNew{enum},\2", header, flags=re.DOTALL)
        assert count == 1, enum
    return header


def compiled(files, header):
    """What the compiler says about the files, joined as in the build, with this text for the header."""
    with tempfile.TemporaryDirectory() as folder:
        changed = pathlib.Path(folder, KINDS)
        changed.parent.mkdir(parents=True)
        changed.write_text(header, encoding="utf-8")
        joined = pathlib.Path(folder, "joined.cc")
        joined.write_text("".join(f'#include "{name}"\n' for name in files), encoding="utf-8")
        command = [COMPILER, "-std=c++20", "-fsyntax-only", "-Werror=switch", "-I", folder, "-I", ROOT,
                   *(word for each in FOLDERS for word in ("-isystem", each)), joined]
        done = subprocess.run(command, env={**os.environ, "LC_ALL": "C"},
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stderr.replace(folder + "/", "").replace(f"{ROOT}/", "")


def switches(code):
    """The text of each switch in C++ code."""
    for found in re.finditer(r"\bswitch \(", code):
        depth, start = 0, code.index("{", found.end())
        for at in range(start, len(code)):
            depth += {"{": 1, "}": -1}.get(code[at], 0)
            if depth == 0:
                yield code[start:at]
                break


def cpp():
    return sources((".h", ".cc", ".cu"), (*TOPS, "tests"))


CASE = re.compile(rf"\bcase (?:\w+::)*({'|'.join(ENUMS)})::")
COMPARED = re.compile(r"([!=<>]=|[<>]) OpKind::(k\w+)|OpKind::(k\w+) ([!=<>]=|[<>]) ")


def compared(code):
    """The comparisons with a kind, as pairs of an operator and the kind."""
    return [(found[1] or found[4], found[2] or found[3]) for found in COMPARED.finditer(code)]


class Kinds(unittest.TestCase):
    maxDiff = None

    def test_the_list_has_each_file_that_decides(self):
        found = {}
        for name in cpp():
            if enums := set(CASE.findall(without_text(read(name)))):
                found[name] = enums
        self.assertEqual(found, DECIDES)

    def test_the_compiler_names_each_place(self):
        rooms = {}
        for name in sorted(DECIDES):
            if FOLDERS or not name.startswith(NEEDS_CUDA):
                rooms.setdefault(room(name), []).append(name)
            else:
                print(f"kinds: {name} is left out, as no folder with CUDA's headers was given")
        header = with_new_enumerators(read(KINDS))
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            said = dict(zip(rooms, threads.map(lambda files: compiled(files, header), rooms.values())))
        for where, files in rooms.items():
            status, text = said[where]
            self.assertNotEqual(status, 0, where)
            errors = [line for line in text.splitlines() if re.search(r"\berror\b", line)]
            for name in files:
                with self.subTest(file=name):
                    lacks = {enum for enum in ENUMS for line in errors
                             if line.startswith(f"{name}:") and f"'kNew{enum}' not handled" in line}
                    self.assertEqual(lacks, DECIDES[name], text)
            other = [line for line in errors if "not handled in switch" not in line]
            self.assertEqual(other, [], "nothing else is wrong with them")

    def test_no_answer_can_be_left_out(self):
        header = read(KINDS)
        self.assertEqual(compiled([KINDS], header)[0], 0)
        for row in re.findall(r"KindTraits\{.*\}", header):
            shorter = header.replace(row, row.rsplit(",", 1)[0] + "}")
            with self.subTest(row=row):
                self.assertNotEqual(shorter, header)
        status, text = compiled([KINDS], shorter)
        self.assertNotEqual(status, 0)
        self.assertRegex(text, r"error: (?:could not convert|no matching|.*initializer)")

    def test_no_switch_over_kinds_has_a_default(self):
        count = 0
        for name in cpp():
            for switch in switches(without_text(read(name))):
                if CASE.search(switch):
                    count += 1
                    with self.subTest(file=name):
                        self.assertNotRegex(switch, r"\bdefault:")
        print(f"kinds: {count} switches decide about kinds and their answers, in {len(DECIDES)} files")
        self.assertGreaterEqual(count, len(DECIDES))

    def test_what_is_true_of_several_kinds_is_an_answer(self):
        # A comparison with one kind means that kind. A function that compares with several distinguishes
        # between them, and should use a switch or ask for an answer of their rows.
        one, several = set(), set()
        for name in sources():
            code = without_text(read(name))
            within = 0
            for function, text in cpp_bodies(code):
                found = compared(text)
                within += len(found)
                if found:
                    one.add(name)
                if len({kind for _, kind in found}) > 1:
                    several.add(f"{name}: {function}")
            with self.subTest(file=name):
                self.assertFalse({"<", ">", "<=", ">="} & {operator for operator, _ in compared(code)},
                                 "kinds have no order")
                self.assertEqual(len(compared(code)), within, "comparisons outside of functions")
        self.assertEqual(several, set(COMPARE_SEVERAL))
        print(f"kinds: {len(one)} files compare a kind with one kind that they mean: {' '.join(sorted(one))}")

    def test_the_test_of_comparisons_sees_them(self):
        self.assertEqual(compared("kind == OpKind::kSend || OpKind::kWait != kind || kind <= OpKind::kSum"),
                         [("==", "kSend"), ("!=", "kWait"), ("<=", "kSum")])
        self.assertEqual(compared("op.kind = OpKind::kSend"), [])
        code = "void f() {\n  if (k == OpKind::kSend) g();\n  if (k == OpKind::kSum) h();\n}\n"
        self.assertEqual([[kind for _, kind in compared(text)] for _, text in cpp_bodies(code)],
                         [["kSend", "kSum"]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
