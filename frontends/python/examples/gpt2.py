"""Pre-trains GPT-2 on text that a small grammar makes, a letter a token, and lets it write;
nothing is downloaded.

    weirrun -np 2 python frontends/python/examples/gpt2.py                 # a small one, for processors
    weirrun -np 8 python frontends/python/examples/gpt2.py --small         # GPT-2 small, for GPUs
"""

import argparse
import random

import models
import torch

import weir.torch as weir

LETTERS = "\n abcdefghijklmnopqrstuvwxyz.,"


def sentence(chance):
    """One of some ten thousand."""
    noun = ("worker", "server", "gradient", "tensor", "layer", "model", "switch", "packet")
    verb = ("sends", "sums", "waits for", "overtakes", "carries", "forgets", "shares")
    kind = ("small", "large", "early", "late", "urgent", "quiet")
    ending = ("", ", and sleeps", " before noon", ", as it should")
    return (f"the {chance.choice(kind)} {chance.choice(noun)} {chance.choice(verb)} a {chance.choice(kind)} "
            f"{chance.choice(noun)}{chance.choice(ending)}.\n")


def batches(rank, size, length):
    """Texts without end, of this rank alone: a letter more than the length."""
    chance = random.Random(rank)
    text = ""
    while True:
        while len(text) < size * (length + 1):
            text += sentence(chance)
        tokens = torch.tensor([LETTERS.index(letter) for letter in text[:size * (length + 1)]])
        text = text[size * (length + 1):]
        yield tokens.view(size, length + 1)


def written(model, length, device):
    """What the model writes after "the"."""
    tokens = [LETTERS.index(letter) for letter in "the "]
    with torch.no_grad():
        for _ in range(80):
            scores = model(torch.tensor([tokens[-length:]], device=device))
            tokens.append(int(scores[0, -1, :len(LETTERS)].argmax()))
    return "".join(LETTERS[token] for token in tokens)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch-size", type=int, default=8, help="texts of each rank")
    parser.add_argument("--length", type=int, default=64, help="letters of a text")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--small", action="store_true", help="GPT-2 small: 124 million parameters")
    parser.add_argument("--cross-barrier", action="store_true",
                        help="let the next forward wait, layer by layer")
    parser.add_argument("--no-cuda", action="store_true")
    options = parser.parse_args()
    weir.init()
    cuda = not options.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda", weir.local_rank()) if cuda else torch.device("cpu")
    torch.manual_seed(1)
    sizes = {} if options.small else {
        "tokens": len(LETTERS), "length": options.length, "width": 128, "heads": 4, "layers": 2
    }
    model = models.gpt2(**sizes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4 if options.small else 3e-3)
    weir.broadcast_parameters(model.state_dict(), root_rank=0)
    optimizer = weir.DistributedOptimizer(optimizer, named_parameters=model.named_parameters(),
                                          cross_barrier=options.cross_barrier, model=model)
    data = batches(weir.rank(), options.batch_size, options.length)
    for step in range(options.steps):
        tokens = next(data).to(device)
        optimizer.zero_grad()
        loss = models.loss(model(tokens[:, :-1]), tokens[:, 1:])
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            mean = weir.allreduce(loss.detach(), name="loss").item()
            if weir.rank() == 0:
                print(f"step {step + 1}: loss {mean:.3f}", flush=True)
    model.eval()
    if weir.rank() == 0:
        print(written(model, options.length, device))


if __name__ == "__main__":
    main()
