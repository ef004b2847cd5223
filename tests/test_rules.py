"""The rules of the house, which reviews need not check: rooms, layers, sizes, and facts that stand in one
place.

Prints the folder graph and the largest of everything. Run as: python3 tests/test_rules.py
"""

import collections
import re
import unittest

from reading import (CODE, FILES, HERE_DOCUMENT, RAW_STRING, ROOT, TOPS, cpp_functions, cpp_literals,
                     includes, lines_alone, python_functions, python_literals, read, sources,
                     without_text)

WORLDS = ("simgrid", "xbt", "zmq", "hwloc", "infiniband", "nccl", "cuda",
          "cuda_runtime", "sys", "netinet", "arpa")

# A room is a folder. Each rank may include those above it and, within the rank, what makes no circle.
RANKS = ("core/", "backends/", "studies/", "apps/ frontends/ benchmarks/")
ROOM_FILES = 32
FILE_LINES = 400
FUNCTION_LINES = 60
CODE_COLUMNS = 110

# Exceptions to a rule, each with its reason.
LONG_FILES = {}
LONG_FUNCTIONS = {
    "tests/backends/real/lab/wiring_test.cc: TEST_CASE": "a text, a line for each command of a lab",
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
OPTIONS = {  # files of studies that name options of the command line
    "studies/calibrate/measurement_files.cc": "commands that write what it reads",
    "studies/real/real_job.cc": "the command line of nodes",
    "studies/real/real_world.cc": "the command line of nodes",
    "studies/report/report_parts.cc": "commands that repeat a run",
    "studies/run/input.cc": "settings are known by the option that gives them",
    "studies/run/kept_record.cc": "commands that keep records",
    "studies/run/simulated_world.cc": "a command that repeats a run",
    "studies/sweep/sweep_folder.cc": "a command that starts a sweep",
}
ENVIRONMENT = {  # who may touch the environment, and with which word
    "apps/weir/options/environment.cc": ("getenv", "the command line's own settings"),
    "frontends/c/weir.cc": ("getenv", "the C library's entry"),
    "studies/real/nodes.cc": ("environ", "hands it on to nodes, with a machine's own variables"),
    "studies/run/plots.cc": ("environ", "hands it on to plots"),
}


def room(name):
    return name.rsplit("/", 1)[0]


def rank(name):
    return next(i for i, tops in enumerate(RANKS) if name.startswith(tuple(tops.split())))


def own_includes(name):
    return [path for own, path in includes(read(name)) if own]


def graph():
    edges = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in sources():
        for included in own_includes(name):
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


def environment_words(code):
    return set(re.findall(r"\b(?:secure_|__secure_)?getenv\b|\b_?_?environ\b|\benvp\b", without_text(code)))


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


def names_options(code):
    return any(re.search(r"(?<![\w-])--[a-z]", text) for text in cpp_literals(code))


class Rules(unittest.TestCase):
    maxDiff = None

    def test_rooms_are_small(self):
        rooms = collections.Counter(room(name) for name in FILES if name.endswith((*CODE, ".py")))
        self.assertIn("tests/apps", rooms)
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
            for included in own_includes(name):
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
            for included in own_includes(name):
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
        code = ('f("ring");  // "ps"\nx = R"(say "ring")" + \'"\' + "a \\"ring\\"";'
                'y = R"a-b(--strategy ring\n)a-b";')
        self.assertEqual(list(cpp_literals(code)),
                         ["ring", 'say "ring"', 'a \\"ring\\"', "--strategy ring\n"])
        self.assertEqual(python_literals("f('ring')  # 'ps'"), ["ring"])
        for literal in ("ring", "use 'ring'", 'say \\"ring\\"', "--strategy ring", '{"strategies":["ring"]}'):
            self.assertTrue(naming("ring").search(literal), literal)
        for literal in ("a ring of GPUs", "flat-ring", "strategies/ring.h"):
            self.assertFalse(naming("ring").search(literal), literal)
        self.assertTrue(naming("ps").search("use ps or another"))
        self.assertFalse(naming("ps").search("colocated-ps, ops"))

    def test_the_core_knows_no_world(self):
        for name in sources(tops=("core",)):
            for _, included in includes(read(name)):
                with self.subTest(file=name, includes=included):
                    self.assertNotIn(re.split(r"[/.]", included)[0], WORLDS)

    def test_the_test_of_includes_sees_them(self):
        code = ('#include "core/a.h"\n  #  include\t"core/b.h"  // text\n#include <core/c.h>\n'
                '#include/**/"d.h"\n#include <vector>\n// #include "no.h"\nx = R"(\n#include "no.h"\n)";\n'
                "#include \\\n <../e.h>\n#include MACRO\n# include <sys/f.h>\n")
        self.assertEqual(list(includes(code)),
                         [(True, "core/a.h"), (True, "core/b.h"), (True, "core/c.h"), (True, "d.h"),
                          (False, "vector"), (True, "../e.h"), (True, "MACRO"), (False, "sys/f.h")])

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
        for name in (name for name in FILES if name.endswith((*CODE, ".py"))):
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
        body = "{\n" + "  if (a) { f([] { return 1; }); }\n" * 70 + "}"
        for head, name in {
                "namespace a {\nclass B {\n int c(int d) const": "c",
                "template <typename T = std::vector<int>, int n = 3>\nauto f(T a = {})": "f",
                "template <typename T>\n  requires(sizeof(T) == 4)\nvoid f(T)": "requires",
                "const auto f = [](int a) -> int": "f",
                "struct A {\n std::function<int(int)> f = [this] ": "f",
                "const int x = call(1, [&](int a) mutable": "x",
                "A::A(int b) : a_{b}, c_(3), d_{4}": "A::A",
                'extern "C" int f(int a)': "f",
                "bool operator==(A a, A b)": "operator==",
                "bool A::operator()(A a)": "A::operator()"}.items():
            with self.subTest(head=head):
                code = f"int before() {{}}\n{head} {body};\n"
                self.assertEqual([found for found, lines in cpp_functions(code) if lines > 60], [name])
        for head in ("int a[3] =", "enum class A", "template <typename T = int>\nstruct A", "namespace a",
                     'extern "C"', "const std::vector<int> a"):
            self.assertEqual(list(cpp_functions(f"{head} {{\n{'1, ' * 9}\n}};\n")), [], head)

    def test_lines_of_code_are_narrow(self):
        # What raw strings and shell's here-documents hold is data.
        wide = [f"{name}:{number}" for name in FILES
                if name.endswith((*CODE, ".py")) or (ROOT / name).read_bytes().startswith(b"#!")
                for number, line in enumerate((RAW_STRING if name.endswith(CODE) else HERE_DOCUMENT)
                                              .sub(lines_alone, read(name)).splitlines(), 1)
                if len(line) > CODE_COLUMNS]
        self.assertEqual(wide, [])

    def test_errors_of_studies_name_no_options(self):
        # Studies are a library; apps/weir puts options in place of settings (with_options()).
        named = {name for name in sources() if name.startswith("studies/") and names_options(read(name))}
        self.assertEqual(named, set(OPTIONS))

    def test_the_test_of_options_sees_them(self):
        self.assertTrue(names_options('failure("give --out");'))
        self.assertTrue(names_options('failure("--out: missing");'))
        self.assertFalse(names_options('failure("out: missing");  // --out\nint a = b--;'))

    def test_the_environment_is_read_at_the_top_alone(self):
        self.assertEqual({name: words for name in sources() if (words := environment_words(read(name)))},
                         {name: {word} for name, (word, _) in ENVIRONMENT.items()})

    def test_the_test_of_the_environment_sees_it(self):
        self.assertEqual(environment_words('std::getenv("A");  // environ\nsecure_getenv(b); my_environ();'),
                         {"getenv", "secure_getenv"})
        self.assertEqual(environment_words("extern char** environ; int main(int, char**, char** envp)"),
                         {"environ", "envp"})


if __name__ == "__main__":
    unittest.main()
