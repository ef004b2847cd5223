"""The archive of cpack, used on a machine without Weir: unpacked, moved, and without environment variables.

Run: python3 tests/apps/test_bundle.py WEIR CPACK CONFIG, the last being CPackConfig.cmake of a build.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import program

# Files of the C library, which belongs to the host.
HOST = re.compile(r"ld-linux.*\.so\.\d+|linux-vdso\.so\.1|"
                  r"lib(anl|c|dl|m|mvec|pthread|resolv|rt|util)\.so\.\d+")
DEBIAN = (2, 36)  # the C library of Debian 12


def run(*command, **how):
    return subprocess.run([str(word) for word in command], capture_output=True,
                          text=True, timeout=120, check=False, env={}, **how)


def programs(folder):
    """All files in the folder that contain machine code."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file()
            and path.read_bytes()[:4] == b"\x7fELF"]


def version(text):
    return tuple(int(number) for number in text.split("."))


class Bundle(unittest.TestCase):
    cpack = config = ""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="weir bundle ")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        subprocess.run([cls.cpack, "-G", "TGZ", "--config", cls.config, "-B", cls.folder / "made"],
                       check=True, stdout=subprocess.DEVNULL)
        archive, = (cls.folder / "made").glob("*.tar.gz")
        subprocess.run(["tar", "-xf", archive, "-C", cls.folder], check=True)
        (cls.folder / archive.name.removesuffix(".tar.gz")).rename(cls.folder / "moved: away")
        cls.root = cls.folder / "moved: away"
        cls.weir = cls.root / "bin" / "weir"
        cls.share = cls.root / "share" / "weir"

    def test_it_says_its_version(self):
        done = run(self.weir, "--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, program.run("--version").stdout)

    def test_check_accepts_its_files(self):
        files = [path for folder in ("topologies", "traces", "experiments")
                 for path in sorted((self.share / folder).rglob("*.json"))]
        self.assertGreater(len(files), 30)
        done = run(self.weir, "check", *files)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_raw_records_and_sources_are_left_out(self):
        names = {path.suffix for path in self.share.rglob("*") if path.is_file()}
        self.assertEqual(names, {"", ".json", ".md", ".py", ".sbatch", ".yaml"})

    def test_it_has_no_links_that_might_lead_outside(self):
        self.assertEqual([path for path in self.root.rglob("*") if path.is_symlink()], [])

    def test_it_simulates_and_draws_with_its_own_plots(self):
        out = self.folder / "simulated"
        done = run(self.weir, "run", self.share / "experiments" / "priority_and_partition", "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(program.rows(out)), 4)
        if subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"],
                          check=False, capture_output=True).returncode == 0:
            self.assertTrue((out / "overview.png").is_file(), done.stdout)
        else:
            self.assertIn(f"{self.share}/plots/plot.py", done.stdout)

    def real_run(self, world, *more):
        out = self.folder / world
        return run(self.weir, "run", self.share / "experiments" / "priority_and_partition",
                   "--no-plots", "--out", out, "--on", world, "--verify", "--set", "sweep={}", *more)

    def test_it_runs_for_real_on_this_host(self):
        done = self.real_run("local")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_labs_are_made_with_its_own_tools(self):
        topology = self.share / "topologies" / "toy-two-machines.json"
        probe = program.run("lab", "run", topology, "--", "true")
        if probe.returncode != 0:
            self.skipTest(probe.stderr)
        done = self.real_run("lab", "--set", f"topology.name=test-{os.getpid()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        tool = self.root / "libexec" / "weir" / "tc"
        kept = tool.rename(tool.with_name("kept"))
        self.addCleanup(kept.rename, tool)
        tool.write_text("#!/bin/sh\necho none of the host; exit 1\n")
        tool.chmod(0o755)
        done = run(self.weir, "lab", "run", topology, "--set", f"topology.name=test-{os.getpid()}",
                   "--", "/bin/true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none of the host", done.stderr)

    def test_tools_find_the_libraries_beside_them(self):
        for tool in ("ip", "tc"):
            path = self.root / "libexec" / "weir" / tool
            done = subprocess.run([path, "-V"],
                                  env={"LD_LIBRARY_PATH": "$ORIGIN/../../lib/weir",
                                       "LD_TRACE_LOADED_OBJECTS": "1"},
                                  capture_output=True, text=True, check=True)
            self.check_loaded(done.stdout)

    def test_the_program_loads_nothing_from_elsewhere(self):
        done = subprocess.run([self.weir], env={"LD_TRACE_LOADED_OBJECTS": "1"},
                              capture_output=True, text=True, check=True)
        self.assertIn("libsimgrid", done.stdout)
        self.check_loaded(done.stdout)

    def check_loaded(self, text):
        for line in text.splitlines():
            name, path = re.fullmatch(r"\s*(\S+)(?: => (.*?))?(?: \(0x[0-9a-f]+\))?", line).groups()
            if not HOST.fullmatch(os.path.basename(name)):
                self.assertIsNotNone(path, line)
                self.assertEqual(Path(path).resolve().parent, (self.root / "lib" / "weir").resolve(), line)

    def test_every_library_that_anything_names_is_carried_or_the_hosts(self):
        carried = {path.name for path in (self.root / "lib" / "weir").iterdir()}
        self.assertFalse({name for name in carried if HOST.fullmatch(name)})
        files = programs(self.root)
        self.assertGreater(len(files), 20)
        for path in files:
            dynamic = subprocess.run(["readelf", "--dynamic", path], capture_output=True,
                                     text=True, check=True).stdout
            for name in re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", dynamic):
                with self.subTest(of=path.name, needs=name):
                    self.assertTrue(name in carried or HOST.fullmatch(name))
            # It would hide the program's own RPATH from the libraries that this library needs.
            self.assertNotIn("(RUNPATH)", dynamic, path)

    def test_it_needs_no_newer_c_library_than_debian_12_if_made_there(self):
        host = version(os.confstr("CS_GNU_LIBC_VERSION").split()[1])
        for path in programs(self.root):
            needs = subprocess.run(["readelf", "--version-info", path],
                                   capture_output=True, text=True, check=True).stdout
            newest = max(map(version, re.findall(r"GLIBC_([\d.]+)", needs)), default=(0,))
            self.assertLessEqual(newest, max(DEBIAN, host), path)

    def test_every_carried_file_has_its_licence(self):
        folder = self.root / "share" / "doc" / "weir" / "licenses"
        packages = [line.split(":")[0] for line in (folder / "packages.txt").read_text().splitlines()[2:]]
        self.assertGreater(len(packages), 20)
        for package in packages:
            self.assertGreater((folder / package / "copyright").stat().st_size, 100, package)
        self.assertIn("iproute2", packages)


if __name__ == "__main__":
    Bundle.config = sys.argv.pop(3)
    Bundle.cpack = sys.argv.pop(2)
    program.main()
