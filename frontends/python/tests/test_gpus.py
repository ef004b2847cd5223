"""Training with everything on GPUs; where there are none, nothing is tested here."""

import re

import job
import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


@pytest.mark.parametrize("local", ["none", "auto"])
@pytest.mark.parametrize("ranks, servers", [(1, 0), (2, 0), (2, 2)])
def test_training_on_gpus_is_as_in_one_process(ranks, servers, local):
    done = job.passed(job.weirrun("gpus.py", ranks=ranks, servers=servers, timeout=120, WEIR_LOCAL=local))
    assert done.stdout.count("all done") == ranks


def test_ranks_of_one_host_with_a_gpu_each_leave_gradients_to_nccl():
    if torch.cuda.device_count() < 2:
        pytest.skip("NCCL takes one rank a GPU, and there is one GPU")
    done = job.passed(job.weirrun("gpus_nccl.py", ranks=2, timeout=120))
    assert done.stdout.count("by NCCL") == 2
    done = job.passed(job.weirrun("gpus_nccl.py", ranks=2, timeout=120, WEIR_LOCAL="none"))
    assert done.stdout.count("by the session") == 2


@pytest.mark.parametrize("servers", [0, 2])
def test_training_on_several_hosts_of_several_gpus_is_as_in_one_process(servers):
    if torch.cuda.device_count() < 2:
        pytest.skip("NCCL takes one rank of a host a GPU, and there is one GPU")
    for script, mark in (("gpus.py", "all done"), ("gpus_nccl.py", "by NCCL")):
        done = job.passed(job.weirrun("as_hosts.py", script, ranks=4, servers=servers, timeout=150))
        assert done.stdout.count(mark) == 4


def test_ranks_of_a_host_learn_why_another_one_of_it_has_failed():
    if torch.cuda.device_count() < 2:
        pytest.skip("NCCL takes one rank of a host a GPU, and there is one GPU")
    done = job.weirrun("as_hosts.py", "gpus_lost.py", ranks=4, timeout=90)
    assert done.returncode != 0
    assert "the disk is full" in done.stdout + done.stderr
    late = [
        float(seconds) for seconds in re.findall(r"failed after ([\d.]+) s", done.stdout)
        if float(seconds) > 10
    ]
    assert not late, done.stdout + done.stderr
