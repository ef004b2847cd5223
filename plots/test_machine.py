"""Tests for drawn machines. Run: /usr/bin/python3 plots/test_machine.py"""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plots"))

import machine  # noqa: E402  (found only with the path above)
import style  # noqa: E402

PAIRS = [[a, b] for a in range(4) for b in range(a + 1, 4)]
MESH = {"name": "mesh", "groups": [{
    "name": "gpu", "numa": [{}] * 4, "sockets": [{"between": pair, "rate": "16GB/s"} for pair in PAIRS],
    "gpus": [{"at": f"numa{i}", "rate": "24GB/s"} for i in (3, 1, 0, 2)],
    "nvlink": {"pairs": [{"between": pair, "rate": {"in": "20GB/s", "out": f"{20 * (1 + sum(pair) % 2)}GB/s"}}
                         for pair in PAIRS]}}]}


class Machines(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        style.use()

    def drawn(self, path):
        """The figure and its texts, each with the box that it fills."""
        figure = machine.figure(*machine.read(path))
        self.addCleanup(machine.pyplot.close, figure)
        figure.canvas.draw()  # this places the legend
        renderer = figure.canvas.get_renderer()
        legend = figure.axes[0].get_legend()
        texts = list(figure.axes[0].texts) + (list(legend.get_texts()) if legend else [])
        return figure, [(text.get_text(), text.get_window_extent(renderer)) for text in texts
                        if text.get_text()]

    def written(self, topology):
        path = self.folder / "topology.json"
        path.write_text(json.dumps(topology))
        return path

    def main(self, *arguments):
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = machine.main([str(argument) for argument in arguments])
        return status, out.getvalue().splitlines(), error.getvalue()

    def test_no_text_covers_another_or_leaves_the_picture(self):
        paths = [path for folder in ("topologies", "tests/core/formats/platforms")
                 for path in sorted(ROOT.glob(f"{folder}/*.json"))]
        self.assertGreater(len(paths), 9)
        for path in paths + [self.written(MESH)]:
            figure, texts = self.drawn(path)
            for i, (name, box) in enumerate(texts):
                with self.subTest(topology=path.stem, text=name):
                    self.assertTrue(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1)
                    self.assertTrue(figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1)
                    self.assertEqual([other for other, its in texts[:i] if box.overlaps(its)], [])

    def test_every_device_and_rate_is_shown(self):
        _, texts = self.drawn(ROOT / "topologies/h200-nvlink.json")
        shown = [text for text, _ in texts]
        for name, count in [("gpu7\n141GB", 1), ("nic7", 1), ("p7", 1), ("in 444 Gbps\nout 443.2 Gbps", 8),
                            ("400 Gbps", 9), ("3.6 Tbps", 8), ("1.152 Tbps", 1), ("NVSwitch", 1),
                            ("network, 3us", 1), ("gpu: 8 machines", 1), ("cpu: 4 machines", 1),
                            ("numa0\nmemory 2.458 Tbps\nsum 840 Gbps", 2)]:
            self.assertEqual(shown.count(name), count, name)

    def test_a_mesh_has_a_line_for_each_rate_and_says_once_what_all_sockets_have(self):
        _, texts = self.drawn(self.written(MESH))
        shown = [text for text, _ in texts]
        self.assertIn("each two 128 Gbps", shown)
        self.assertIn("NVLink 160 Gbps", shown)
        self.assertIn("NVLink in 160 Gbps, out 320 Gbps", shown)
        self.assertNotIn("network", shown)

    def test_the_picture_is_written_twice_and_its_bytes_are_the_same_each_time(self):
        topology = ROOT / "topologies/toy-two-machines.json"
        files = []
        for _ in range(2):
            status, lines, error = self.main(topology, self.folder / "toy.png")
            self.assertEqual((status, error), (0, ""))
            self.assertEqual(lines, [str(self.folder / "toy.png"), str(self.folder / "toy.pdf")])
            files.append([Path(line).read_bytes() for line in lines])
        self.assertEqual(files[0], files[1])

    def test_an_invalid_topology_is_reported_in_one_line(self):
        for topology in ({"name": "x"},
                         {"name": "x", "groups": [{"name": "g", "sockets": [{"between": [0, 1]}]}]},
                         {"name": "x", "groups": [{"name": "g", "gpus": [{"at": "p9"}]}]}, [1]):
            status, lines, error = self.main(self.written(topology), self.folder / "out")
            self.assertEqual((status, lines, error.count("\n")), (1, [], 1), error)
            self.assertIn("weir check", error)
        self.assertIn("No such file", self.main(self.folder / "none.json", self.folder / "out")[2])


if __name__ == "__main__":
    unittest.main()
