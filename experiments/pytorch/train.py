#!/usr/bin/env python3
"""Trains a small network in one machine of a lab, as the machine's number says: the first ones are ranks, the others
Weir's CPU machines. With Weir or with PyTorch's DistributedDataParallel over Gloo. Rank 0 writes what it came to.
Started by measure.py, in every machine of a lab."""

import argparse
import json
import os
import subprocess
import sys
import time

import torch
from torch import nn

PORT = 29700


def model(width, layers):
    torch.manual_seed(1)
    hidden = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(width, 10))


def interface_of(address):
    for line in subprocess.run(["ip", "-o", "-4", "addr"], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if fields[3].split("/")[0] == address:
            return fields[1]
    raise SystemExit(f"no interface of this machine has the address {address}")


def over_gloo(net, optimizer, rank, choices, addresses):
    os.environ["GLOO_SOCKET_IFNAME"] = interface_of(addresses[rank])
    torch.distributed.init_process_group("gloo", init_method=f"tcp://{addresses[0]}:{PORT}", rank=rank,
                                         world_size=choices.ranks)
    return nn.parallel.DistributedDataParallel(net), optimizer


def over_weir(net, optimizer, rank, choices, addresses):
    import weir.torch as bps
    os.environ.update(WEIR_RANK=str(rank), WEIR_SIZE=str(choices.ranks), WEIR_SERVERS=str(choices.servers),
                      WEIR_LEADER=f"{addresses[0]}:{PORT}", WEIR_SECRET=choices.secret, WEIR_TRANSPORT="tcp", WEIR_LOCAL_SIZE=str(choices.ranks + choices.servers))
    bps.init()
    bps.broadcast_parameters(net.state_dict(), root_rank=0)
    return net, bps.DistributedOptimizer(optimizer, named_parameters=net.named_parameters())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--who", choices=("gloo", "weir"), required=True)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--servers", type=int, default=0)
    parser.add_argument("--secret", default="")
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--out", required=True)
    choices = parser.parse_args()
    machine = int(os.environ["WEIR_RANK"])
    addresses = os.environ["WEIR_ADDRESSES"].split(",")
    if machine >= choices.ranks:
        if choices.who == "weir" and machine - choices.ranks < choices.servers:
            os.environ.update(WEIR_SERVER=str(machine - choices.ranks), WEIR_SERVERS=str(choices.servers),
                              WEIR_SIZE=str(choices.ranks), WEIR_LEADER=f"{addresses[0]}:{PORT}",
                              WEIR_SECRET=choices.secret, WEIR_TRANSPORT="tcp", WEIR_LOCAL_SIZE=str(choices.ranks + choices.servers))
            os.environ.pop("WEIR_RANK")
            os.execv(sys.executable, [sys.executable, "-m", "weir.serve"])
        return
    torch.set_num_threads(1)
    net = model(choices.width, choices.layers)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    trained, optimizer = (over_gloo if choices.who == "gloo" else over_weir)(net, optimizer, machine, choices, addresses)
    torch.manual_seed(100 + machine)
    losses, seconds = [], []
    for _ in range(choices.warm_up + choices.steps):
        begin = time.monotonic()
        optimizer.zero_grad()
        inputs = torch.randn(choices.batch, choices.width)
        loss = nn.functional.cross_entropy(trained(inputs), inputs[:, :10].argmax(dim=1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.monotonic() - begin)
    if machine == 0:
        parameters = sum(parameter.numel() for parameter in net.parameters())
        with open(choices.out, "w", encoding="utf-8") as file:
            json.dump({"losses": losses, "seconds": seconds[choices.warm_up:], "parameters": parameters,
                       "samples": choices.batch * choices.ranks}, file)


if __name__ == "__main__":
    main()
