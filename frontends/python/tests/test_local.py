"""Buckets of gradients: what leaves when, whatever the order in which gradients come. NCCL itself is in test_gpus.py."""

import itertools

import job  # noqa: F401  the path of the package
import pytest

torch = pytest.importorskip("torch")

from weir.errors import StateError  # noqa: E402
from weir.torch import _local  # noqa: E402

MEBIBYTE = 1 << 20


class Done:
    """A work that is done at once."""

    def wait(self):
        return True

    def is_completed(self):
        return True


class Doubling:
    """Stands for NCCL among two ranks that hand over the same, and remembers the calls."""

    def __init__(self):
        self.calls = []

    def sum(self, model, tensors, average):
        self.calls.append((model, [int(tensor.flatten()[0]) for tensor in tensors]))
        for tensor in tensors:
            tensor.mul_(1 if average else 2)
        return [Done()]


def buckets_of(sizes, dtypes=None, average=False):
    buckets = _local.Buckets(7, average)
    buckets.add([_local.Member(key, dtype, size)
                 for key, (size, dtype) in enumerate(zip(sizes, dtypes or [torch.float32] * len(sizes)))])
    return buckets


def test_buckets_leave_in_one_order_whatever_the_order_in_which_gradients_come():
    sizes = [MEBIBYTE, 10 * MEBIBYTE, 20 * MEBIBYTE, MEBIBYTE]
    for order in itertools.permutations(range(4)):
        nccl = Doubling()
        buckets = buckets_of(sizes)
        for _ in range(2):
            shares = {key: buckets.begin(nccl, key, torch.full((3,), float(key))) for key in order}
            assert [share.wait()[0].item() for _, share in sorted(shares.items())] == [0, 2, 4, 6]
        assert nccl.calls == [(7, [0]), (7, [1, 2]), (7, [3])] * 2, order


def test_a_bucket_has_one_dtype_and_dtypes_that_take_turns_do_not_cut_it():
    nccl = Doubling()
    buckets = buckets_of([MEBIBYTE, 1, 1, 1, 1], [torch.float32, torch.float16, torch.float32, torch.float16, torch.float32])
    for key in range(5):
        dtype = torch.float16 if key % 2 else torch.float32
        buckets.begin(nccl, key, torch.full((1,), float(key), dtype=dtype))
    assert nccl.calls == [(7, [0]), (7, [1, 3]), (7, [2, 4])]


def test_a_gradient_whose_bucket_is_not_whole_is_not_waited_for():
    nccl = Doubling()
    buckets = buckets_of([1, 1])
    share = buckets.begin(nccl, 0, torch.ones(1))
    assert not share.done()
    with pytest.raises(StateError, match="before all of its bucket are there"):
        share.wait()
    buckets.begin(nccl, 1, torch.ones(1))
    assert share.done() and share.wait().item() == 2


def test_gradients_that_are_added_later_leave_last():
    nccl = Doubling()
    buckets = buckets_of([1, 1])
    buckets.add([_local.Member("new", torch.float32, 1)])
    assert "new" in buckets and "other" not in buckets
    for key in ("new", 1, 0):
        buckets.begin(nccl, key, torch.full((1,), 9.0 if key == "new" else float(key)))
    assert nccl.calls == [(7, [0, 1]), (7, [9])]


def test_a_gpu_is_known_by_what_makes_it_visible(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: object())
    for visible, index, known in (("0", 0, "0"), ("0,1", 1, "1"), ("3, 5", 1, "5"), ("", 2, "2")):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert _local._gpu(torch.device("cuda", index)) == known


@pytest.mark.parametrize("choice, size, local_size, servers", [
    ("none", 2, 2, 0), ("auto", 1, 1, 0), ("auto", 4, 2, 0), ("auto", 2, 2, 1)])
def test_nccl_is_for_ranks_of_one_host_without_cpu_machines(choice, size, local_size, servers):
    def nobody(_):
        raise AssertionError("there is nothing to share")
    assert _local.meet(choice, 0, size, local_size, servers, 1.0, torch.device("cuda", 0), nobody) is None


def test_a_choice_that_is_none_is_refused(monkeypatch):
    assert _local.chosen({"local": "none"}) == "none"
    monkeypatch.setenv("WEIR_LOCAL", "nvlink")
    with pytest.raises(ValueError, match="'nvlink' is none of auto, nccl, none"):
        _local.chosen({})
