"""What processes are and hold, from /proc: also of those in a lab, which have their own numbers and networks
there."""

import os
from pathlib import Path


def _read(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def parents():
    """The parent of every process that is no zombie."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        words = _read(folder.name, "stat").decode(errors="replace").rpartition(")")[2].split()
        if words and words[0] != "Z":
            found[int(folder.name)] = int(words[1])
    return found


def descendants(root):
    above = parents()
    found = {root} if root in above else set()
    while True:
        more = {pid for pid, parent in above.items() if parent in found} - found
        if not more:
            return found
        found |= more


def nodes(pids):
    """Those of the processes that are nodes, by machine."""
    found = {}
    for pid in pids:
        words = _read(pid, "cmdline").split(b"\0")
        if words[1:2] != [b"node"]:
            continue
        if b"--machine" in words:
            found[int(words[words.index(b"--machine") + 1])] = pid
        for variable in _read(pid, "environ").split(b"\0"):
            if variable.startswith(b"WEIR_RANK="):
                found.setdefault(int(variable[len(b"WEIR_RANK="):]), pid)
    return found


def resident(pid):
    """In KiB; 0 of a process that has ended."""
    for line in _read(pid, "status").decode().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def network(pid):
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return ""


def _open(pid):
    """What its descriptors stand for; nothing of a process that has ended."""
    found = set()
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                found.add(os.readlink(f"/proc/{pid}/fd/{name}"))
            except OSError:
                pass
    except OSError:
        pass
    return found


def _sockets(pid):
    return {target[len("socket:["):-1] for target in _open(pid) if target.startswith("socket:[")}


def connections(pid):
    """How many connections of TCP it has: one with the coordinator, some with each peer."""
    own = _sockets(pid)
    lines = (_read(pid, "net/tcp") + _read(pid, "net/tcp6")).decode().splitlines()
    return sum(1 for line in lines if line.split()[3] == "01" and line.split()[9] in own)


def held(pid):
    """What outlives a process if it is left behind: networks of its own, ports, names of sockets."""
    here = network("self")
    found = {network(pid)} - {here, ""}
    own = _sockets(pid)
    if network(pid) == here:
        for line in (_read(pid, "net/tcp") + _read(pid, "net/tcp6")).decode().splitlines():
            words = line.split()
            if len(words) > 9 and words[3] == "0A" and words[9] in own:
                found.add("port " + words[1])
    for line in _read(pid, "net/unix").decode(errors="replace").splitlines():
        words = line.split()
        if len(words) == 8 and words[6] in own:
            found.add("socket " + words[7])
    return found


def left(things):
    """Those of the things that some process still holds."""
    if not things:
        return set()
    found = set()
    for pid in parents():
        found |= things & {network(pid)}
        found |= things & _open(pid)
    ports = {"port " + line.split()[1]
             for line in (_read("self", "net/tcp") + _read("self", "net/tcp6")).decode().splitlines()
             if line.split()[3] == "0A"}
    names = {"socket " + line.split()[-1]
             for line in _read("self", "net/unix").decode(errors="replace").splitlines()}
    return found | (things & (ports | names))
