"""Trains small models in these ways, or in every way;
rank r saves the parameters of each as FOLDER/WAY.r.pt."""

import sys
from pathlib import Path

import torch

import weir.torch as weir

sys.path.insert(0, str(Path(__file__).resolve().parent))
import lessons

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    ways = sys.argv[2:] or lessons.WAYS
    weir.init()
    for way in ways:
        model = lessons.train(way, weir.rank(), weir.size(), weir)
        torch.save(model, folder / f"{way}.{weir.rank()}.pt")
