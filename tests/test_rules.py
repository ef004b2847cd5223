"""The rules of the house, which reviews need not check: rooms, layers, sizes, and facts that stand in one
place.

Prints the folder graph and the largest of everything. Run as: python3 tests/test_rules.py
"""

import ast
import collections
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = (".h", ".cc", ".cu")
TOPS = ("core", "studies", "backends", "apps", "frontends", "benchmarks")
WORLDS = ("simgrid", "xbt", "zmq", "hwloc", "infiniband", "nccl", "cuda",
          "cuda_runtime", "sys", "netinet", "arpa")

# A room is a folder. Each rank may include those above it and, within the rank, what makes no circle.
RANKS = ("core/", "backends/", "studies/", "apps/ frontends/ benchmarks/")
ROOM_FILES = 32
FILE_LINES = 400
FUNCTION_LINES = 60
CODE_COLUMNS = 110
PROSE_COLUMNS = 120

# Exceptions to a rule, each with its reason.
LONG_FILES = {}
LONG_FUNCTIONS = {
    "core/experiment/experiment_fields.h: option_fields": "a list, a line for each option",
}
NAMED = {  # strategies' names outside of their rows
    "benchmarks/bert_large.h": ("unified", "a benchmark measures one plan"),
    "benchmarks/core_overhead.cc": ("unified", "a benchmark measures one plan"),
    "benchmarks/folding.cc": ("flat-ring", "a benchmark measures one plan"),
    "core/experiment/experiment_fields.h": ("bytescheduler ddp horovod", "what options are for, in schemas"),
    "core/strategies/blocks/options.h": ("hierarchical", "a value of the option `collective`"),
    "experiments/calibration/calibrate.py": ("double-tree", "runs of its earlier plans are left out"),
    "experiments/peers/gloo_allreduce.cc": ("ring", "an algorithm of Gloo"),
    "experiments/peers/measure.py": ("ring", "the subject of the experiment"),
    "experiments/pytorch/measure.py": ("ddp", "PyTorch's own, which the experiment compares with"),
    "experiments/pytorch/train.py": ("ddp", "PyTorch's own, which the experiment compares with"),
    "experiments/tuning/measure.py": ("bytescheduler ps", "the subjects of the experiment"),
    "frontends/python/weir/torch/_session.py": ("ps", "an example in a docstring"),
}
# Names that are also words of the language. They count in quotes, after "strategy", or alone.
WORDS = ("hierarchical", "ring", "unified")
EXAMPLE = re.compile(r" +weir ")  # a command in help; examples must name something
GENERATED_PAGES = {"docs/reproduction.md": "`weir run --page` writes its tables and the lines between them"}
ENVIRONMENT = {
    "apps/weir/": "the command line",
    "frontends/c/weir.cc": "the C library's entry",
}


def tracked():
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files",
                             "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:  # an archive without its history
        names = [p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*")
                 if not {"build", ".git", "results"} & set(p.relative_to(ROOT).parts)]
    return sorted(name for name in names if (ROOT / name).is_file())


FILES = tracked()


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def sources(suffixes=CODE, tops=TOPS):
    return [name for name in FILES if name.endswith(suffixes) and name.split("/")[0] in tops]


def room(name):
    return name.rsplit("/", 1)[0]


def rank(name):
    return next(i for i, tops in enumerate(RANKS) if name.startswith(tuple(tops.split())))


def includes(name):
    return re.findall(r'^#include "([^"]+)"', read(name), re.MULTILINE)


def graph():
    edges = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in sources():
        for included in includes(name):
            if room(included) != room(name):
                edges[room(name)][room(included)].append(f"{name} includes {included}")
    return edges


def circle(edges):
    """The rooms of one circle, in order; empty if there is none."""
    state, path = {}, []

    def visit(here):
        state[here] = "open"
        path.append(here)
        for there in sorted(edges.get(here, ())):
            if state.get(there) == "open":
                return path[path.index(there):] + [there]
            if there not in state:
                if found := visit(there):
                    return found
        path.pop()
        state[here] = "done"
        return []

    for start in sorted(edges):
        if start not in state:
            if found := visit(start):
                return found
    return []


RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
HERE_DOCUMENT = re.compile(r"<<'?(\w+)'?\n.*?^\1$", re.DOTALL | re.MULTILINE)
TEXT = re.compile(RAW_STRING.pattern
                  + r"""|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
                  re.DOTALL)


def lines_alone(found):
    return "\n" * found[0].count("\n")


def without_text(code):
    """The code without comments and literals, line for line."""
    return TEXT.sub(lines_alone, code)


NO_FUNCTION = re.compile(r"^\s*(?:if|for|while|switch|catch|do|else|try|"
                         r"namespace|struct|class|enum|union|return|extern)\b")


def cpp_bodies(code):
    """The functions of C++ code, as pairs of a name and its text, those within classes too."""
    code = without_text(code)
    code = re.sub(r"(?m)^\s*#(?:[^\n]*\\\n)*[^\n]*", lambda found: re.sub(r"[^\n]", " ", found[0]), code)
    scopes, start = [], 0
    for at, char in enumerate(code):
        if char in ";}":
            if char == "}" and scopes:
                kind, name, opened = scopes.pop()
                if kind == "function":
                    yield name, code[opened:at]
            start = at + 1
        elif char == "{":
            head = code[start:at]
            inside = any(kind == "function" for kind, _, _ in scopes)
            named = re.search(r"([~\w:]+|operator\W{1,3})\s*\(", head)
            is_function = (not inside and named and not NO_FUNCTION.match(head)
                           and "=" not in head.split("(")[0])
            first = at - len(head.lstrip())
            scopes.append(("function" if is_function else "other", named[1] if named else "", first))
            start = at + 1


def cpp_functions(code):
    for name, text in cpp_bodies(code):
        yield name, text.count("\n") + 1


LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def cpp_literals(code):
    """The contents of the string literals; raw strings hold data, and comments say what they like."""
    kept = TEXT.sub(lambda found: found[0] if found[0].startswith('"') else lines_alone(found), code)
    return [found[1] for found in LITERAL.finditer(kept)]


def python_literals(code):
    return [node.value for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def python_functions(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.end_lineno - node.lineno + 1


def prose(name):
    """The numbered lines of a page that are prose: no table, no code, no link that cannot be broken."""
    fenced = False
    for number, line in enumerate(read(name).splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif (not fenced and not line.lstrip().startswith("|") and not line.startswith("    ")
              and "](" not in line):
            yield number, line


def naming(strategy):
    """Matches the strategy's name in a literal."""
    if strategy not in WORDS:
        return re.compile(rf"(?<![\w-]){strategy}(?![\w-])")
    return re.compile(rf"""^{strategy}$|['"`]{strategy}\\?['"`]|\bstrateg(?:y|ies)[ =]{strategy}(?![\w-])""")


def names_in(name, strategies):
    """How many of the file's literals name each strategy."""
    literals = (python_literals if name.endswith(".py") else cpp_literals)(read(name))
    literals = [literal for literal in literals if not EXAMPLE.match(literal)]
    counts = {strategy: sum(bool(naming(strategy).search(literal)) for literal in literals)
              for strategy in strategies}
    return {strategy: count for strategy, count in counts.items() if count}


class Rules(unittest.TestCase):
    maxDiff = None

    def test_rooms_are_small(self):
        rooms = collections.Counter(room(name) for name in sources((*CODE, ".py")))
        for name, count in rooms.most_common(5):
            print(f"room: {count} source files in {name}")
        self.assertEqual({name: count for name, count in rooms.items() if count > ROOM_FILES}, {})

    def test_rooms_are_layers_without_circles(self):
        edges = graph()
        for here in sorted(edges):
            print(f"graph: {here} -> {' '.join(sorted(edges[here]))}")
        self.assertGreater(sum(len(there) for there in edges.values()), 100)
        found = circle(edges)
        self.assertEqual(found, [], "\n".join(edges[a][b][0] for a, b in zip(found, found[1:])))

    def test_the_test_of_circles_finds_them(self):
        self.assertEqual(circle({"a": {"b": []}, "b": {"c": []}, "c": {"a": []}}), ["a", "b", "c", "a"])

    def test_includes_point_down(self):
        for name in sources():
            for included in includes(name):
                with self.subTest(file=name, includes=included):
                    self.assertIn(included, FILES, "paths start at the top of the repository")
                    self.assertGreaterEqual(rank(name), rank(included))
                    if name.startswith("backends/") and included.startswith("backends/"):
                        self.assertEqual(name.split("/")[1], included.split("/")[1],
                                         "no backend knows another")

    # Sessions plan while they run, since they learn of tensors one by one: session/session_layout.cc asks
    # core/experiment for the strategy that the settings name.
    def test_backends_know_no_strategy(self):
        for name in sources(tops=("backends",)):
            for included in includes(name):
                with self.subTest(file=name):
                    self.assertNotEqual(room(included), "core/strategies", "only plans reach a world")

    def test_strategies_are_named_in_their_rows_alone(self):
        rows = collections.defaultdict(list)
        for name in sources((".cc",)):
            if room(name) == "core/strategies":
                for strategy in re.findall(r'\.name = "([^"]+)"', read(name)):
                    rows[strategy].append(name)
        print(f"strategies: {' '.join(sorted(rows))}")
        self.assertGreater(len(rows), 10)
        self.assertEqual([strategy for strategy, files in rows.items() if len(files) > 1], [],
                         "two rows of one name")
        named = {}
        for name in sources((*CODE, ".py"), (*TOPS, "plots", "experiments")):
            if name.startswith(("frontends/python/tests/", "plots/test_")):
                continue
            if counts := names_in(name, rows):
                named[name] = counts
        own = {file: {strategy: 1 for strategy, (row,) in rows.items() if row == file}
               for (file,) in rows.values()}
        self.assertEqual({name: counts for name, counts in named.items() if name in own}, own)
        others = {name: " ".join(sorted(counts)) for name, counts in named.items() if name not in own}
        self.assertEqual(others, {name: those for name, (those, _) in NAMED.items()})

    def test_the_test_of_names_sees_them(self):
        self.assertEqual(cpp_literals('f("ring");  // "ps"\nx = R"(say "ring")" + \'"\' + "a \\"ring\\"";'),
                         ["ring", 'a \\"ring\\"'])
        self.assertEqual(python_literals("f('ring')  # 'ps'"), ["ring"])
        for literal in ("ring", "use 'ring'", 'say \\"ring\\"', "--strategy ring"):
            self.assertTrue(naming("ring").search(literal), literal)
        for literal in ("a ring of GPUs", "flat-ring", "strategies/ring.h"):
            self.assertFalse(naming("ring").search(literal), literal)
        self.assertTrue(naming("ps").search("use ps or another"))
        self.assertFalse(naming("ps").search("colocated-ps, ops"))

    def test_the_core_knows_no_world(self):
        for name in sources(tops=("core",)):
            for included in re.findall(r"^#include <([^>]+)>", read(name), re.MULTILINE):
                with self.subTest(file=name, includes=included):
                    self.assertNotIn(re.split(r"[/.]", included)[0], WORLDS)

    def test_no_two_headers_define_types_of_one_name(self):
        # The linker takes either for both, without a word.
        where = {}
        for name in sources((".h",)):
            spaces = []
            for line in read(name).splitlines():
                if opened := re.match(r"(?:inline )?namespace ?([\w:]*) \{$", line):
                    spaces.append(opened[1])
                elif line.startswith("}  // namespace"):
                    spaces.pop()
                elif defined := re.match(r"(?:struct|class) (\w+)(?: final)?(?: :.*)? \{", line):
                    where.setdefault("::".join([*spaces, defined[1]]), set()).add(name)
        self.assertGreater(len(where), 100)
        self.assertEqual({kind: names for kind, names in where.items() if len(names) > 1}, {})

    def test_files_are_short(self):
        code = [name for name in FILES if name.endswith((*CODE, ".py"))]
        lines = {name: read(name).count("\n") for name in code}
        for name in sorted(lines, key=lines.get)[-3:]:
            print(f"file: {lines[name]} lines in {name}")
        self.assertEqual({name: count for name, count in lines.items()
                          if count > FILE_LINES and name not in LONG_FILES}, {})
        self.assertEqual([name for name in LONG_FILES if lines.get(name, 0) <= FILE_LINES], [],
                         "no exceptions any more")

    def test_functions_are_short(self):
        lengths = {}
        for name in sources((*CODE, ".py"), (*TOPS, "plots")):
            functions = python_functions if name.endswith(".py") else cpp_functions
            for function, count in functions(read(name)):
                where = f"{name}: {function}"
                lengths[where] = max(count, lengths.get(where, 0))
        self.assertGreater(len(lengths), 1000)
        for where in sorted(lengths, key=lengths.get)[-3:]:
            print(f"function: {lengths[where]} lines in {where}")
        self.assertEqual({where: count for where, count in lengths.items()
                          if count > FUNCTION_LINES and where not in LONG_FUNCTIONS}, {})
        self.assertEqual([where for where in LONG_FUNCTIONS if lengths.get(where, 0) <= FUNCTION_LINES], [],
                         "no exceptions any more")

    def test_the_test_of_functions_sees_them(self):
        body = "\n".join("  f();" for _ in range(70))
        self.assertEqual(list(cpp_functions("namespace a {\nclass B {\n int c(int d) const {\n"
                                            f"{body}\n}}\n}};\n}}\n")),
                         [("c", 72)])

    def test_lines_of_code_are_narrow(self):
        # What raw strings and shell's here-documents hold is data.
        wide = [f"{name}:{number}" for name in FILES
                if name.endswith((*CODE, ".py")) or (ROOT / name).read_bytes().startswith(b"#!")
                for number, line in enumerate((RAW_STRING if name.endswith(CODE) else HERE_DOCUMENT)
                                              .sub(lines_alone, read(name)).splitlines(), 1)
                if len(line) > CODE_COLUMNS]
        self.assertEqual(wide, [])

    def test_lines_of_prose_are_narrow(self):
        wide = [f"{name}:{number}" for name in FILES if name.endswith(".md") and name not in GENERATED_PAGES
                for number, line in prose(name) if len(line) > PROSE_COLUMNS]
        self.assertEqual(wide, [])

    def test_the_environment_is_read_at_the_top_alone(self):
        for name in sources():
            if name.startswith(tuple(ENVIRONMENT)):
                continue
            with self.subTest(file=name):
                self.assertNotRegex(without_text(read(name)), r"\b(?:secure_)?getenv\b")


if __name__ == "__main__":
    unittest.main()
