"""One tensor of 1 GiB, whose elements show rank and place."""

import torch

import weir.torch as weir

ELEMENTS = 1 << 28
BLOCK = 1 << 20  # elements that are checked at a time

weir.init()
rank, ranks = weir.rank(), weir.size()
tensor = torch.arange(ELEMENTS, dtype=torch.int32).remainder_(65_521).add_(rank)
weir.push_pull_inplace(tensor, average=False, name="large")
for begin in range(0, ELEMENTS, BLOCK):
    expected = torch.arange(begin, begin + BLOCK, dtype=torch.int32).remainder_(65_521)
    expected.mul_(ranks).add_(ranks * (ranks - 1) // 2)
    assert torch.equal(tensor[begin:begin + BLOCK], expected), begin
print("all done", flush=True)
weir.shutdown()
