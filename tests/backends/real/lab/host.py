"""What a host allows labs to do, and what exists of labs on it."""

import os
import re
import subprocess
from pathlib import Path

FOLDERS = Path("/sys/fs/cgroup")


def is_root_of_host():
    """Whether this is root of the host itself (no user namespace), with the right to manage its networks."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    rights = int(re.search(r"CapEff:\s*(\w+)", status).group(1), 16)
    admin = 1 << 12 | 1 << 21  # CAP_NET_ADMIN, CAP_SYS_ADMIN
    return (Path("/proc/self/uid_map").read_text(encoding="ascii").split() == ["0", "0", "4294967295"]
            and rights & admin == admin)


def networks():
    """The network namespaces that some process is in or has open."""
    found = set()
    for pattern in ("[0-9]*/ns/net", "[0-9]*/fd/*"):
        for path in Path("/proc").glob(pattern):
            try:
                target = os.readlink(path)
            except OSError:
                continue
            if target.startswith("net:"):
                found.add(target)
    return found


def processes(word):
    """The numbers of processes whose command line begins like this."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(word.encode()):
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def links():
    return subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout


def listeners():
    return Path("/proc/net/unix").read_text(encoding="utf-8").count("@weir-lab/")


def folders():
    """The control groups of labs, in any folder."""
    return {Path(where, name) for where, names, _ in os.walk(FOLDERS)
            for name in names if name.startswith("weir-lab-")}
