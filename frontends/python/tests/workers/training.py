"""Trains small models in every way; rank r saves the parameters of each as FOLDER/WAY.r.pt."""

import sys
from pathlib import Path

import torch

import weir.torch as weir

sys.path.insert(0, str(Path(__file__).resolve().parent))
import lessons

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    weir.init()
    for way in lessons.WAYS:
        model = lessons.train(way, weir.rank(), weir.size(), weir)
        torch.save(model, folder / f"{way}.{weir.rank()}.pt")
