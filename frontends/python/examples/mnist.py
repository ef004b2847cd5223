"""Learns to read digits that it draws itself; nothing is downloaded.

    weirrun -np 2 python frontends/python/examples/mnist.py

The first example: the lines that a script for one process needs are marked with numbers.
"""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

import weir.torch as weir

GLYPHS = ["0E11191513110E", "040C040404040E", "0E11010204081F", "1F02040201110E", "02060A121F0202",
          "1F101E0101110E", "0608101E11110E", "1F010204080808", "0E11110E11110E", "0E11110F01020C"]


def glyph(digit):
    """5 x 7 points, one byte a row."""
    return torch.tensor([[byte >> 4 - column & 1 for column in range(5)]
                         for byte in bytes.fromhex(GLYPHS[digit])])


def digits(count, seed):
    """Pictures of 28 x 28 points, with a digit somewhere in noise, and the digits."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (count,), generator=generator)
    places = torch.randint(0, 8, (count, 2), generator=generator).tolist()
    pictures = 0.4 * torch.rand(count, 1, 28, 28, generator=generator)
    large = [glyph(digit).repeat_interleave(3, 0).repeat_interleave(3, 1) for digit in range(10)]
    for picture, label, (row, column) in zip(pictures, labels.tolist(), places):
        picture[0, row:row + 21, column + 2:column + 17] += 0.6 * large[label]
    return pictures, labels


class Net(nn.Module):
    """Two convolutions and two linear layers."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 10, 5)
        self.second = nn.Conv2d(10, 20, 5)
        self.third = nn.Linear(320, 50)
        self.last = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.first(x), 2))
        x = F.relu(F.max_pool2d(self.second(x), 2))
        return self.last(F.relu(self.third(x.flatten(1))))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch-size", type=int, default=64, help="of each rank")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=6000)
    parser.add_argument("--lr", type=float, default=0.03, help="with one rank")
    parser.add_argument("--no-cuda", action="store_true")
    options = parser.parse_args()

    weir.init()  # 1: take part
    cuda = not options.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda", weir.local_rank()) if cuda else torch.device("cpu")
    torch.manual_seed(1)
    pictures, labels = digits(options.pictures, seed=1)
    data = torch.utils.data.TensorDataset(pictures, labels)
    # 2: each rank learns from a part of the data
    sampler = torch.utils.data.distributed.DistributedSampler(data, num_replicas=weir.size(),
                                                              rank=weir.rank())
    loader = torch.utils.data.DataLoader(data, options.batch_size, sampler=sampler)

    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr * weir.size(), momentum=0.9)
    weir.broadcast_parameters(model.state_dict(), root_rank=0)  # 3: all begin with the same
    weir.broadcast_optimizer_state(optimizer, root_rank=0)
    # 4: ranks share gradients
    optimizer = weir.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())

    for epoch in range(options.epochs):
        model.train()
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x.to(device)), y.to(device)).backward()
            optimizer.step()
        model.eval()
        x, y = digits(1000, seed=1000 + weir.rank())
        with torch.no_grad():
            right = (model(x.to(device)).argmax(1) == y.to(device)).float().mean()
        right = weir.allreduce(right, name="right").item()  # 5: the average over all ranks
        if weir.rank() == 0:
            print(f"epoch {epoch}: {100 * right:.1f} % of new digits are read right", flush=True)


if __name__ == "__main__":
    main()
