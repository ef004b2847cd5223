"""Where NCCL sums among the ranks of a host, and where not. NCCL itself is in test_gpus.py."""

import job  # noqa: F401  the path of the package
import pytest

torch = pytest.importorskip("torch")

from weir.errors import InvalidError  # noqa: E402
from weir.torch import _local  # noqa: E402

GPU = torch.device("cuda", 0)


def test_a_gpu_is_known_by_what_makes_it_visible(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: object())
    for visible, index, known in (("0", 0, "0"), ("0,1", 1, "1"), ("3, 5", 1, "5"), ("", 2, "2")):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert _local._gpu(torch.device("cuda", index)) == known


@pytest.mark.parametrize("choice, size", [("none", 2), ("auto", 1), ("nccl", 1)])
def test_nobody_is_asked_where_there_is_nothing_to_agree_on(choice, size):
    def nobody(label, numbers):
        raise AssertionError("there is nothing to say")
    assert _local.meet(choice, _local.Place(0, size, 0, size, 0), 1.0, GPU, nobody) is None


EVEN = [(0, 2, 1), (1, 2, 1), (0, 2, 1), (1, 2, 1)]
UNFIT = {  # (local rank, local size, has NCCL) by rank -> why not
    "hosts must have the same number of ranks each": [(0, 2, 1), (1, 2, 1), (0, 1, 1)],
    "ranks of one host must follow each other": [(0, 2, 1), (0, 2, 1), (1, 2, 1), (1, 2, 1)],
    "each host has one rank": [(0, 1, 1), (0, 1, 1)],
    "the PyTorch of other ranks has no NCCL": [(0, 2, 1), (1, 2, 0)],
}


@pytest.mark.parametrize("why", UNFIT)
def test_hosts_that_are_not_alike_go_without_nccl(why, monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: True)
    places = UNFIT[why]
    place = _local.Place(0, len(places), *places[0][:2], 1)
    assert _local.meet("auto", place, 1.0, GPU, lambda label, numbers: places) is None
    with pytest.raises(InvalidError, match=f"local=nccl: {why}"):
        _local.meet("nccl", place, 1.0, GPU, lambda label, numbers: places)


def test_cpu_machines_of_the_only_host_are_not_passed_over(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: True)
    assert _local.meet("auto", _local.Place(0, 2, 0, 2, 1), 1.0, GPU, lambda label, numbers: EVEN[:2]) is None


class Ranks:
    """Ranks that meet one after another in this process: what each says, and what the others have said."""

    def __init__(self, places, apart=1):
        self.rows = {"places": places, "ports": [], "gpus": [(apart,)] * len(places)}

    def exchange(self, label, numbers):
        if label == "ports":
            self.rows[label] = [numbers] * len(self.rows["places"])
        return self.rows[label]


def test_ranks_of_several_hosts_know_their_like(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: True)
    monkeypatch.setattr(_local, "_gpu", lambda device: "a")
    monkeypatch.setattr(torch.distributed, "TCPStore", Store)
    ranks = Ranks(EVEN)
    met = _local.meet("auto", _local.Place(2, 4, 0, 2, 1), 1.0, GPU, ranks.exchange)
    assert met.spans and met.peers == [0, 2]
    ranks = Ranks(EVEN[:2])
    met = _local.meet("auto", _local.Place(0, 2, 0, 2, 0), 1.0, GPU, ranks.exchange)
    assert not met.spans and met.peers == [0]


def test_ranks_that_share_a_gpu_anywhere_go_without_nccl_everywhere(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: True)
    monkeypatch.setattr(_local, "_gpu", lambda device: "a")
    monkeypatch.setattr(torch.distributed, "TCPStore", Store)
    place = _local.Place(2, 4, 0, 2, 1)
    assert _local.meet("auto", place, 1.0, GPU, Ranks(EVEN, apart=0).exchange) is None
    with pytest.raises(InvalidError, match="several ranks are on the same GPU"):
        _local.meet("nccl", place, 1.0, GPU, Ranks(EVEN, apart=0).exchange)


class Store:
    """A store whose other ranks have GPU b."""

    port = 5

    def __init__(self, *how, **named):
        self.rows = {}

    def set_timeout(self, limit):
        pass

    def set(self, key, value):
        self.rows[key] = value

    def get(self, key):
        return self.rows.get(key, "b")


def test_a_choice_that_is_none_is_refused(monkeypatch):
    assert _local.chosen({"local": "none"}) == "none"
    monkeypatch.setenv("WEIR_LOCAL", "nvlink")
    with pytest.raises(ValueError, match="'nvlink' is none of auto, nccl, none"):
        _local.chosen({})
