"""Ranks that torchrun, or what sets variables as Slurm and Open MPI do, has started."""

import socket
import subprocess
import sys

import job
import pytest

torch = pytest.importorskip("torch")
SCRIPT = str(job.HERE / "workers" / "rendezvous.py")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.mark.parametrize("how", [["--standalone"], ["--master_addr=127.0.0.1"]])
@pytest.mark.parametrize("arguments", [[], ["distributed"]])
def test_torchrun_starts_ranks(how, arguments):
    if how != ["--standalone"]:
        how = [*how, f"--master_port={free_port()}"]
    # PyTorch 1.13 with Python 3.11 takes no other value of these than a list.
    output = ["--redirects=0:1,1:1", "--tee=0:1,1:1"]
    done = job.passed(job.run([sys.executable, "-m", "torch.distributed.run", *how, *output,
                               "--nproc_per_node=2", SCRIPT, *arguments], 60))
    assert done.stdout.count("all done") == 2


@pytest.mark.parametrize("variables", [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", None),
    ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
])
def test_ranks_meet_by_what_launchers_set(variables):
    port = free_port()
    ranks = []
    for rank in range(2):
        own = {name: str(value) for name, value in zip(variables, (rank, 2, rank, 2)) if name is not None}
        environment = job.environment(MASTER_ADDR="localhost", MASTER_PORT=port, **own)
        ranks.append(subprocess.Popen([sys.executable, SCRIPT], text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, env=environment))
    try:
        for process in ranks:
            text, _ = process.communicate(timeout=60)
            assert process.returncode == 0 and "all done" in text, text
    finally:
        for process in ranks:
            process.kill()
            process.wait()
