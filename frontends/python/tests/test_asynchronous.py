"""Asynchronous training: what an asynchronous parameter server would come to,
and nobody waits for a slower rank."""

import signal
import sys
from pathlib import Path

import job
import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parent / "workers"))

TOLERANCE = {torch.float64: 1e-13, torch.float32: 1e-6}


def lesson(name, *arguments, ranks=2, servers=1, **more):
    done = job.passed(job.weirrun("asynchronous.py", name, *arguments, ranks=ranks, servers=servers, **more))
    assert done.stdout.count("all done") == ranks, done.stdout + done.stderr


@pytest.fixture(name="one_thread")
def with_one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("ranks, servers", [(1, 1), (2, 1), (3, 2)])
def test_pushes_and_pulls_in_one_order_give_what_a_parameter_server_would(tmp_path, ranks, servers):
    import asynchronous
    lesson("turns", tmp_path, ranks=ranks, servers=servers)
    for name in asynchronous.OPTIMIZERS:
        for dtype, passes in ((torch.float64, 1), (torch.float32, 1), (torch.float64, 2)):
            kept, workers = asynchronous.alone(name, ranks, dtype, passes)
            begin = [parameter.detach() for parameter in asynchronous.build(dtype).parameters()]
            assert not any(torch.allclose(a, b) for a, b in zip(begin, kept)), "nothing was learned"
            for rank in range(ranks):
                pulled, own = torch.load(tmp_path / f"{name}.{dtype}.{passes}.{rank}.pt")
                for expected, got in ((kept, pulled), (workers[rank], own)):
                    assert len(expected) == len(got) == 5
                    for one, other in zip(expected, got):
                        error = (one - other).abs().max().item()
                        assert error <= TOLERANCE[dtype], (name, dtype, passes, rank, error)


@pytest.mark.parametrize("ranks, servers, strategy", [(2, 1, "unified"), (3, 2, "colocated-ps")])
def test_ranks_of_different_speed_learn_and_end_with_the_same_weights(tmp_path, ranks, servers, strategy):
    lesson("free", tmp_path, ranks=ranks, servers=servers, WEIR_STRATEGY=strategy)
    first = torch.load(tmp_path / "free.0.pt")
    for rank in range(1, ranks):
        for one, other in zip(first, torch.load(tmp_path / f"free.{rank}.pt")):
            assert torch.equal(one, other)


def test_nobody_waits_for_a_slow_rank(tmp_path):
    lesson("waits", tmp_path, ranks=3)


def test_parameters_of_all_kinds_are_kept_and_begin_anew_in_another_session(tmp_path):
    lesson("kinds", tmp_path, ranks=3, servers=2)


@pytest.mark.parametrize("ranks, servers", [(1, 0), (2, 0), (2, 1)])
def test_wrong_combinations_are_refused(tmp_path, ranks, servers):
    lesson("refusals", tmp_path, ranks=ranks, servers=servers)


@pytest.mark.parametrize("name, value, what", [("WEIR_ASYNC", "1", "on"), ("BYTEPS_ENABLE_ASYNC", "1", "on"),
                                               ("BYTEPS_ENABLE_ASYNC", "0", "off"),
                                               ("WEIR_ASYNC", "maybe", "nonsense")])
def test_the_environment_may_ask_for_it(tmp_path, name, value, what):
    lesson("variable", tmp_path, what, **{name: value})


def test_a_rank_that_is_killed_is_named(tmp_path):
    done = job.weirrun("asynchronous.py", "killed", tmp_path, ranks=3, servers=2, timeout=20)
    assert done.returncode == 128 + signal.SIGKILL
    assert done.stdout.count("all done") == 2, done.stdout + done.stderr
