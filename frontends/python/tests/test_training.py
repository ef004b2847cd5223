"""Training on several ranks equals training on one with all ranks' data, whatever the way."""

import re
import sys
from pathlib import Path

import job
import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parent / "workers"))
import lessons

TOLERANCE = {torch.float64: 1e-11, torch.float32: 1e-5, torch.bfloat16: 0.1}
COMPRESSED = 0.02

# The rows of the table of strategies: whether each can train.
ROWS = (Path(__file__).resolve().parents[3] / "core" / "strategies").glob("*.cc")
STRATEGIES = {
    row[1]: ".cannot_train" not in row[0] for path in sorted(ROWS)
    for row in re.finditer(r"""\.name = "([^"]+)".*?};""", path.read_text(), re.DOTALL)
}


@pytest.fixture(scope="module", name="alone")
def trained_alone():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield {way: lessons.train(way, 0, 1) for way in lessons.WAYS}
    torch.set_num_threads(threads)


@pytest.mark.parametrize("ranks, servers", [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (4, 0), (4, 1),
                                            (4, 2)])
def test_training_is_equal_to_training_alone(alone, tmp_path, ranks, servers):
    job.passed(job.weirrun("training.py", tmp_path, ranks=ranks, servers=servers, timeout=90))
    check_equal(alone, tmp_path, ranks, lessons.WAYS)


@pytest.mark.parametrize("strategy", [name for name, trains in STRATEGIES.items() if trains])
def test_every_strategy_trains_unless_its_row_says_why_not(alone, tmp_path, strategy):
    ways = ["sgd", "half", "cross-adam", "ddp"]
    job.passed(
        job.weirrun("training.py", tmp_path, *ways, ranks=4, servers=2, timeout=90, WEIR_STRATEGY=strategy))
    check_equal(alone, tmp_path, 4, ways)


@pytest.mark.parametrize("strategy", [name for name, trains in STRATEGIES.items() if not trains])
def test_strategies_that_cannot_train_say_why(tmp_path, strategy):
    done = job.weirrun("training.py", tmp_path, "sgd", ranks=2, WEIR_STRATEGY=strategy)
    assert done.returncode != 0
    assert f"strategy: '{strategy}' cannot train: " in done.stderr


def check_equal(alone, tmp_path, ranks, ways):
    for way in ways:
        _, dtype, how = lessons.WAYS[way]
        first = torch.load(tmp_path / f"{way}.0.pt")
        assert set(first) == set(alone[way])
        for name, expected in alone[way].items():
            allowed = COMPRESSED if how == "fp16" else TOLERANCE[dtype]
            error = (first[name] - expected).abs().max().item()
            assert error <= allowed, (way, name, error)
            for rank in range(1, ranks):
                other = torch.load(tmp_path / f"{way}.{rank}.pt")
                assert torch.equal(first[name], other[name]), (way, name, rank)


def test_models_learn():
    # Else equality would say little.
    trained = lessons.train("sgd", 0, 1)
    torch.manual_seed(5)
    start = lessons.Model().double().state_dict()
    moved = [name for name in start if not torch.equal(start[name], trained[name])]
    assert set(start) - set(moved) == {"frozen"}  # weight decay moves even what has no gradient


@pytest.mark.parametrize("kind", ["plain", "cross", "ddp", "async"])
def test_parameters_that_thaw_later_are_trained_or_refused(kind):
    done = job.passed(job.weirrun("thawed.py", kind, ranks=2, servers=1))
    assert done.stdout.count("all done") == 2
