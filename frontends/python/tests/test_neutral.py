"""The neutral layer: no framework is needed to import it, nor to run a job with it."""

import array
import ast
import subprocess
import sys
import textwrap

import job
import pytest

from weir import arguments, compression, dtypes, memory, names
from weir.errors import InvalidError

LAYER = job.PACKAGE / "weir"
MODULES = sorted(path.stem for path in LAYER.glob("*.py"))
FRAMEWORKS = ["torch", "tensorflow", "keras", "jax", "jaxlib", "flax", "mxnet", "numpy"]


def imported(path):
    """The modules that a file imports, with a dot before those of this package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
        elif isinstance(node, ast.ImportFrom):
            yield from ("." + (node.module or alias.name) for alias in node.names)


@pytest.mark.parametrize("module", MODULES)
def test_a_neutral_module_imports_the_standard_library_and_other_neutral_modules_alone(module):
    for name in imported(LAYER / f"{module}.py"):
        if name.startswith("."):
            assert name[1:] in MODULES, f"weir.{module} imports {name}"
        else:
            top = name.split(".")[0]
            known = top not in FRAMEWORKS and top in getattr(sys, "stdlib_module_names", [top])
            assert known, f"weir.{module} imports {name}"


def test_the_rule_finds_imports_of_frameworks(tmp_path):
    source = tmp_path / "wrong.py"
    source.write_text("import torch.nn as nn\ndef late():\n    from jax import numpy\n"
                      "from .torch import init\nfrom . import torch\n")
    assert sorted(imported(source)) == [".torch", ".torch", "jax", "torch.nn"]


def test_every_neutral_module_can_be_imported_where_no_framework_is_installed():
    text = f"import sys\nfor name in {FRAMEWORKS}: sys.modules[name] = None\n" \
        f"import importlib\nfor name in {MODULES}: print(importlib.import_module('weir.' + name).__name__)\n"
    output = job.passed(job.run([sys.executable, "-c", text], 20)).stdout
    assert output.splitlines() == [f"weir.{name}" for name in MODULES]


def test_the_neutral_layer_is_one_room():
    assert len(MODULES) <= 30


@pytest.mark.parametrize("ranks, servers", [(1, 0), (3, 0), (3, 2)])
def test_a_job_without_a_framework_sums_copies_and_keeps(ranks, servers):
    done = job.passed(job.weirrun("neutral.py", ranks=ranks, servers=servers))
    assert done.stdout.count("all done") == ranks


def test_ranks_meet_through_the_store_that_a_frontend_brings(tmp_path):
    ranks = []
    for rank in range(2):
        own = {
            "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"
        }
        command = [sys.executable, str(job.HERE / "workers" / "meeting.py"), str(tmp_path)]
        environment = job.environment(MASTER_ADDR="nowhere", MASTER_PORT="7", **own)
        ranks.append(subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      env=environment))
    try:
        for process in ranks:
            text, _ = process.communicate(timeout=60)
            assert process.returncode == 0 and "all done" in text, text
    finally:
        for process in ranks:
            process.kill()
            process.wait()


def test_memory_is_that_of_the_buffer():
    numbers = array.array("d", [1.0, 2.0])
    where = memory.of_buffer(numbers)
    assert (where.pointer, where.elements) == numbers.buffer_info()
    assert (where.dtype, where.device) == (dtypes.Dtype.F64, memory.HOST)
    with pytest.raises(BufferError):
        numbers.append(3.0)  # it would move
    assert memory.raw_of_buffer(bytearray(7), b"int8")[1:3] == (7, b"int8")
    assert memory.of_buffer(memoryview(bytearray(8)), dtypes.Dtype.BF16).elements == 4


@pytest.mark.parametrize("buffer, dtype, why", [
    (b"read only", None, "read-only"),
    (memoryview(bytearray(8))[::2], None, "gaps"),
    (bytearray(8), None, "needs a dtype"),
    (array.array("I", [1]), None, "needs a dtype"),
    (bytearray(7), dtypes.Dtype.F32, "fits its 7 bytes"),
    ([1.0], None, "bytes-like"),
])
def test_what_cannot_be_summed_in_place_is_a_type_error(buffer, dtype, why):
    with pytest.raises(TypeError, match=why):
        memory.of_buffer(buffer, dtype)


def test_types_are_found_by_name():
    assert dtypes.named("bfloat16") is dtypes.Dtype.BF16
    assert set(dtypes.NAMES.values()) == set(dtypes.BYTES) == set(dtypes.Dtype)
    with pytest.raises(TypeError, match="does not sum tensors of bool, only of float16, bfloat16"):
        dtypes.named("bool")


def test_names_are_the_same_tensor_or_another_name():
    assert names.prefix("Gradient", 0) == "Gradient." and names.prefix("Gradient", 2) == "Gradient2."
    assert names.of_group("g", 2) == ["g.0", "g.1"] and names.of_group(None, 2) == [None, None]
    assert names.repeated(["a", "b"]) == [] and names.repeated(["b", "a", "b", "a"]) == ["a", "b"]
    copied = names.Distinct()
    copies = [copied.name("w", kind) for kind in ((3, "f"), (3, "f"), (4, "f"), (4, "f"), (3, "f"))]
    assert copies == ["w", "w", "w#1", "w#1", "w#2"]


def test_arguments_mean_what_they_mean_in_horovod():
    assert arguments.averages(None, None) and not arguments.averages(False, None)
    assert not arguments.averages(None, arguments.Sum) and arguments.averages(None, 0)
    for wrong in (lambda: arguments.averages(True, arguments.Sum),
                  lambda: arguments.averages(None, arguments.Max), lambda: arguments.averages(None, 9),
                  lambda: arguments.all_ranks(1), lambda: arguments.check_passes(0),
                  lambda: arguments.everybody([0], None), lambda: arguments.check_predivide(2.0, False)):
        with pytest.raises(InvalidError):
            wrong()


def test_no_compression_leaves_any_object_as_it_is():
    thing = object()
    assert compression.NoneCompressor.compress(thing) == (thing, None)
    assert compression.NoneCompressor.decompress(thing, None) is thing


def test_the_smallest_frontend_of_the_guide_runs(tmp_path):
    page = (job.PACKAGE.parents[1] / "docs" / "frontends.md").read_text()
    block = page.split("python smallest.py`:\n\n")[1].split("\n\n## ")[0]
    script = tmp_path / "smallest.py"
    script.write_text(textwrap.dedent(block))
    command = [sys.executable, "-m", "weir.run", "-np", "2", sys.executable, str(script)]
    done = job.passed(job.run(command, 60))
    assert sorted(done.stdout.splitlines()) == [f"[{rank}] array('f', [2.0, 4.0, 6.0])" for rank in range(2)]
