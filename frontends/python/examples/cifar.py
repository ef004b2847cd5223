"""Learns to recognise coloured shapes, with a small residual network under DistributedDataParallel; the
pictures are drawn, nothing is downloaded.

    weirrun -np 2 python frontends/python/examples/cifar.py
"""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

import weir.torch as weir
from weir.torch.parallel import DistributedDataParallel


def shapes(count, seed):
    """Pictures of 3 x 32 x 32 points: stripes, checks, rings, crosses and balls,
    each in warm and in cold colours."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (count,), generator=generator)
    centre = 8 + 16 * torch.rand(count, 2, 1, 1, generator=generator)
    grid = torch.arange(32.0)
    y, x = grid.view(1, 32, 1) - centre[:, 0], grid.view(1, 1, 32) - centre[:, 1]
    far = (x ** 2 + y ** 2).sqrt()
    kinds = torch.stack([(y // 3 % 2 == 0).expand_as(far), (x // 4 + y // 4) % 2 == 0, (far - 7).abs() < 2,
                         (x.abs() < 2) | (y.abs() < 2), far < 7]).float()
    masks = kinds[labels % 5, torch.arange(count)].unsqueeze(1)
    colours = torch.rand(count, 3, 1, 1, generator=generator)
    colours[:, 0] += (labels < 5).view(-1, 1, 1) * 1.0
    colours[:, 2] += (labels >= 5).view(-1, 1, 1) * 1.0
    return masks * colours + 0.3 * torch.randn(count, 3, 32, 32, generator=generator), labels


class Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(inputs, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width),
                                  nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1, bias=False),
                                  nn.BatchNorm2d(width))
        self.shortcut = nn.Conv2d(inputs, width, 1, stride, bias=False)

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def network():
    return nn.Sequential(Residual(3, 16, 2), Residual(16, 32, 2), Residual(32, 64, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch-size", type=int, default=32,
                        help="of each rank; a backward pass takes half of it")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--no-cuda", action="store_true")
    options = parser.parse_args()
    weir.init()
    cuda = not options.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda", weir.local_rank()) if cuda else torch.device("cpu")
    torch.manual_seed(1 + weir.rank())  # rank 0's parameters become all ranks'
    model = DistributedDataParallel(network().to(device))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    pictures, labels = shapes(options.pictures, seed=1)
    data = torch.utils.data.TensorDataset(pictures[weir.rank()::weir.size()],
                                          labels[weir.rank()::weir.size()])
    loader = torch.utils.data.DataLoader(data, options.batch_size, shuffle=True, drop_last=True)
    for epoch in range(options.epochs):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            (x, rest), (y, others) = x.to(device).chunk(2), y.to(device).chunk(2)
            with model.no_sync():  # gradients of the first half wait for those of the second
                (F.cross_entropy(model(x), y) / 2).backward()
            (F.cross_entropy(model(rest), others) / 2).backward()
            optimizer.step()
        model.eval()
        x, y = shapes(500, seed=1000 + weir.rank())
        with torch.no_grad():
            right = (model(x.to(device)).argmax(1) == y.to(device)).float().mean()
        right = weir.push_pull(right, name="right").item()
        if weir.rank() == 0:
            print(f"epoch {epoch}: {100 * right:.1f} % of new shapes are recognised", flush=True)


if __name__ == "__main__":
    main()
