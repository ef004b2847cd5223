"""The kernel that guests boot: the distribution's generic one, downloaded once, unpacked, never installed.

Stock kernels for clouds have neither soft-RoCE nor 9p; containers have no kernel at all.
"""

import lzma
import os
import re
import subprocess
import tempfile
from pathlib import Path

# Metapackages of generic kernels, best first: Debian 12's newer one, Debian's, Ubuntu's.
_METAPACKAGES = ("linux-image-6.12-amd64", "linux-image-amd64", "linux-image-generic")
_DOWNLOAD_LIMIT = 300  # seconds


class Missing(Exception):
    """What a guest needs is not on this machine; says what."""


class Kernel:
    """An unpacked kernel: `folder` holds lib/modules/VERSION, with modprobe's tables."""

    def __init__(self, folder):
        self.folder = folder
        self.image = next(folder.glob("boot/vmlinuz-*"))
        self.version = self.image.name.removeprefix("vmlinuz-")
        self.modules = folder / "lib" / "modules" / self.version

    def files_of(self, names):
        """The files of these modules and of all that they need, in the order in which they load."""
        lines = []
        for name in names:
            shown = subprocess.run(
                ["/sbin/modprobe", "--dirname", self.folder, "--set-version", self.version,
                 "--show-depends", name],
                capture_output=True, text=True, check=False)
            if shown.returncode:
                raise Missing(f"kernel {self.version} has no module {name}")
            lines += shown.stdout.splitlines()
        files = (line.split()[1] for line in lines if line.startswith("insmod "))  # the others are built in
        return [Path(file) for file in dict.fromkeys(files)]


def content(module):
    """A module's file as the kernel loads it."""
    if module.suffix == ".xz":
        return lzma.decompress(module.read_bytes())
    if module.suffix == ".zst":
        command = ["zstd", "--decompress", "--stdout", module]
        return subprocess.run(command, capture_output=True, check=True).stdout
    return module.read_bytes()


def cached():
    """The newest kernel in the cache, which is filled first where it is empty."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weir" / "guest-kernel"
    cache.mkdir(parents=True, exist_ok=True)
    found = sorted(cache.glob("[0-9]*"), key=lambda folder: folder.stat().st_mtime)
    return Kernel(found[-1] if found else _fill(cache))


def _fill(cache):
    """Others may be at it too: each unpacks into a folder of its own, and the first to rename it wins."""
    packages = _packages()
    with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=cache) as temporary:
        temporary = Path(temporary)
        _command(["apt-get", "download", "-o", "APT::Sandbox::User=root", *packages], temporary)
        tree = temporary / "tree"
        for archive in temporary.glob("*.deb"):
            _command(["dpkg", "-x", archive, tree], temporary)
        if not (tree / "lib").exists():
            (tree / "lib").symlink_to("usr/lib")
        kernel = Kernel(tree)
        _command(["/sbin/depmod", "--basedir", tree, kernel.version], temporary)
        folder = cache / kernel.version
        try:
            tree.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
        return folder


def _packages():
    """The packages that hold a generic kernel: a metapackage's image and what that wants of modules."""
    for name in _METAPACKAGES:
        names = [name]
        for one in names:
            names += [other for other in _dependencies(one) if other not in names]
        if len(names) > 1:
            return names[1:]
    raise Missing(f"a kernel's package (none of {', '.join(_METAPACKAGES)}; apt-get update may help)")


def _dependencies(package):
    command = ["apt-cache", "depends", "--important", package]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    return re.findall(r"^  (?:Pre)?Depends: (linux-(?:image|modules)\S*)$", shown.stdout, re.MULTILINE)


def _command(arguments, folder):
    try:
        done = subprocess.run(
            arguments, cwd=folder, capture_output=True, text=True, timeout=_DOWNLOAD_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise Missing(f"a kernel: {arguments[0]} took longer than {_DOWNLOAD_LIMIT} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"]
        raise Missing(f"a kernel: {arguments[0]} {arguments[1]}: {lines[-1]}")
