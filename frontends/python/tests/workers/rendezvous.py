"""Under any launcher: the ranks meet, sum, leave and meet again; with "distributed",
beside torch.distributed."""

import os
import sys

import torch

import weir.torch as weir

if __name__ == "__main__":
    if sys.argv[1:] == ["distributed"]:
        torch.distributed.init_process_group("gloo")
    for _ in range(3):
        weir.init()
        total = weir.push_pull(torch.full((1000,), float(weir.rank())), average=False)
        assert torch.equal(total, torch.full((1000,), float(sum(range(weir.size())))))
        weir.shutdown()
    if sys.argv[1:] == ["distributed"]:
        tensor = torch.ones(3)
        torch.distributed.all_reduce(tensor)
        assert tensor.tolist() == [2.0] * 3
        torch.distributed.destroy_process_group()
    assert "WEIR_SECRET" not in os.environ
    print("all done", flush=True)
