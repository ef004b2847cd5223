"""weir import and weir export as users call them. Run: python3 tests/apps/formats/test_formats.py WEIR"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position

ROOT = Path(__file__).resolve().parents[3]
NCCL = ROOT / "tests/core/formats/nccl"
TRACE = {"name": "net", "layers": [
    {"name": name, "forward": "1ms", "backward": "2ms", "tensors": [{"name": name, "elements": 5000000}]}
    for name in ("a", "b")]}


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def weir(self, *arguments, status=0):
        done = program.run(*map(str, arguments), cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        return done


class Import(Case):
    def test_an_imported_topology_passes_check_plan_bound_and_run(self):
        for path in sorted(NCCL.glob("*.xml")):
            with self.subTest(file=path.name):
                self.weir("import", "nccl-topo", path, "--count", 2, "--out", "mine.json")
                self.assertIn("mine.json: topology: ok", self.weir("check", "mine.json").stdout)
                experiment = {"topology": "mine.json", "trace": TRACE,
                              "strategies": ["ring", "hierarchical", "unified"]}
                (self.folder / "tiny.json").write_text(json.dumps(experiment))
                self.assertIn("Proved",
                              self.weir("plan", "tiny.json", "--strategy", "ring", "--prove").stdout)
                self.assertIn("No plan takes less than", self.weir("bound", "tiny.json").stdout)
                run = self.weir("run", "tiny.json", "--no-plots", "--out", "out").stdout
                self.assertIn("hierarchical", run)

    def test_the_topology_goes_to_the_output_and_assumptions_to_the_error_stream(self):
        done = self.weir("import", "nccl-topo", NCCL / "cloud.xml", "--name", "nd", "--nic-rate", "200Gbps",
                         "--nvlink", "240GB/s", "--memory-rate", "200GB/s", "--sum-rate", "50GB/s")
        topology = json.loads(done.stdout)
        self.assertEqual(topology["name"], "nd")
        group = topology["groups"][0]
        self.assertEqual(group["nics"][0]["rate"], "25GB/s")
        self.assertEqual(group["nvlink"], {"switch": {"rate": "240GB/s"}})
        self.assertEqual(group["numa"], [{"memory_rate": "200GB/s", "sum_rate": "50GB/s"}] * 2)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("has no network latency", done.stderr)

    def test_mistakes_are_reported_with_their_line_and_leave_no_file(self):
        (self.folder / "broken.xml").write_text('<system>\n<cpu numaid="0">\n<pci>\n</cpu></system>')
        done = self.weir("import", "nccl-topo", "broken.xml", "--out", "mine.json", status=2)
        self.assertEqual(done.stderr, "weir import: broken.xml:4: this is not XML: mismatched tag\n")
        self.assertFalse((self.folder / "mine.json").exists())
        self.assertIn("'fast'", self.weir("import", "nccl-topo", NCCL / "cloud.xml", "--nic-rate", "fast",
                                          status=2).stderr)


class Export(Case):
    def topologies(self):
        return (sorted(ROOT.glob("topologies/*.json"))
                + sorted(ROOT.glob("tests/core/formats/platforms/*.json")))

    def test_the_topology_that_is_exported_is_not_written_over(self):
        self.weir("import", "nccl-topo", NCCL / "cloud.xml", "--out", "mine.json")
        before = (self.folder / "mine.json").read_bytes()
        for command in ("simgrid", "graphviz"):
            with self.subTest(command=command):
                error = self.weir("export", command, "mine.json", "--out", self.folder / "mine.json",
                                  status=2).stderr
                self.assertIn("mine.json: this file is an input", error)
                self.assertEqual((self.folder / "mine.json").read_bytes(), before)

    def test_platforms_are_xml_in_the_order_that_simgrid_needs(self):
        for path in self.topologies():
            with self.subTest(file=path.name):
                self.weir("export", "simgrid", path, "--out", "platform.xml")
                root = xml.etree.ElementTree.parse(self.folder / "platform.xml").getroot()
                self.assertEqual((root.tag, [child.tag for child in root]), ("platform", ["config", "zone"]))

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_dot_takes_the_graphs(self):
        for path in self.topologies():
            with self.subTest(file=path.name):
                graph = self.weir("export", "graphviz", path).stdout
                drawn = subprocess.run(["dot", "-Tsvg"], input=graph, capture_output=True,
                                       text=True, timeout=60, check=False)
                self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))

    def test_help_reports_where_timelines_come_from(self):
        self.assertIn("""for Perfetto: weir run EXPERIMENT --set 'timelines=["all"]'""",
                      self.weir("export", "--help").stdout)

    def test_a_wrong_topology_is_reported(self):
        (self.folder / "bad.json").write_text('{"name": "bad"}')
        self.assertIn("bad.json:1: 'groups' is missing",
                      self.weir("export", "graphviz", "bad.json", status=2).stderr)


if __name__ == "__main__":
    program.main()
