#!/usr/bin/env python3
"""Trains a network on one machine of a lab. By the machine's number, the first ones are ranks, the others
Weir's CPU machines. With Weir or with PyTorch's DistributedDataParallel, over Gloo or, on GPUs, NCCL. Rank 0
writes the result. Started by measure.py on every machine of a lab."""

import argparse
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "frontends" / "python" / "examples"))

import models  # noqa: E402

import weir.torch as bps  # noqa: E402

PORT = 29700
SIOCGIFADDR = 0x8915


def linear(width, layers):
    hidden = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU())]
    return nn.Sequential(*hidden, nn.Linear(width, 10))


def workload(choices, device):
    """The network, and a function that makes a batch of inputs and targets for it."""
    torch.manual_seed(1)
    if choices.model == "linear":
        def batch():
            inputs = torch.randn(choices.batch, choices.width, device=device)
            return inputs, inputs[:, :10].argmax(dim=1)
        return linear(choices.width, choices.layers).to(device), batch
    make, batch, _ = models.MODELS[choices.model]
    return make().to(device), lambda: batch(choices.batch, device)


def interface_of(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asking, SIOCGIFADDR, struct.pack("256s", name.encode()))
            except OSError:
                continue  # it has no address
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    raise SystemExit(f"no interface of this machine has the address {address}")


def with_ddp(net, optimizer, rank, choices, addresses):
    machine = rank // choices.ranks_each
    interface = interface_of(addresses[machine])
    os.environ.update(GLOO_SOCKET_IFNAME=interface, NCCL_SOCKET_IFNAME=interface,
                      NCCL_HOSTID=f"machine-{machine}", NCCL_IB_DISABLE="1")
    if choices.ranks_each == 1:
        os.environ.update(NCCL_P2P_DISABLE="1", NCCL_SHM_DISABLE="1", NCCL_NVLS_ENABLE="0")
    torch.distributed.init_process_group("nccl" if choices.cuda else "gloo", rank=rank,
                                         world_size=choices.machines * choices.ranks_each,
                                         init_method=f"tcp://{addresses[0]}:{PORT}")
    return nn.parallel.DistributedDataParallel(net), optimizer


def session(choices, addresses):
    """The environment of a Weir process. The machines share only the host's cores."""
    ranks = choices.machines * choices.ranks_each
    return {
        "WEIR_SIZE": str(ranks), "WEIR_SERVERS": str(choices.servers),
        "WEIR_LEADER": f"{addresses[0]}:{PORT}", "WEIR_SECRET": choices.secret,
        "WEIR_NIC_RATE": choices.nic_rate, "WEIR_TRANSPORT": "tcp",
        "WEIR_LOCAL_SIZE": str(ranks + choices.servers)
    }


def with_weir(net, optimizer, rank, choices, addresses):
    os.environ.update(session(choices, addresses), WEIR_RANK=str(rank), WEIR_LOCAL=choices.local)
    if choices.ranks_each > 1:
        os.environ.update(WEIR_LOCAL_SIZE=str(choices.ranks_each),
                          WEIR_LOCAL_RANK=str(rank % choices.ranks_each))
    bps.init()
    bps.broadcast_parameters(net.state_dict(), root_rank=0)
    crossing = {"cross_barrier": True, "model": net} if choices.cross_barrier else {}
    return net, bps.DistributedOptimizer(optimizer, named_parameters=net.named_parameters(), **crossing)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--who", choices=("ddp", "weir"), required=True)
    parser.add_argument("--cross-barrier", action="store_true")
    parser.add_argument("--cuda", action="store_true",
                        help="train on the host's GPUs; machines share them if there are too few")
    parser.add_argument("--model", choices=("linear", *models.MODELS), default="linear")
    parser.add_argument("--machines", type=int, default=4, help="machines that train")
    parser.add_argument("--ranks-each", type=int, default=1,
                        help="processes of each machine, with a GPU each")
    parser.add_argument("--local", default="none", help="the value of WEIR_LOCAL")
    parser.add_argument("--local-rank", type=int, help="the number of this process on its machine")
    parser.add_argument("--servers", type=int, default=0)
    parser.add_argument("--nic-rate", default="1Gbps")
    parser.add_argument("--secret", default="")
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--rate", type=float, default=0.01, help="the learning rate")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--warm-up", type=int, default=2)
    parser.add_argument("--out", required=True)
    choices = parser.parse_args()
    machine = int(os.environ["WEIR_RANK"])
    addresses = os.environ["WEIR_ADDRESSES"].split(",")
    if machine >= choices.machines:
        if choices.who == "weir" and machine - choices.machines < choices.servers:
            os.environ.update(session(choices, addresses), WEIR_SERVER=str(machine - choices.machines))
            os.environ.pop("WEIR_RANK")
            os.execv(sys.executable, [sys.executable, "-m", "weir.serve"])
        return
    if choices.ranks_each > 1 and choices.local_rank is None:
        ranks = [subprocess.Popen([sys.executable, *sys.argv, "--local-rank", str(local)])
                 for local in range(choices.ranks_each)]
        raise SystemExit(max(abs(rank.wait()) for rank in ranks))
    rank = machine * choices.ranks_each + (choices.local_rank or 0)
    torch.set_num_threads(1)
    device = torch.device("cuda", rank % torch.cuda.device_count()) if choices.cuda else torch.device("cpu")
    if choices.cuda:
        torch.cuda.set_device(device)
    net, batch = workload(choices, device)
    optimizer = torch.optim.SGD(net.parameters(), lr=choices.rate, momentum=0.9)
    wrapped = with_ddp if choices.who == "ddp" else with_weir
    trained, optimizer = wrapped(net, optimizer, rank, choices, addresses)
    torch.manual_seed(100 + rank)
    losses, seconds = [], []
    for _ in range(choices.warm_up + choices.steps):
        begin = time.monotonic()
        optimizer.zero_grad(set_to_none=True)
        inputs, targets = batch()
        loss = models.loss(trained(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        seconds.append(time.monotonic() - begin)
    if rank == 0:
        parameters = sum(parameter.numel() for parameter in net.parameters())
        with open(choices.out, "w", encoding="utf-8") as file:
            json.dump({"losses": losses, "seconds": seconds[choices.warm_up:], "parameters": parameters,
                       "samples": choices.batch * choices.machines * choices.ranks_each}, file)


if __name__ == "__main__":
    main()
