"""Buckets of gradients: what leaves when, whatever the order in which gradients come."""

import itertools

import job
import pytest

torch = pytest.importorskip("torch")

from weir.errors import InvalidError, StateError  # noqa: E402
from weir.torch import _buckets  # noqa: E402

MEBIBYTE = 1 << 20


class Done:
    """A work that is done at once."""

    def wait(self):
        return True

    def is_completed(self):
        return True


class Doubling:
    """Stands for NCCL among two ranks that hand over the same, and remembers the calls."""

    spans = False

    def __init__(self):
        self.calls = []

    def prepare(self, model):
        assert model == 7 and not self.calls

    def sum(self, model, tensors, average):
        self.calls.append((model, [int(tensor.flatten()[0]) for tensor in tensors]))
        for tensor in tensors:
            tensor.mul_(1 if average else 2)
        return [Done()]


class Alone:
    """A session of one rank."""

    rank = 0

    def exchange(self, label, numbers):
        return [list(numbers)]


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.setattr(_buckets, "session", Alone)


def buckets_of(nccl, sizes, dtypes=None, average=False):
    buckets = _buckets.Buckets(nccl, 7, average, "")
    dtypes = dtypes or [torch.float32] * len(sizes)
    buckets.add([_buckets.Member(key, str(key), dtype, size // torch.empty((), dtype=dtype).element_size())
                       for key, (size, dtype) in enumerate(zip(sizes, dtypes))])
    return buckets


def test_buckets_leave_in_one_order_whatever_the_order_in_which_gradients_come():
    sizes = [MEBIBYTE, 10 * MEBIBYTE, 20 * MEBIBYTE, MEBIBYTE]
    for order in itertools.permutations(range(4)):
        nccl = Doubling()
        buckets = buckets_of(nccl, sizes)
        for _ in range(2):
            shares = {key: buckets.begin(key, torch.full((3,), float(key))) for key in order}
            assert [share.wait()[0].item() for _, share in sorted(shares.items())] == [0, 2, 4, 6]
        assert nccl.calls == [(7, [0]), (7, [1, 2]), (7, [3])] * 2, order


def test_a_bucket_has_one_dtype_and_dtypes_that_take_turns_do_not_cut_it():
    nccl = Doubling()
    buckets = buckets_of(nccl, [MEBIBYTE, 4, 4, 4, 4],
                         [torch.float32, torch.float16, torch.float32, torch.float16, torch.float32])
    for key in range(5):
        dtype = torch.float16 if key % 2 else torch.float32
        buckets.begin(key, torch.full((1,), float(key), dtype=dtype))
    assert nccl.calls == [(7, [0]), (7, [1, 3]), (7, [2, 4])]


def test_a_gradient_is_not_waited_for_before_all_are_there():
    nccl = Doubling()
    buckets = buckets_of(nccl, [MEBIBYTE, 4, 4])
    share = buckets.begin(0, torch.ones(1))
    buckets.begin(1, torch.ones(1))
    assert not share.done()
    with pytest.raises(StateError, match="before all gradients of its model are ready"):
        share.wait()
    buckets.begin(2, torch.ones(1))
    assert share.done() and share.wait().item() == 2


def test_gradients_that_are_added_later_leave_last():
    nccl = Doubling()
    buckets = buckets_of(nccl, [4, 4])
    buckets.add([_buckets.Member("new", "new", torch.float32, 1)])
    assert "new" in buckets and "other" not in buckets
    for key in ("new", 1, 0):
        buckets.begin(key, torch.full((1,), 9.0 if key == "new" else float(key)))
    assert nccl.calls == [(7, [0, 1]), (7, [9])]


class Recorded:
    """A way that remembers what is asked of it."""

    def __init__(self, number, calls):
        self.number = number
        self.calls = calls

    def begin(self, tensors):
        self.calls.append(("begin", self.number))

    def finish(self):
        self.calls.append(("finish", self.number))

    def done(self):
        return True


def test_buckets_come_back_in_reverse_and_before_any_leaves_again():
    nccl = Doubling()
    buckets = buckets_of(nccl, [MEBIBYTE, 30 * MEBIBYTE, MEBIBYTE])
    calls = []
    for number, bucket in enumerate(buckets._buckets):
        bucket.way = Recorded(number, calls)
    leave = [("begin", 0), ("begin", 1), ("begin", 2)]
    come = [("finish", 2), ("finish", 1), ("finish", 0)]
    first = [buckets.begin(key, torch.ones(1)) for key in range(3)]
    first[1].wait()
    first[2].wait()
    assert calls == leave + come[:2]
    second = [buckets.begin(key, torch.ones(1)) for key in (2, 1)]
    assert calls == leave + come[:2]
    assert not second[0].done() and first[2].done()
    buckets.begin(0, torch.ones(1))  # of which nobody has waited for the round before
    assert calls == leave + come + leave
    first[0].wait()  # it has come back with the round before: nothing is left to do
    assert calls == leave + come + leave
    second[1].wait()
    assert calls == leave + come + leave + come[:2]


@pytest.mark.parametrize("ranks, servers", [(4, 0), (4, 1), (6, 2)])
def test_shares_of_hosts_are_summed_over_hosts(ranks, servers):
    done = job.passed(job.weirrun("hosts.py", ranks=ranks, servers=servers, timeout=90))
    assert done.stdout.count("all done") == ranks


def test_ranks_with_different_parameters_are_refused(monkeypatch):
    class Other(Alone):
        def exchange(self, label, numbers):
            return [list(numbers), [numbers[0] + 1]]

    monkeypatch.setattr(_buckets, "session", Other)
    with pytest.raises(InvalidError, match="differ between rank 1 and rank 0"):
        buckets_of(Doubling(), [4, 4])
