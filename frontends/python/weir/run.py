"""weirrun: starts the ranks and CPU machines of a session on this host, and ends all of them together.

    weirrun -np 4 --servers 2 python train.py --epochs 3

If a process fails, weirrun ends all others and exits with its status,
or with 128 + the signal that killed it.
"""

import argparse
import ctypes
import os
import secrets
import select
import selectors
import signal
import socket
import subprocess
import sys
import time
from typing import IO, BinaryIO, Dict, List, Optional, Sequence

TERM_SECONDS = 5.0  # from SIGTERM to SIGKILL
LAST_WORDS_SECONDS = 1.0  # for the others to print how the first failure affects them, before SIGTERM
SLOW_END_SECONDS = 4.0  # for ranks to end, once a server has failed
PR_SET_PDEATHSIG = 1


class Lines:
    """Passes on the lines that a process writes, each with a prefix."""

    def __init__(self, source: IO[bytes], target: BinaryIO, prefix: bytes):
        self.source = source
        self._target = target
        self._prefix = prefix
        self._rest = b""
        os.set_blocking(source.fileno(), False)

    def forward(self) -> bool:
        """Passes on what has been written so far. Returns whether more may come."""
        while True:
            try:
                block = os.read(self.source.fileno(), 1 << 16)
            except BlockingIOError:
                return True
            if not block:
                self.finish()
                return False
            *lines, self._rest = (self._rest + block).split(b"\n")
            self._write(lines)

    def finish(self) -> None:
        """Passes on the last line, even if it has no newline."""
        if self._rest:
            self._write([self._rest])
            self._rest = b""

    def _write(self, lines: List[bytes]) -> None:
        # Not through a buffered file: Python 3.11.2's lost the rest of some large writes while ranks were
        # ending.
        left = memoryview(b"".join(self._prefix + line + b"\n" for line in lines))
        while left:
            try:
                left = left[os.write(self._target.fileno(), left) :]
            except BlockingIOError:
                select.select([], [self._target], [])


class Process:
    """A rank or a CPU machine: the leader of a process group that dies with weirrun."""

    def __init__(self, name: str, command: Sequence[str], environment: Dict[str, str], piped: bool):
        self.name = name
        libc = ctypes.CDLL(None)
        launcher = os.getpid()

        def die_with_launcher() -> None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != launcher:
                os._exit(1)

        pipe = subprocess.PIPE if piped else None
        # One thread only, so that what runs between fork and exec is safe.
        self.popen = subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe,
                                      stdin=subprocess.DEVNULL, start_new_session=True,
                                      preexec_fn=die_with_launcher)

    def status(self) -> Optional[int]:
        """None while it runs; 128 + the signal that killed it."""
        code = self.popen.poll()
        return code if code is None or code >= 0 else 128 - code

    def end(self, number: int) -> None:
        """Sends a signal to the process and those that it has started."""
        try:
            os.killpg(self.popen.pid, number)
        except ProcessLookupError:
            pass


def describe(process: Process) -> str:
    """How it ended, in words."""
    code = process.popen.returncode
    if code < 0:
        return f"{process.name} was killed by {signal.Signals(-code).name}"
    return f"{process.name} failed with status {code}"


class Job:
    """All processes of a session on this host."""

    def __init__(self, piped: bool):
        self._piped = piped
        self._ranks: List[Process] = []
        self._servers: List[Process] = []
        self._failed: List[Process] = []  # in the order in which that was seen
        self._selector = selectors.DefaultSelector()
        self._caught: List[int] = []
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        self._selector.register(self._reader, selectors.EVENT_READ)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)  # only to wake
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, frame: self._caught.append(number))

    def rank(self, index: int, command: Sequence[str], environment: Dict[str, str]) -> None:
        """Starts a rank."""
        self._ranks.append(self._start(f"rank {index}", str(index), command, environment))

    def server(self, index: int, command: Sequence[str], environment: Dict[str, str]) -> None:
        """Starts a CPU machine."""
        self._servers.append(self._start(f"server {index}", f"server {index}", command, environment))

    def _start(self, name: str, prefix: str, command: Sequence[str], environment: Dict[str, str]) -> Process:
        process = Process(name, command, environment, self._piped)
        if self._piped:
            for source, target in ((process.popen.stdout, sys.stdout), (process.popen.stderr, sys.stderr)):
                assert source is not None  # as it is piped
                lines = Lines(source, target.buffer, f"[{prefix}] ".encode())
                self._selector.register(source, selectors.EVENT_READ, lines)
        return process

    def _forward(self, seconds: float) -> None:
        """Passes output on, until something happens, but at most for so many seconds."""
        for key, _ in self._selector.select(seconds):
            if key.data is not None:
                if not key.data.forward():
                    self._selector.unregister(key.fileobj)
            else:
                try:
                    self._reader.recv(4096)
                except BlockingIOError:
                    pass

    def _all(self) -> List[Process]:
        return self._ranks + self._servers

    def _cause(self) -> Optional[Process]:
        """The process that has failed, if one has; of several, the one that made the others fail."""
        self._failed += [
            process for process in self._all() if process.status() and process not in self._failed
        ]
        # A killed process before those that then failed, and a rank before a server, which ends faster;
        # else the first.
        return min(self._failed, key=lambda process: (process.popen.returncode > 0, process in self._servers),
                   default=None)

    def _wait(self, processes: List[Process], seconds: float) -> bool:
        """Whether the processes have ended by themselves within that time."""
        deadline = time.monotonic() + seconds
        while any(process.status() is None for process in processes):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._forward(min(left, 0.2))
        return True

    def run(self) -> int:
        """Waits for the end of the job, and returns its exit status."""
        try:
            while not self._caught:
                cause = self._cause()
                if cause is not None:
                    self._wait(self._all(), LAST_WORDS_SECONDS)
                    cause = self._cause() or cause
                    # Maybe because of a rank, which ends more slowly.
                    if cause in self._servers and cause.popen.returncode > 0:
                        self._wait(self._ranks, SLOW_END_SECONDS)
                        cause = self._cause() or cause
                    print(f"weirrun: {describe(cause)}; ending the others", file=sys.stderr, flush=True)
                    return cause.status() or 1
                if all(process.status() == 0 for process in self._ranks):
                    return 0
                self._forward(0.2)
            return 128 + self._caught[0]
        except BrokenPipeError:
            return 128 + signal.SIGPIPE
        finally:
            self.end()

    def end(self) -> None:
        """Ends all processes."""
        processes = self._all()
        for process in processes:
            process.end(signal.SIGTERM)
        caught = len(self._caught)
        deadline = time.monotonic() + TERM_SECONDS
        try:
            # A second Ctrl-C does not wait.
            while time.monotonic() < deadline and len(self._caught) == caught:
                if self._wait(processes, 0.1):
                    break
        except BrokenPipeError:
            pass
        for process in processes:
            process.end(signal.SIGKILL)  # also what the process has started, even if it has ended itself
            process.popen.wait()
        try:
            for key in list(self._selector.get_map().values()):
                if key.data is not None and key.data.forward():
                    key.data.finish()
        except BrokenPipeError:
            sys.stdout = None  # nothing more to be flushed
        signal.set_wakeup_fd(-1)


def free_port() -> int:
    """A port of this host that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pair(text: str) -> List[str]:
    """KEY=VALUE in two."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not KEY=VALUE")
    return [key, value]


def count(least: int):
    """A function that reads whole numbers of at least `least`."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of {least} or more")
        return int(text)

    return read


def parser() -> argparse.ArgumentParser:
    """Of the command line."""
    result = argparse.ArgumentParser(
        prog="weirrun",
        usage="weirrun -np RANKS [--servers N] [options] COMMAND [ARGUMENT ...]",
        description="Starts the ranks and CPU machines of a session of Weir on this host.")
    result.add_argument("-np", "-n", "--num-proc", dest="ranks", type=count(1), required=True,
                        help="ranks: processes that train")
    result.add_argument("--servers", type=count(0), default=0, help="CPU machines, which only sum (0)")
    result.add_argument("--strategy", help="how tensors are summed (docs/pytorch.md lists the strategies)")
    result.add_argument("--env", type=pair, action="append", default=[], metavar="KEY=VALUE",
                        help="sets a variable for all processes; may be repeated")
    result.add_argument("--no-prefix", action="store_true",
                        help="print output as it is, without [rank] before each line")
    result.add_argument("command", nargs=argparse.REMAINDER,
                        help="what each rank runs, such as: python train.py")
    return result


def environments(arguments: argparse.Namespace) -> Dict[str, str]:
    """The environment that all processes of the session share."""
    common = dict(os.environ)
    # A launcher that runs weirrun may have set these: they are not for this session.
    for name in ("WEIR_RANK", "WEIR_SERVER", "WEIR_LOCAL_RANK", "WEIR_LISTEN"):
        common.pop(name, None)
    common.update(
        WEIR_SECRET=secrets.token_hex(32),
        WEIR_LEADER=f"127.0.0.1:{free_port()}",
        WEIR_SIZE=str(arguments.ranks),
        WEIR_LOCAL_SIZE=str(arguments.ranks),
        WEIR_SERVERS=str(arguments.servers))
    if arguments.strategy:
        common["WEIR_STRATEGY"] = arguments.strategy
    common.setdefault("PYTHONUNBUFFERED", "1")  # else output to a pipe would come late
    common.update(arguments.env)
    if arguments.ranks > 1 and "OMP_NUM_THREADS" not in common:
        common["OMP_NUM_THREADS"] = "1"
        print("weirrun: OMP_NUM_THREADS=1 for each rank, so that they do not compete for cores; "
              "set it to change that", file=sys.stderr, flush=True)
    return common


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The exit status of the job."""
    command_line = parser()
    options = command_line.parse_args(arguments)
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        command_line.error("no command to run, such as: python train.py")
    common = environments(options)
    job = Job(piped=not options.no_prefix)
    try:
        for index in range(options.servers):
            job.server(index, [sys.executable, "-m", "weir.serve", "--repeat"],
                       {**common, "WEIR_SERVER": str(index)})
        for index in range(options.ranks):
            job.rank(index, command, {**common, "WEIR_RANK": str(index), "WEIR_LOCAL_RANK": str(index)})
    except OSError as why:
        print(f"weirrun: cannot start {command[0]}: {why.strerror}", file=sys.stderr)
        job.end()
        return 127
    return job.run()


if __name__ == "__main__":
    sys.exit(main())
