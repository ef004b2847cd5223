"""weir import chakra as users call it. Run: python3 tests/apps/formats/test_chakra.py WEIR"""

import gzip
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import chakra  # noqa: E402  pylint: disable=wrong-import-position
import importing  # noqa: E402  pylint: disable=wrong-import-position
import kineto  # noqa: E402  pylint: disable=wrong-import-position
import program  # noqa: E402  pylint: disable=wrong-import-position


class Chakra(importing.Case):
    format = "chakra"

    def nodes(self, kind="int64", packed=True):
        return [chakra.node(1, "forward", chakra.COMPUTE, us=100, packed=packed),
                chakra.node(2, "LinearBackward", chakra.COMPUTE, [1], us=50, packed=packed),
                chakra.summed(3, "second", [2], 400, kind, packed=packed),
                chakra.node(4, "LinearBackward", chakra.COMPUTE, [2], us=150, packed=packed),
                chakra.summed(5, "first", [4], 1200, kind, packed=packed, control=[3]),
                chakra.node(6, "step", chakra.COMPUTE, [3, 5], us=40, packed=packed)]

    def layers(self, trace):
        return [(layer["name"], importing.nanoseconds(layer["forward"]),
                 importing.nanoseconds(layer["backward"]),
                 [(tensor["elements"], tensor["dtype"]) for tensor in layer["tensors"]])
                for layer in trace["layers"]]

    def test_a_layer_for_each_sum_with_all_that_was_computed(self):
        trace, remarks = self.imported(self.write(chakra.trace(*self.nodes()), "net.0.et"))
        self.assertEqual(self.layers(trace), [("first", 105_000, 150_000, [(300, "f32")]),
                                              ("second", 35_000, 50_000, [(100, "f32")])])
        self.assertEqual(importing.total(trace), (100 + 50 + 150 + 40) * 1000)
        self.assertIn("40 us after the last gradient", remarks)
        trace, _ = self.imported(self.write(chakra.trace(*self.nodes()), "net.0.et"),
                                 "--no-update", "--dtype", "f16")
        self.assertEqual(self.layers(trace), [("first", 75_000, 150_000, [(600, "f16")]),
                                              ("second", 25_000, 50_000, [(200, "f16")])])

    def test_kinds_of_numbers_packing_unknown_fields_and_compression_change_nothing(self):
        plain, _ = self.imported(self.write(chakra.trace(*self.nodes()), "net.et"))
        for kind in chakra.KINDS:
            if kind != "bool":
                with self.subTest(kind=kind):
                    self.assertEqual(self.imported(self.write(chakra.trace(*self.nodes(kind, False)),
                                                              "net.et"))[0], plain)
        more = [one + chakra.number(99, 7) + chakra.text(100, "later") + chakra.attribute("new", 3, "double")
                for one in self.nodes()]
        self.assertEqual(self.imported(self.write(gzip.compress(chakra.trace(*more)), "net.et"))[0], plain)
        self.assertEqual(self.imported(self.write(chakra.trace(*self.nodes()[::-1]), "net.et"))[0], plain)

    def test_without_names_a_third_is_forward_and_cpu_ops_do_not_count_beside_a_gpus(self):
        nodes = [chakra.node(1, "kernel", chakra.COMPUTE, us=300,
                             attributes=chakra.attribute("is_cpu_op", 0, "bool")),
                 chakra.node(2, "aten::linear", chakra.COMPUTE, [1], us=999,
                             attributes=chakra.attribute("is_cpu_op", 1, "bool")),
                 chakra.summed(3, "all", [2], 8), chakra.summed(4, "gather", [2], 8, comm=chakra.ALL_GATHER)]
        trace, remarks = self.imported(self.write(chakra.trace(*nodes), "net.et"))
        self.assertEqual(self.layers(trace), [("all", 100_000, 200_000, [(2, "f32")])])
        self.assertIn("no node has 'backward' in its name", remarks)
        self.assertIn("1 all-gather left out", remarks)

    def test_groups_are_asked_for_and_ranks_must_agree(self):
        nodes = self.nodes()[:4] + [chakra.summed(5, "tensor parallel", [2], 4, group="tp"),
                                    chakra.summed(7, "mine", [4], 80, group="dp")]
        nodes[2] = chakra.summed(3, "second", [2], 400, group="dp")
        file = self.write(chakra.trace(*nodes), "net.0.et")
        self.assertIn("'dp' (2), 'tp' (1); select the group of the gradients with --group",
                      self.refused(file))
        self.assertEqual([layer["name"] for layer in self.imported(file, "--group", "dp")[0]["layers"]],
                         ["mine", "second"])
        self.assertIn("no collective of group 'pp' sums gradients", self.refused(file, "--group", "pp"))
        fast = self.write(chakra.trace(*self.nodes()), "fast.et")
        slow = self.nodes()
        slow[3] = chakra.node(4, "LinearBackward", chakra.COMPUTE, [2], us=500)
        slow = self.write(chakra.trace(*slow), "slow.et")
        self.assertEqual(importing.total(self.imported(fast, slow)[0]), 690_000)
        other = self.nodes()
        other[4] = chakra.summed(5, "first", [4], 1204)
        self.assertIn("sum different bytes", self.refused(fast, self.write(chakra.trace(*other), "other.et")))

    def test_parents_that_the_file_lacks_are_left_out_and_counted(self):
        expected = self.layers(self.imported(self.write(chakra.trace(*self.nodes()), "net.et"))[0])
        nodes = self.nodes()
        nodes[2] = chakra.summed(3, "second", [2, 77], 400)
        nodes[3] = chakra.node(4, "LinearBackward", chakra.COMPUTE, [2], [78, 79], us=150)
        trace, remarks = self.imported(self.write(chakra.trace(*nodes), "lost.et"))
        self.assertEqual(self.layers(trace), expected)
        self.assertIn("dependences on nodes that are not in the file are left out: 3", remarks)

    def test_a_sum_whose_parents_the_file_lacks_is_placed_by_its_start(self):
        nodes = [chakra.node(1, "Forward", chakra.COMPUTE, us=100, start=1),
                 chakra.node(2, "Backward", chakra.COMPUTE, [1], us=50, start=101),
                 chakra.summed(3, "sum", [77], 400, start=160),
                 chakra.node(4, "step", chakra.COMPUTE, [1], us=30, start=170)]
        trace, remarks = self.imported(self.write(chakra.trace(*nodes), "lost.et"), "--no-update")
        self.assertEqual(self.layers(trace), [("sum", 100_000, 50_000, [(100, "f32")])])
        self.assertIn("not in the file are left out: 1", remarks)

    def test_nonsense_is_refused_with_its_place(self):
        good = chakra.trace(*self.nodes())
        metadata = chakra.delimited(chakra.text(1, "0.0.4"))
        def replaced(place, node):
            nodes = self.nodes()
            nodes[place] = node
            return chakra.trace(*nodes)
        circle = self.nodes()
        circle[1] = chakra.node(2, "LinearBackward", chakra.COMPUTE, [1, 4], us=50)
        for content, error in (
                (good[:-3], "message 7: it is cut short"),
                (good + b"\xff", "message 8: its length is cut short"),
                (good + b"\xff" * 12, "its length has more than 10 bytes"),
                (good + chakra.varint(2**40), "at most 64 MiB are allowed"),
                (metadata + chakra.delimited(b"\x08\x80"), "a number is cut short"),
                (metadata + chakra.delimited(b"\x12\xff\xff\xff\xff\x0f"),
                 "a field of 4294967295 bytes is cut short"),
                (metadata + chakra.delimited(b"\x0b"), "wire type 3"),
                (metadata + chakra.delimited(b"\x00\x00"), "0 is not a valid field number"),
                (chakra.trace(*circle),
                 "wait for each other: node 2 ('LinearBackward'), which waits for node 4"),
                (replaced(2, chakra.summed(3, "lost", [77], 400)),
                 "node 3 ('lost') sums gradients but waits for no node that is in the file"),
                (replaced(3, chakra.node(4, "x", 23, [2])), "its type is 23"),
                (replaced(3, chakra.node(4, "x", 0, [2])), "it has no type"),
                (replaced(3, chakra.node(2, "x", chakra.COMPUTE, [2])), "have the same id"),
                (replaced(3, chakra.node(4, "x", chakra.COMPUTE, [2], us=2**60)), "which is more than a day"),
                (replaced(2, chakra.summed(3, "alone", [], 400)), "sums gradients but waits for no node"),
                (replaced(2, chakra.summed(3, "empty", [2], 0)), "has no comm_size"),
                (replaced(2, chakra.summed(3, "minus", [2], -4)), "its comm_size is -4"),
                (replaced(2, chakra.summed(3, "odd", [2], 401)),
                 "401 bytes, which is not a whole number of f32"),
                (replaced(2, chakra.summed(3, "kind", [2], 4, comm=44)), "its comm_type is 44"),
                (replaced(2, chakra.node(3, "typeless", chakra.COLLECTIVE, [2])),
                 "is a collective without comm_type"),
                (chakra.trace(chakra.node(1, "timeless", chakra.COMPUTE), chakra.summed(2, "sum", [1], 400)),
                 "no node has a compute time (duration_micros)"),
                (chakra.trace(*self.nodes()[:2]), "no collective sums gradients"),
                (json.dumps(kineto.recording(kineto.events())).encode(),
                 "this looks like JSON; expected a Chakra execution trace"),
                (b"[]", "Import recordings of PyTorch's profiler with weir import kineto"),
                (metadata, "there are no nodes"), (b"", "there are no nodes"),
                (b"\x00\x00\x00", "it has no type"),
                (gzip.compress(good)[:-9], "it ends inside compressed data")):
            with self.subTest(error=error):
                self.assertIn(error, self.refused(self.write(content, "bad.et")))

    def test_no_cut_and_no_changed_byte_breaks_it(self):
        good = chakra.trace(*self.nodes())
        for at in range(0, len(good), 9):
            for content in (good[:at], good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1:]):
                done = program.run("import", "chakra", str(self.write(content, "bad.et")))
                self.assertIn(done.returncode, (0, 2), done.stderr)
                self.assertTrue(done.returncode == 0 or done.stderr.startswith("weir import: "), done.stderr)


if __name__ == "__main__":
    program.main()
