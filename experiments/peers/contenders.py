"""The contenders, Weir and its peers: each is a command that reports the seconds of its rounds."""

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
    """A contender failed; the text is its output."""


def output_of(command, processes=1, **how):
    """The first command's output. If one fails, all are killed, with the processes that they started."""
    commands = [command(rank) for rank in range(processes)]
    started = [subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, **how) for one in commands]
    try:
        printed = [process.communicate(timeout=DEADLINE) for process in started]
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    for process, one, (out, error) in zip(started, commands, printed):
        if process.returncode != 0:
            raise Failure(f"{' '.join(map(str, one))}: {error or out}")
    return printed[0][0]


@dataclass
class Place:
    """Where peers run: on the host itself, or on the machines of a lab that is up."""

    addresses: List[str]
    # Files of the machines' networks; none on the host itself.
    networks: List[str] = field(default_factory=list)
    interfaces: str = "lo"

    def inside(self, machine):
        return ["nsenter", f"--net={self.networks[machine]}"] if self.networks else []


HOST = Place(["127.0.0.1"] * WORKERS)


@contextlib.contextmanager
def lab(weir, topology, settings, workers=WORKERS):
    """The place of the topology's first machines while its lab is up."""
    printed = output_of(lambda _: [weir, "lab", "up", topology, *settings])
    try:
        lines = [line.split() for line in printed.splitlines() if "/proc/" in line][:workers]
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
        """Times of iterations, each from the end of the one before, on all machines."""
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
                *place.inside(rank), self.program, "--rank", str(rank), "--size", str(WORKERS),
                "--store", store, "--address", place.addresses[rank], "--algorithm", self.setting,
                "--base", str(self.base),
                "--bytes", str(size), "--rounds", str(count)], WORKERS))
        finally:
            shutil.rmtree(store)


@dataclass(frozen=True)
class Nccl:
    """One process for each GPU."""

    program: str
    setting: str
    gpus: int = 1  # of a machine
    options: Dict[str, str] = field(default_factory=dict)  # of its environment
    who: str = "NCCL"

    def rounds(self, size, count, place):
        folder = tempfile.mkdtemp()
        alone = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"} if self.gpus == 1 else {}
        # NCCL must take each machine for a separate host;
        # and NVLink's multicast is not allowed on shared hosts.
        common = {
            "NCCL_IB_DISABLE": "1", "NCCL_SOCKET_IFNAME": "^lo", "NCCL_NVLS_ENABLE": "0", **alone,
            **self.options
        }

        def command(rank):
            machine = rank // self.gpus
            own = {**common, "NCCL_HOSTID": f"weir-{machine}"}
            settings = [f"{name}={value}" for name, value in own.items()]
            return [*place.inside(machine), "env", *settings, self.program, "--rank", str(rank),
                    "--size", str(len(place.networks) * self.gpus), "--device", str(rank),
                    "--id", f"{folder}/id", "--bytes", str(size), "--rounds", str(count)]

        try:
            return seconds_in(output_of(command, len(place.networks) * self.gpus))
        finally:
            shutil.rmtree(folder)


def seconds_in(text):
    printed = json.loads(text[text.index("{"):])
    if not printed["sums_are_right"]:
        raise Failure(f"sums are wrong: {printed}")
    return printed["seconds"]


# With this mpirun starts its daemons on other machines of a lab; each believes that it is on its own host.
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
    transport: str  # Open MPI's BTL
    setting: str
    options: Dict[str, str] = field(default_factory=dict)  # MCA parameters
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
            command = [*start, self.program, "--bytes", str(size), "--rounds", str(count)]
            return seconds_in(output_of(lambda _: command, env=environment))

    @staticmethod
    def spread(place, folder, start, options):
        """Starts mpirun on the first machine, and one process on each."""
        agent = Path(folder) / "agent"
        agent.write_text(AGENT.format(cases="\n".join(
            f"  {address}) net={network} ;;" for address, network in zip(place.addresses, place.networks))))
        agent.chmod(0o700)
        options.update(plm_rsh_agent=str(agent), plm_rsh_no_tree_spawn="1",
                       oob_tcp_if_include=place.interfaces)
        first = [*place.inside(0), "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"',
                 f"worker-{place.addresses[0]}"]
        return [*first, *start, "--map-by", "node", "--host", ",".join(place.addresses)]
