"""Training with everything on GPUs; where there are none, nothing is tested here."""

import job
import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


@pytest.mark.parametrize("ranks, servers", [(1, 0), (2, 0), (2, 2)])
def test_training_on_gpus_is_as_in_one_process(ranks, servers):
    done = job.passed(job.weirrun("gpus.py", ranks=ranks, servers=servers, timeout=120))
    assert done.stdout.count("all done") == ranks
