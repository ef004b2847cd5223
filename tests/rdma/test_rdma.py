"""Jobs over RDMA, as users start them, in a guest (README.md) with devices at 10.77.0.1 and 10.77.0.2.

Run as: tests/rdma/guest -- python3 tests/rdma/test_rdma.py WEIR
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

APPS = Path(__file__).resolve().parents[1] / "apps"
sys.path[:0] = [str(APPS), str(APPS / "real")]

import program  # noqa: E402  pylint: disable=wrong-import-position
from real import Real, layers, nodes_of  # noqa: E402  pylint: disable=wrong-import-position

DEVICES = ("10.77.0.1", "10.77.0.2")
NO_DEVICES = "mount -t tmpfs none /dev/infiniband"  # in a mount namespace of its own


def topology(machines):
    nic = {"at": "numa0", "rate": "1Gbps"}
    return {"name": "alike",
            "groups": [{"name": "gpu", "count": machines, "gpus": [{"at": "numa0"}], "nics": [nic]}]}


class Rdma(Real):
    def setUp(self):
        super().setUp()
        self.shell = self.folder / "shell"  # in place of ssh: the host's name, then words for a shell
        self.shell.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
        self.shell.chmod(0o700)
        self.write()

    def write(self, **more):
        super().write(**{"topology": topology(3), "strategies": ["unified", "ring", "colocated-ps"],
                         "baseline": "ring", "trace": {"name": "net", "layers": layers("f32", 30_001)},
                         **more})

    def options(self, addresses, *more):
        hosts = self.folder / "hosts"
        hosts.write_text("".join(f"host{i} {address}\n" for i, address in enumerate(addresses)))
        return ("--on", "cluster", "--listen", "10.77.0.1", "--remote-shell", str(self.shell),
                "--hosts", str(hosts), "--records", *more)

    def moved(self):
        """Through what, as the records of the last run have it."""
        header = json.loads(next(self.out.glob("*unified*.record")).read_bytes().split(b"\n")[0])
        return header["world_settings"].partition(" channels")[0]

    @staticmethod
    def sent():
        """Packets, by each device."""
        return [int(Path(f"/sys/class/infiniband/rxe{i}/ports/1/hw_counters/sent_pkts").read_text())
                for i in (0, 1)]


class Jobs(Rdma):
    def test_three_machines_on_two_devices_get_the_same_sums_as_over_tcp(self):
        checked = []
        for transport in ("rdma", "tcp"):
            done = self.run_weir(*self.options((*DEVICES, DEVICES[0]), "--transport", transport, "--verify"))
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual(self.moved(), f"transport={transport} {transport}_pairs=3")
            # Every element of every sum is what it should be, to the bit: they are whole numbers that f32
            # holds.
            checked.append([(row["strategy"], row["checked_elements"]) for row in self.json()["rows"]])
        self.assertEqual(checked[0], checked[1])
        self.assertEqual({strategy for strategy, _ in checked[0]}, {"unified", "ring", "colocated-ps"})
        self.assertTrue(all(elements > 0 for _, elements in checked[0]))

    def at_work(self):
        """A run of hours, once its machines are at work."""
        self.write(strategies=["unified"], baseline="unified", iterations=10_000)
        run = subprocess.Popen(self.run_command(*self.options((*DEVICES, DEVICES[0]), "--transport", "rdma")),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        deadline = time.monotonic() + 60
        nodes = {}
        while len(nodes) < 3:
            self.assertLess(time.monotonic(), deadline)
            nodes = nodes_of(run)
            time.sleep(0.2)
        before = self.sent()
        while any(now - then < 1000 for now, then in zip(self.sent(), before)):  # to meet takes a few
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        return run, nodes

    def test_a_machine_that_is_killed_is_named_within_five_seconds(self):
        run, nodes = self.at_work()
        os.kill(nodes[1], signal.SIGKILL)
        begin = time.monotonic()
        _, errors = run.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(run.returncode, 1)
        self.assertIn("gpu[1]", json.dumps(self.json()["failed"]) + errors)
        self.assertTrue(self.gone(nodes))

    def test_a_device_whose_peer_does_not_answer_says_so_and_is_named(self):
        run, nodes = self.at_work()
        subprocess.run(["modprobe", "sch_netem"], check=True)
        subprocess.run("tc qdisc add dev cable0 root netem loss 100%".split(), check=True)
        self.addCleanup(subprocess.run, "tc qdisc del dev cable0 root".split(), check=True)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1)
        # Soft-RoCE sometimes reports only what it flushes after that.
        self.assertRegex(json.dumps(self.json()["failed"]) + errors,
                         r"machine gpu\[\d\] is lost: rxe\d port 1: "
                         "(transport retry counter exceeded|Work Request Flushed Error)")
        self.assertTrue(self.gone(nodes))

    def check_lost(self, command, why):
        """Returns the command, which may wait until nobody uses the device."""
        run, nodes = self.at_work()
        begin = time.monotonic()
        loss = subprocess.Popen(command.split())
        _, errors = run.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(json.dumps(self.json()["failed"]) + errors, r"machine gpu\[\d\] is lost: " + why)
        self.assertTrue(self.gone(nodes))
        return loss

    def test_a_device_that_is_removed_is_named_within_five_seconds(self):
        self.addCleanup(subprocess.run, "rdma link add rxe0 type rxe netdev cable0".split(), check=True)
        removal = self.check_lost("rdma link delete rxe0", "rxe0 port 1 of this host was removed")
        self.assertEqual(removal.wait(20), 0)

    def test_a_device_whose_interface_goes_down_is_named_within_five_seconds(self):
        for command in ("ip neighbour add 10.77.0.1 dev cable1 lladdr 02:00:0a:4d:00:01 nud permanent",
                        "ip link set cable1 up"):
            self.addCleanup(subprocess.run, command.split(), check=True)  # the last first
        self.check_lost("ip link set cable1 down", r"rxe\d port 1: ").wait(20)

    def test_a_machine_without_a_device_is_named(self):
        self.shell.write_text(f"""#!/bin/sh
host=$1; shift
case $host in
  host2) exec unshare --mount sh -c "{NO_DEVICES} && $*" ;;
  *) exec sh -c "$*" ;;
esac
""")
        done = self.run_weir(*self.options((*DEVICES, "127.0.0.1"), "--transport", "rdma"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(json.dumps(self.json()["failed"]),
                         r"(machine gpu\[2\] at 127.0.0.1:\d+: it|the local host) cannot use RDMA: "
                         r"RDMA's connection manager is not available")


class Ports(Rdma):
    """Of machines that listen at an address which no device has."""

    def job(self, *nics):
        """Of one machine for each list of NICs; what each device sent."""
        groups = [{"name": f"gpu{i}", "gpus": [{"at": "numa0"}],
                   "nics": [{"at": "numa0", "rate": "1Gbps", **nic} for nic in own]}
                  for i, own in enumerate(nics)]
        self.write(topology={"name": "alike", "groups": groups}, strategies=["unified"], baseline="unified")
        before = self.sent()
        done = self.run_weir(*self.options(["127.0.0.1"] * len(nics), "--transport", "rdma", "--verify"))
        return done, [after - before for after, before in zip(self.sent(), before)]

    def test_those_that_the_topology_names_are_taken(self):
        for devices in (("rxe0", "rxe1"), ("rxe1", "rxe1")):
            done, sent = self.job(*([{"rdma": {"device": device}}] for device in devices))
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual([packets > 0 for packets in sent], ["rxe0" in devices, True])

    def test_one_that_the_host_lacks_is_reported(self):
        done, _ = self.job([{"rdma": {"device": "rxe1"}}], [{"rdma": {"device": "rxe1", "port": 2}}])
        self.assertEqual(done.returncode, 1)
        self.assertIn("the topology names rxe1 port 2, but this host has rxe0 port 1, rxe1 port 1",
                      json.dumps(self.json()["failed"]))

    def test_by_default_the_nearest_is_taken_and_several_nics_share_the_bytes(self):
        done, sent = self.job([{}], [{}])  # as neither reports its node, the first
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual([packets > 0 for packets in sent], [True, False])
        done, sent = self.job([{}, {}], [{}, {}])
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertGreater(min(sent), 0.7 * max(sent))


class Mixed(Rdma):
    """Pretended hosts: one with another boot id, and one with its own network and no device."""

    def setUp(self):
        super().setUp()
        number = self.folder / "boot_id"
        number.write_text("another\n")
        self.shell.write_text(f"""#!/bin/sh
host=$1; shift
case $host in
  host1) exec unshare --mount sh -c "mount --bind {number} /proc/sys/kernel/random/boot_id && $*" ;;
  host2) exec ip netns exec far sh -c "{NO_DEVICES} && $*" ;;
  *) exec sh -c "$*" ;;
esac
""")
        for command in ("ip netns add far", "ip link add near0 type veth peer name far0 netns far",
                        "ip addr add 10.78.0.1/24 dev near0", "ip link set near0 up",
                        "ip -n far addr add 10.78.0.2/24 dev far0", "ip -n far link set far0 up",
                        "ip -n far link set lo up", "ip -n far route add default via 10.78.0.1"):
            subprocess.run(command.split(), check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", "far"], check=True)

    def check(self, addresses, moved, *more):
        """Returns what it remarks."""
        done = self.run_weir(*self.options(addresses, "--transport", "auto", *more))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.moved(), f"transport=auto {moved}")
        return done.stderr

    def test_each_pair_takes_the_best_that_it_can(self):
        self.write(strategies=["unified"], baseline="unified")
        remarks = self.check((*DEVICES, "10.78.0.2"), "rdma_pairs=1 tcp_pairs=2", "--poll", "0s")
        self.assertRegex(remarks,
                         r"^weir: messages stay on TCP between some machines: RDMA's connection manager is "
                         r"not available \(/dev/infiniband/rdma_cm\): [^\n]*\n$")

    def test_sealed_messages_do_not_use_devices(self):
        self.write(strategies=["unified"], baseline="unified")
        self.assertEqual(self.check((*DEVICES, "10.78.0.2"), "tcp_pairs=3", "--encrypt"), "")

    def test_devices_that_do_not_reach_each_other_are_detected(self):
        subprocess.run("rdma link add rxe2 type rxe netdev near0".split(), check=True)
        self.addCleanup(subprocess.run, "rdma link del rxe2".split(), check=True)
        self.write(topology=topology(2), strategies=["unified"], baseline="unified")
        addresses = (DEVICES[0], "10.78.0.1")
        self.assertIn("weir: messages stay on TCP between some machines: ",
                      self.check(addresses, "tcp_pairs=1"))
        done = self.run_weir(*self.options(addresses, "--transport", "rdma"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(json.dumps(self.json()["failed"]),
                         r"machine gpu\[.\] at 10.7.*(the local host|it) cannot use RDMA: ")

    def test_many_connections_that_lead_nowhere_take_as_long_as_one(self):
        subprocess.run("rdma link add rxe2 type rxe netdev near0".split(), check=True)
        self.addCleanup(subprocess.run, "rdma link del rxe2".split(), check=True)
        self.write(topology=topology(2), strategies=["unified"], baseline="unified")
        took = []
        for channels in ("1", "16"):
            begin = time.monotonic()
            self.check((DEVICES[0], "10.78.0.1"), "tcp_pairs=1", "--channels", channels)
            took.append(time.monotonic() - begin)
        self.assertLess(took[1] - took[0], 8)  # each that is tried alone takes a second or two


class Rates(unittest.TestCase):
    """Both ways at once: perftest reports the sum of both ways, and Weir the rate of one."""

    def perftest(self, size):
        """Of bytes a second; 0 if perftest could not read its clock, as happens while the host is busy."""
        listening = f":{18515:04X} "
        command = ("ib_write_bw", "-x", "1", "-F", "-b", "-s", str(size), "-D", "2")
        server = subprocess.Popen((*command, "-d", "rxe1"), stdout=subprocess.DEVNULL)
        self.addCleanup(server.kill)
        while not any(listening in Path(f"/proc/net/tcp{six}").read_text() for six in ("", "6")):
            time.sleep(0.1)
        done = subprocess.run((*command, "-d", "rxe0", DEVICES[1]), capture_output=True,
                              text=True, timeout=60, check=True)
        server.wait(20)
        row = re.search(rf"^ {size} .*", done.stdout, re.MULTILINE)[0].split()
        return float(row[3]) * 2**20  # a second

    def bench(self, size, *more, addresses=DEVICES, seconds=1):
        done = program.run("bench", "transport", "--engine", "rdma",
                           "--addresses", ",".join(addresses), "--json",
                           "--sizes", f"{size}B", "--channels", "1", "--io-threads", "1",
                           "--seconds", str(seconds), "--repetitions", "1", *more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        document = json.loads(done.stdout)
        row, = document["rows"]
        self.assertEqual((row["registrations"], row["copied_bytes"]), (0, 0))
        return document, row

    def weir(self, size):
        in_flight = min(128, (32 << 20) // size)  # as many as perftest has, where memory has room for them
        return 2 * self.bench(size, "--under-way", str(in_flight))[1]["nodes_bytes_per_s"]

    def test_what_slows_receivers_down_can_be_switched_on(self):
        for options, expected in (((), (0, 1)), (("--offset", "68B"), (68, 1)), (("--entries", "3"), (0, 3))):
            document, row = self.bench(64 << 10, *options, seconds=0.2)
            self.assertEqual((document["offset_bytes"], document["entries"]), expected)
            self.assertGreater(row["writes_bytes_per_s"], 0)
        self.bench(64 << 10, addresses=(DEVICES[0], DEVICES[0]), seconds=0.2)  # a loop within the device

    def test_nodes_move_what_perftest_moves(self):
        for size in (64 << 10, 1 << 20, 4 << 20):
            # Whatever else the host does only takes from a rate: of each the best counts, of several in turn.
            nodes, writes = 0.0, 0.0
            for turn in range(6):
                nodes, writes = max(nodes, self.weir(size)), max(writes, self.perftest(size))
                if turn > 0 and nodes > 0.85 * writes > 0:
                    break
            print(f"messages of {size} bytes: {nodes / 1e6:.0f} MB/s, "
                  f"and ib_write_bw {writes / 1e6:.0f} MB/s")
            if writes == 0:
                self.skipTest("perftest could not read its clock in any turn: the host is too busy to "
                              "compare rates")
            self.assertGreater(nodes, 0.85 * writes)


if __name__ == "__main__":
    program.main()
