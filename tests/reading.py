"""Reads the tree for the tests of its rules: files, includes, functions, literals."""

import ast
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = (".h", ".cc", ".cu")
TOPS = ("core", "studies", "backends", "apps", "frontends", "benchmarks")


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


def lines_alone(found):
    return "\n" * found[0].count("\n")


RAW_STRING = re.compile(r'R"([^()\\\s]{0,16})\((.*?)\)\1"', re.DOTALL)
HERE_DOCUMENT = re.compile(r"<<'?(\w+)'?\n.*?^\1$", re.DOTALL | re.MULTILINE)
TEXT = re.compile(RAW_STRING.pattern
                  + r"""|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
                  re.DOTALL)


def without_text(code):
    """The code without comments and literals, line for line."""
    return TEXT.sub(lines_alone, code)


INCLUDE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*include(?:_next)?\b[ \t]*(.*?)[ \t]*$", re.MULTILINE)


def includes(code):
    """What the code includes, as pairs: whether it is ours, and the path. A macro's name counts as ours."""
    code = TEXT.sub(lambda found: found[0] if found[0].startswith(('"', "'")) else lines_alone(found),
                    code.replace("\\\n", ""))
    for what in INCLUDE.findall(code):
        path = what.strip('<>"')
        yield what[:1] != "<" or path.split("/")[0] in (*TOPS, "tests", "experiments", ".", ".."), path


NO_FUNCTION = re.compile(r"^(?:if|for|while|switch|catch|do|else|try|"
                         r"namespace|struct|class|enum|union|return|extern\s*$)\b")
LAMBDA = re.compile(r"(?:^|[=(,?:]|\breturn\b)\s*\[(?!\[)[^\[\]]*\]\s*"
                    r"(?:<[^{}]*>\s*)?(?:\([^{}]*\)[^{}]*)?$")
NAME = re.compile(r"([\w:]*\boperator\s*(?:\(\)|[^\s\w()]{1,3})|[~\w:]+)\s*(?:<[^()]*>\s*)?\(")


def without_template(head):
    """A declaration without the lists of template parameters before it, and without `extern`."""
    head = head.strip()
    while opened := re.match(r"template\s*<", head):
        depth = 1
        for at in range(opened.end(), len(head)):
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            if depth == 0:
                break
        head = head[at + 1:].strip() if depth == 0 else ""
    return re.sub(r"^extern\s+(?=\S)", "", head)


def function_of(head):
    """The name of the function or lambda whose body follows the text; None if another thing does."""
    head = without_template(head)
    if LAMBDA.search(head):
        assigned = re.search(r"(\w+)\s*=", head)
        return assigned[1] if assigned else "lambda"
    named = NAME.search(head)
    if (named and not NO_FUNCTION.match(head) and "=" not in head[:named.start()]
            and head.count("(") == head.count(")")):
        return named[1]
    return None


def cpp_bodies(code):
    """The functions of C++ code, as pairs of a name and its text, those within classes too, and lambdas
    outside of functions."""
    code = without_text(code)
    code = re.sub(r"(?m)^\s*#(?:[^\n]*\\\n)*[^\n]*", lambda found: re.sub(r"[^\n]", " ", found[0]), code)
    # A scope: the name of a function, or None; where its text begins; where a text goes on that it is within.
    scopes, start, last = [], 0, None  # last: the function that the last of ; { } has closed
    for at, char in enumerate(code):
        if char in ";}":
            start, closed, last = at + 1, scopes.pop() if char == "}" and scopes else None, None
            if closed:
                start = closed[2] or start
            if closed and closed[0]:
                yield closed[0], code[closed[1]:at]
                last = closed
        elif char == "{":
            head = code[start:at]
            function, first = None, at - len(head.lstrip())
            if not any(name for name, _, _ in scopes):
                # After a member's braces a constructor goes on: with the next member, or its body.
                if last and re.match(r"\s*(?:,|$)", head):
                    function, first, _ = last
                else:
                    function = function_of(head)
            argument = head.count("(") > head.count(")") and not function
            scopes.append((function, first, start if argument else None))
            start, last = at + 1, None


def cpp_functions(code):
    for name, text in cpp_bodies(code):
        yield name, text.count("\n") + 1


def cpp_literals(code):
    """The contents of the string literals, raw ones too."""
    for found in TEXT.finditer(code):
        if found[0].startswith("R"):
            yield found[2]
        elif found[0].startswith('"'):
            yield found[0][1:-1]


def python_literals(code):
    return [node.value for node in ast.walk(ast.parse(code))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def python_functions(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.end_lineno - node.lineno + 1
