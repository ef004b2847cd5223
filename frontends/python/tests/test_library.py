"""The binding: which library is taken, and what failures become. What needs no library goes without."""

import re
import subprocess
import sys
from pathlib import Path

import job
import pytest

import weir
from weir import _library, dtypes, frontend, rendezvous

TREE = Path(__file__).resolve().parents[3]
HEADER = TREE / "frontends" / "c" / "weir.h"
SETTINGS = TREE / "backends" / "real" / "session"


def refused(**environment):
    """The output of a process that asks for the library."""
    text = "import weir._library as l\ntry: l.library()\nexcept ImportError as why: print(why)"
    done = job.passed(job.run([sys.executable, "-c", text], 20, **environment))
    assert done.stdout, "no library was refused"
    return done.stdout


def test_a_missing_library_is_reported_with_the_remedy():
    output = refused(WEIR_LIBRARY="/nowhere/libweir.so")
    assert "no library of Weir at /nowhere/libweir.so" in output and "pip install" in output


def test_a_file_that_is_not_a_library_is_refused():
    assert "is not a usable library of Weir" in refused(WEIR_LIBRARY=__file__)


def test_another_library_is_refused():
    import ctypes.util
    name = ctypes.util.find_library("m")
    path = next(path for folder in ("/lib", "/usr/lib") for path in Path(folder).rglob(name))
    assert "is not a usable library of Weir" in refused(WEIR_LIBRARY=str(path))


def test_a_library_of_another_abi_is_refused(tmp_path):
    stubs = [f"void {name}(void) {{}}" for name in _library._FUNCTIONS if name != "weir_abi_version"]
    source = tmp_path / "other.c"
    source.write_text("\n".join([*stubs, "int weir_abi_version(void) { return 99; }"]))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "other.so", source], check=True)
    output = refused(WEIR_LIBRARY=str(tmp_path / "other.so"))
    assert f"has version 99 of Weir's ABI, and this package needs {_library.ABI_VERSION}" in output


def test_the_binding_is_the_headers():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    functions = dict(re.findall(r"WEIR_API [\w ]+[ *]+(weir_\w+)\(([^)]*)\)", text))
    assert set(functions) == set(_library._FUNCTIONS)
    for name, parameters in functions.items():
        count = 0 if parameters == "void" else parameters.count(",") + 1
        assert len(_library._FUNCTIONS[name][1]) == count, name
    assert int(re.search(r"WEIR_ABI_VERSION (\d+)", text)[1]) == _library.ABI_VERSION
    assert int(re.search(r"WEIR_KEPT = (\d+)", text)[1]) == _library.KEPT
    enumeration = re.search(r"typedef enum weir_status \{(.*?)\}", text, re.DOTALL)[1]
    statuses = {
        name: int(value) for name, value in re.findall(r"WEIR_([A-Z]+) = (\d)", enumeration) if name != "OK"
    }
    assert len(statuses) == 6 and set(statuses.values()) == set(_library.ERRORS)
    found = {name: int(value) for name, value in re.findall(r"WEIR_([A-Z]+\d\d) = (\d)", text)}
    assert found == {dtype.name: dtype.value for dtype in dtypes.Dtype}
    fields = re.search(r"typedef struct weir_tensor \{(.*?)\}", text, re.DOTALL)[1]
    assert re.findall(r"(\w+);", fields) == [name for name, _ in _library._Tensor._fields_]


def test_ranks_meet_by_the_librarys_settings():
    text = (SETTINGS / "settings.cc").read_text()
    variables = {setting: tuple(re.findall(r'"(\w+)"', names))
                 for setting, names in re.findall(r'Source\{"(\w+)", \{([^}]*)\}\}', text)}
    assert rendezvous.RANK == variables["rank"]
    assert rendezvous.SIZE == variables["size"]
    assert rendezvous.LOCAL_SIZE == variables["local_size"]
    used = set(re.findall(r'"(WEIR_\w+)"', Path(rendezvous.__file__).read_text()))
    assert {"WEIR_SECRET", "WEIR_PATIENCE"} <= used
    assert used <= {name for names in variables.values() for name in names}
    patience = re.search(r"double patience = (\d+);", (SETTINGS / "settings.h").read_text())[1]
    assert rendezvous.PATIENCE == float(patience)
    explained = HEADER.read_text()
    assert re.search(rf"^ \*   patience .*\({patience}\)$", explained, re.MULTILINE)
    for setting, names in variables.items():
        line = rf"^ \*   {setting} +{', '.join(names)}\b"
        assert setting == "server" or re.search(line, explained, re.MULTILINE), setting


def test_failures_are_errors_of_their_kind():
    assert issubclass(weir.InvalidError, ValueError)
    assert issubclass(weir.TimeoutError, TimeoutError)
    for kind in _library.ERRORS.values():
        assert issubclass(kind, weir.Error)


def test_ranks_of_a_tensor_are_those_of_the_session():
    done = job.run([sys.executable, "-c", """
from weir._library import library
from weir.dtypes import Dtype
from weir.memory import Declaration
from weir.errors import InvalidError
c = library()
c.init({})
one = [Declaration("x", 10, Dtype.F32, 0)]
for ranks, why in (([], "there are none"), ([1], "expected 0 to 0"), ([0, 0], "different ones")):
    try:
        c.declare(one, ranks)
    except InvalidError as error:
        assert why in str(error), error
    else:
        raise AssertionError(ranks)
c.declare(one, [0])
c.shutdown()
"""], 20)
    job.passed(done)


def test_a_fork_of_a_rank_is_not_a_rank():
    done = job.run([sys.executable, "-c", """
import os
from weir._library import library
from weir.errors import StateError
c = library()
c.init({})
child = os.fork()
if child == 0:
    try:
        c.barrier()
    except StateError as error:
        assert "fork" in str(error), error
        os._exit(7)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
c.barrier()
c.shutdown()
"""], 20)
    job.passed(done)


def test_without_a_session_calls_say_what_to_do():
    torch = pytest.importorskip("torch")
    import weir.torch as bps
    for call in (bps.rank, bps.size, bps.barrier, lambda: bps.push_pull(torch.ones(1)), bps.suspend,
                 lambda: bps.DistributedOptimizer(torch.optim.SGD([torch.ones(1)], lr=1))):
        with pytest.raises(weir.StateError, match=r"call init\(\) first"):
            call()
    with pytest.raises(weir.StateError, match="not suspended"):
        bps.resume(1, 0)
    with pytest.raises(weir.InvalidError):
        bps.init(comm=[0, 1])
    assert not bps.is_initialized()


def test_several_ranks_that_cannot_find_each_other_fail_with_a_remedy(monkeypatch):
    none = frontend.Frontend()
    for name in [*rendezvous.RANK, *rendezvous.SIZE, "WEIR_SECRET", "MASTER_ADDR", "MASTER_PORT"]:
        monkeypatch.delenv(name, raising=False)
    assert rendezvous.complete({"patience": 3}, none) == {"patience": 3}
    monkeypatch.setenv("SLURM_NTASKS", "4")
    with pytest.raises(weir.InvalidError, match="weirrun or torchrun"):
        rendezvous.complete({}, none)
    monkeypatch.setenv("SLURM_NTASKS", "four")
    with pytest.raises(weir.InvalidError, match="size: 'four' is not a whole number"):
        rendezvous.complete({}, none)
    monkeypatch.setenv("SLURM_NTASKS", "4")
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    monkeypatch.setenv("MASTER_PORT", "29500")
    with pytest.raises(weir.InvalidError, match="has no store for MASTER_ADDR"):
        rendezvous.complete({}, none)
