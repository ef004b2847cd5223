"""Where NCCL sums among the ranks of a host, and where not. NCCL itself is in test_gpus.py."""

import sys

import job
import pytest

torch = pytest.importorskip("torch")

from weir.errors import InvalidError  # noqa: E402
from weir.torch import _local  # noqa: E402

def test_a_gpu_is_known_by_what_makes_it_visible(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: object())
    for visible, index, known in (("0", 0, "0"), ("0,1", 1, "1"), ("3, 5", 1, "5"), ("", 2, "2")):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert _local._gpu(torch.device("cuda", index)) == _local.digest(known)


EVEN = [_local.RankFacts(0, 1, 1, rank % 2, 2, 5, rank % 2) for rank in range(4)]


def changed(ranks, rank, **fields):
    return [facts._replace(**fields) if number == rank else facts for number, facts in enumerate(ranks)]


UNFIT = {
    "WEIR_LOCAL is auto on rank 0, and none on rank 3": changed(EVEN, 3, choice=2),
    "WEIR_LOCAL is none": [facts._replace(choice=2) for facts in EVEN],
    "the PyTorch of rank 1 has no NCCL": changed(EVEN, 1, has_nccl=0),
    "not all gradients of rank 2 are on a GPU": changed(EVEN, 2, on_gpus=0),
    "hosts must have the same number of ranks each": changed(EVEN[:3], 2, local_size=1),
    "ranks of one host must have consecutive numbers": [EVEN[0], EVEN[2], EVEN[1], EVEN[3]],
    "each host has one rank": [facts._replace(local_rank=0, local_size=1) for facts in EVEN],
    "several of the ranks 2 to 3, of one host, are on the same GPU": changed(EVEN, 3, gpu=0),
}


@pytest.mark.parametrize("why", UNFIT)
def test_hosts_that_are_not_alike_go_without_nccl(why):
    ranks = UNFIT[why]
    assert why in _local._refusal(_local.Place(0, len(ranks), 0, 2, 1), ranks)


@pytest.fixture
def gpus(monkeypatch):
    """Ranks that have PyTorch with NCCL and a GPU each, whatever there is here."""
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: True)
    monkeypatch.setattr(torch.distributed, "TCPStore", Store)
    monkeypatch.setattr(_local, "_gpu", lambda device: 0)


def meet(choice, place, ranks, on_gpus=True):
    def exchange(label, numbers):
        facts = _local.RankFacts(*numbers)
        assert facts.choice == _local.CHOICES.index(choice) and facts.on_gpus == on_gpus
        return ranks
    return _local.meet(choice, place, 1.0, torch.device("cuda", 0), on_gpus, exchange)


def test_ranks_know_their_like_on_other_hosts(gpus):
    met = meet("auto", _local.Place(2, 4, 0, 2, 1), EVEN)
    assert met.spans and met.peers == [0, 2]
    met = meet("auto", _local.Place(1, 2, 1, 2, 0), EVEN[:2])
    assert not met.spans and met.peers == [1]


def test_what_does_not_fit_is_an_error_where_nccl_is_a_must(gpus):
    place = _local.Place(2, 4, 0, 2, 1)
    ranks = changed([facts._replace(choice=1) for facts in EVEN], 3, gpu=0)
    with pytest.raises(InvalidError, match="local=nccl: several of the ranks 2 to 3"):
        meet("nccl", place, ranks)
    assert meet("auto", place, changed(EVEN, 3, gpu=0)) is None


def test_cpu_machines_of_the_only_host_are_not_passed_over(gpus):
    assert meet("auto", _local.Place(0, 2, 0, 2, 1), EVEN[:2]) is None


def test_one_rank_asks_nobody(gpus):
    assert _local.meet("nccl", _local.Place(0, 1, 0, 1, 0), 1.0, torch.device("cuda", 0), True, None) is None


class Store:
    port = 5

    def __init__(self, *how, **named):
        pass

    def set_timeout(self, limit):
        pass


def test_an_unknown_choice_is_refused(monkeypatch):
    assert _local.chosen({"local": "none"}) == "none"
    monkeypatch.setenv("WEIR_LOCAL", "nvlink")
    with pytest.raises(ValueError, match="'nvlink' is not one of auto, nccl, none"):
        _local.chosen({})


class Met:
    """Stands for NCCL, and remembers how it ended."""

    ended = None

    def close(self, failed):
        self.ended = failed


class Here:
    """A session of two ranks."""

    rank, size, patience, exchange = 1, 2, 1.0, None

    class c:
        local_rank, local_size, servers = (lambda: 1), (lambda: 2), (lambda: 0)


def test_a_session_asks_once_what_sums_within_its_host_and_ends_it(monkeypatch):
    asked = []

    def answer(choice, place, *more):
        asked.append((choice, place))
        return Met()

    monkeypatch.setattr(_local, "meet", answer)
    local = _local.Local("nccl")
    gpu = torch.device("cuda", 0)
    met = local.nccl(Here, gpu, True)
    assert local.insists and local.nccl(Here, gpu, True) is met
    assert asked == [("nccl", _local.Place(1, 2, 1, 2, 0))]
    local.close(True)
    assert met.ended is True
    assert local.nccl(Here, gpu, True) is not met and len(asked) == 2
    monkeypatch.setattr(_local, "meet", lambda *how: None)
    none = _local.Local("auto")
    assert not none.insists and none.nccl(Here, gpu, True) is None
    none.close(False)


def test_pytorch_finds_its_part_in_a_session_that_another_frontend_has_begun():
    job.passed(job.run([sys.executable, "-c", """
import weir.session
from weir.torch import _session
weir.session.init()
assert not weir.session.session().parts
first = _session.local()
assert first is _session.local() and first.insists
import weir.torch as bps
bps.init()
assert _session.local() is first
bps.shutdown()
bps.init(local="none")
assert not _session.local().insists
bps.shutdown()
"""], 20, WEIR_LOCAL="nccl"))
