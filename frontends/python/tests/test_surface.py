"""Every call of weir.torch, on one rank and several, with and without CPU machines:
workers/surface.py says what holds."""

import inspect

import job
import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("ranks, servers, strategy", [(1, 0, "unified"), (3, 1, "unified"), (2, 2, "ps")])
def test_calls_do_what_they_say(ranks, servers, strategy):
    done = job.passed(
        job.weirrun("surface.py", ranks=ranks, servers=servers, timeout=90, WEIR_STRATEGY=strategy))
    assert done.stdout.count("all done") == ranks


def test_a_tensor_of_a_gibibyte_is_summed():
    done = job.passed(job.weirrun("gibibyte.py", ranks=2, servers=1, timeout=120))
    assert done.stdout.count("all done") == 2


# What scripts of Horovod and BytePS write.
ORIGINALS = {
    "init": "lazy",
    "resume": "num_workers num_servers global_rank",
    "push_pull": "tensor average name version priority compression",
    "push_pull_inplace": "tensor average name version priority",
    "push_pull_async": "tensor average name version priority",
    "push_pull_async_inplace": "tensor average name version priority",
    "allreduce": "tensor average name compression op prescale_factor postscale_factor process_set",
    "allreduce_": "tensor average name op prescale_factor postscale_factor process_set",
    "allreduce_async": "tensor average name op prescale_factor postscale_factor process_set",
    "allreduce_async_": "tensor average name op prescale_factor postscale_factor process_set",
    "grouped_allreduce": "tensors average name compression op prescale_factor postscale_factor process_set",
    "broadcast": "tensor root_rank name process_set",
    "broadcast_async_": "tensor root_rank name process_set",
    "broadcast_parameters": "params root_rank prefix",
    "broadcast_optimizer_state": "optimizer root_rank prefix",
    "broadcast_object": "obj root_rank name process_set",
    "DistributedOptimizer": "optimizer named_parameters compression backward_passes_per_step op "
                            "gradient_predivide_factor num_groups groups sparse_as_dense process_set",
    "DistributedDataParallel": "module device_ids broadcast_buffers compression",
    "CrossBarrier": "model optimizer num_steps",
    "poll": "handle",
    "synchronize": "handle",
    "declare": "name",
}


@pytest.mark.parametrize("name", ORIGINALS)
def test_the_originals_arguments_are_taken_in_their_order(name):
    import weir.torch as frontend
    taken = [parameter.name for parameter in inspect.signature(getattr(frontend, name)).parameters.values()
             if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    wanted = ORIGINALS[name].split()
    assert taken[:len(wanted)] == wanted


def test_everything_public_is_explained():
    import weir.torch as frontend
    for name in frontend.__all__:
        assert (inspect.getdoc(getattr(frontend, name)) or "").strip(), name
