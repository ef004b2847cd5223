"""Who is measured: Weir and its peers, each as a command whose rounds are told in seconds."""

import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Tuple

HERE = Path(__file__).resolve().parent
WORKERS = 4
FLOAT = 4  # bytes
DEADLINE = 600  # seconds, of one command


class Failure(Exception):
    """A contender did not do what it should; the text says what it printed."""


def output_of(command, processes=1, **how):
    """What the commands print, the first one's; all are killed with what they have started if one fails."""
    commands = [command(rank) for rank in range(processes)]
    started = [subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, **how) for one in commands]
    try:
        told = [process.communicate(timeout=DEADLINE) for process in started]
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    for process, one, (out, error) in zip(started, commands, told):
        if process.returncode != 0:
            raise Failure(f"{' '.join(map(str, one))}: {error or out}")
    return told[0][0]


@dataclass
class Place:
    """Where peers run: on the host as it is, or in the machines of a lab that is up."""

    addresses: List[str]
    networks: List[str] = field(default_factory=list)  # files of the machines' networks; none on the host itself
    interfaces: str = "lo"

    def inside(self, machine):
        return ["nsenter", f"--net={self.networks[machine]}"] if self.networks else []


HOST = Place(["127.0.0.1"] * WORKERS)


@contextlib.contextmanager
def lab(weir, topology, settings, workers=WORKERS):
    """The place of the topology's first machines while its lab is up."""
    told = output_of(lambda _: [weir, "lab", "up", topology, *settings])
    try:
        lines = [line.split() for line in told.splitlines() if "/proc/" in line][:workers]
        yield Place([line[3] for line in lines], [line[-1] for line in lines], "10.0.0.0/8")
    finally:
        output_of(lambda _: [weir, "lab", "down", topology, *settings])


@dataclass(frozen=True)
class Weir:
    program: str
    experiment: str
    world: str
    setting: str
    options: Tuple[str, ...]
    who: str = "Weir"

    def rounds(self, size, count, _place):
        """Iterations, each from the end of the one before on all machines to its own."""
        with tempfile.TemporaryDirectory() as folder:
            output_of(lambda _: [
                self.program, "run", HERE / self.experiment, "--on", self.world, "--no-plots", "--records",
                "--out", folder, "--set", f"trace.layers.0.tensors.0.elements={size // FLOAT}",
                "--set", f"iterations={count}", *self.options])
            return iterations(next(Path(folder).glob("record-*")))


def iterations(file):
    """The seconds of each measured iteration of a record file."""
    with open(file, "rb") as stream:
        header = json.loads(stream.readline())
        numbers = stream.read()
    width = 24 * header["ops"]
    ends = []
    for i in range(header["iterations"]):
        times = struct.unpack(f"<{3 * header['ops']}q", numbers[i * width:(i + 1) * width])
        ends.append(max(times[2::3]))
    return [(end - begin) / 1e9 for begin, end in zip(ends, ends[1:])][header["warm_up"] - 1:]


@dataclass(frozen=True)
class Gloo:
    program: str
    setting: str  # its algorithm
    base: int = 2
    who: str = "Gloo"

    def rounds(self, size, count, place):
        store = tempfile.mkdtemp()
        try:
            return seconds_in(output_of(lambda rank: [
                *place.inside(rank), self.program, "--rank", str(rank), "--size", str(WORKERS), "--store", store,
                "--address", place.addresses[rank], "--algorithm", self.setting, "--base", str(self.base),
                "--bytes", str(size), "--rounds", str(count)], WORKERS))
        finally:
            shutil.rmtree(store)


@dataclass(frozen=True)
class Nccl:
    """One process for each GPU, several in a machine if it has several."""

    program: str
    setting: str
    gpus: int = 1  # of a machine
    options: Dict[str, str] = field(default_factory=dict)  # of its environment
    who: str = "NCCL"

    def rounds(self, size, count, place):
        folder = tempfile.mkdtemp()
        alone = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"} if self.gpus == 1 else {}
        # Each machine is to be a host of its own, and NVLink's multicast is not for hosts that others share.
        common = {"NCCL_IB_DISABLE": "1", "NCCL_SOCKET_IFNAME": "^lo", "NCCL_NVLS_ENABLE": "0", **alone, **self.options}

        def command(rank):
            machine = rank // self.gpus
            settings = [f"{name}={value}" for name, value in {**common, "NCCL_HOSTID": f"weir-{machine}"}.items()]
            return [*place.inside(machine), "env", *settings, self.program, "--rank", str(rank), "--size",
                    str(len(place.networks) * self.gpus), "--device", str(rank), "--id", f"{folder}/id", "--bytes",
                    str(size), "--rounds", str(count)]

        try:
            return seconds_in(output_of(command, len(place.networks) * self.gpus))
        finally:
            shutil.rmtree(folder)


def seconds_in(text):
    told = json.loads(text[text.index("{"):])
    if not told["sums_are_right"]:
        raise Failure(f"sums are wrong: {told}")
    return told["seconds"]


# What mpirun starts its daemons with in another machine of a lab: each believes to be on a host of its own.
AGENT = """#!/bin/sh
host=$1
shift
case $host in
{cases}
  *) echo "no machine at $host" >&2; exit 1 ;;
esac
exec nsenter --net="$net" unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' "worker-$host" "$*"
"""


@dataclass(frozen=True)
class Mpi:
    program: str
    transport: str  # its BTL
    setting: str
    options: Dict[str, str] = field(default_factory=dict)  # of MCA
    who: str = "Open MPI"

    def rounds(self, size, count, place):
        options = {"pml": "ob1", "btl": f"{self.transport},self", **self.options}
        if self.transport == "tcp":
            options["btl_tcp_if_include"] = place.interfaces
        with tempfile.TemporaryDirectory() as folder:
            start = ["mpirun", "-n", str(WORKERS), "--oversubscribe"]
            if place.networks:
                start = self.spread(place, folder, start, options)
            for name, value in options.items():
                start += ["--mca", name, value]
            environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                           "TMPDIR": folder}
            return seconds_in(output_of(
                lambda _: [*start, self.program, "--bytes", str(size), "--rounds", str(count)], env=environment))

    @staticmethod
    def spread(place, folder, start, options):
        """Starts it in the first machine, and its processes one in each."""
        agent = Path(folder) / "agent"
        agent.write_text(AGENT.format(cases="\n".join(
            f"  {address}) net={network} ;;" for address, network in zip(place.addresses, place.networks))))
        agent.chmod(0o700)
        options.update(plm_rsh_agent=str(agent), plm_rsh_no_tree_spawn="1", oob_tcp_if_include=place.interfaces)
        first = [*place.inside(0), "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"',
                 f"worker-{place.addresses[0]}"]
        return [*first, *start, "--map-by", "node", "--host", ",".join(place.addresses)]
