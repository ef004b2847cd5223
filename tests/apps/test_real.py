"""weir run --on local and weir node, as users call them. Run: python3 tests/apps/test_real.py WEIR"""

import array
import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

import program
from tiny import Case

GPUS = {"name": "gpu", "count": 3, "numa": [{"memory_rate": "100GB/s"}],
        "gpus": [{"at": "numa0"}, {"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]}
CPUS = {"name": "cpu", "count": 2, "nics": [{"at": "numa0", "rate": "8Gbps"}]}
THREADS = 7  # of a machine's process at work: its own, three of the control channel, two that move bytes, one that sums
STRATEGIES = ["unified", "ring", "flat-ring", "hierarchical", "double-tree", "ps", "colocated-ps", "horovod", "mxnet-ps"]


def layers(dtype, elements, backward="1ms"):
    return [{"name": name, "forward": "1ms", "backward": backward,
             "tensors": [{"name": f"{name}{i}", "elements": elements + i, "dtype": dtype} for i in range(3)]}
            for name in ("a", "b")]


def nodes_of(process):
    """The processes of the machines of the run that this one leads, by machine."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if words[1:2] == [b"node"] and process.pid in ancestors(int(folder.name)):
                found[int(words[words.index(b"--machine") + 1])] = int(folder.name)
        except (OSError, ValueError):
            pass
    return found


def ancestors(pid):
    found = []
    while pid > 1:
        status = Path(f"/proc/{pid}/stat").read_text()
        pid = int(status[status.rindex(")") + 2:].split()[1])
        found.append(pid)
    return found


def threads(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def exists(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] != "Z"
    except OSError:
        return False


class Real(Case):
    def write(self, **more):
        whole = {"topology": {"name": "lab", "groups": [GPUS, CPUS]},
                 "trace": {"name": "net", "layers": layers("f32", 100_000)},
                 "strategies": STRATEGIES, "baseline": "ring", "partition_size": "100KB", "iterations": 2, **more}
        (self.folder / "tiny.json").write_text(json.dumps(whole, indent=1))

    def run_on_local(self, *more):
        return self.run_weir("--on", "local", *more)

    def long_run(self, *more):
        """A run of minutes, once its machines are at work."""
        self.write(strategies=["ring"], iterations=10_000,
                   trace={"name": "net", "layers": layers("f32", 100_000, "5ms")})
        process = subprocess.Popen(self.run_command("--on", "local", *more), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        for _ in range(300):
            nodes = nodes_of(process)
            if len(nodes) == 5 and all(threads(pid) >= THREADS for pid in nodes.values()):
                time.sleep(1)
                return process, nodes
            time.sleep(0.1)
        self.fail("the machines' processes did not come")

    def wait_for_key(self, key):
        deadline = time.monotonic() + 20
        while not (key.is_file() and key.read_text().endswith("}")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def gone(self, nodes):
        for _ in range(50):
            if not any(exists(pid) for pid in nodes.values()):
                return True
            time.sleep(0.1)
        return False


class Sums(Real):
    def test_every_strategy_sums_every_element_right_and_has_a_row(self):
        for dtype in ("f32", "f16", "bf16"):
            self.write(trace={"name": "net", "layers": layers(dtype, 30_001)})
            done = self.run_on_local("--verify")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual({row["strategy"] for row in self.rows()}, set(STRATEGIES))
        self.assertEqual(self.json()["world"]["name"], "processes on one host")

    def test_local_stages_over_several_gpus_sum_right(self):
        for local in ("reduce", "reduce_scatter"):
            self.write(strategies=["unified", "ps"], baseline="ps", local=local)
            done = self.run_on_local("--verify")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_several_connections_and_threads_do_the_same(self):
        done = self.run_on_local("--verify", "--channels", "3", "--io-threads", "2", "--workers", "3",
                                 "--set", "credit=1", "--set", 'strategies=["unified","ring"]')
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_machines_with_several_cards_sum_right(self):
        cards = [{"at": "numa0", "rate": "8Gbps"}, {"at": "numa0", "rate": "4Gbps"}]
        topology = {"name": "cards", "groups": [{**GPUS, "nics": cards}, CPUS]}
        for transport in ("tcp", "shm"):
            strategies = [name for name in STRATEGIES if name != "hierarchical"]
            self.write(topology=topology, strategies=strategies)
            done = self.run_on_local("--verify", "--transport", transport)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual({row["strategy"] for row in self.rows()}, set(strategies))
        self.write(topology=topology, strategies=["hierarchical"], baseline="hierarchical")
        done = self.run_on_local()
        self.assertEqual(done.returncode, 1)
        self.assertIn("each GPU of gpu[0] sends its share through the NIC beside it, which real runs cannot yet",
                      done.stderr)

    def test_machines_that_share_memory_sum_right(self):
        for dtype in ("f32", "bf16"):
            self.write(trace={"name": "net", "layers": layers(dtype, 30_001)})
            done = self.run_on_local("--verify", "--transport", "shm")
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            self.assertEqual({row["strategy"] for row in self.rows()}, set(STRATEGIES))
        self.write(strategies=["unified", "ring"], local="reduce_scatter")
        done = self.run_on_local("--verify", "--transport", "shm", "--channels", "3", "--io-threads", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("transport=shm", json.dumps(self.json()["world"]))

    def test_an_iteration_takes_at_least_its_computation(self):
        self.write(strategies=["ring"], trace={"name": "net", "layers": layers("f32", 1000, "50ms")})
        self.run_on_local()
        self.assertGreater(int(self.rows()[0]["iteration_ns"]), 102e6)


def shared_memory(nodes):
    """Mappings of other nodes' memory, and what has a name that outlives processes."""
    mapped = sum("/memfd:weir-" in Path(f"/proc/{pid}/maps").read_text() for pid in nodes.values())
    return mapped, sorted(os.listdir("/dev/shm"))


class Cluster(Real):
    def setUp(self):
        super().setUp()
        self.write(strategies=["unified"], baseline="unified")
        shell = self.folder / "shell"  # in place of ssh: the host's name, then words for a shell
        shell.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
        shell.chmod(0o700)
        self.hosts = self.folder / "hosts"
        self.hosts.write_text("# by machine\n" + "somewhere 127.0.0.1\n" * 4 + "127.0.0.1\n")
        self.options = ("--on", "cluster", "--listen", "127.0.0.1", "--remote-shell", str(shell), "--verify")

    def test_nodes_are_started_on_hosts(self):
        done = self.run_weir(*self.options, "--encrypt", "--hosts", self.hosts)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_clocks_of_hosts_may_differ(self):
        shell = self.folder / "elsewhere"  # each host's clock is hours away from the others'
        shell.write_text('#!/bin/sh\nhost=$1; shift\n'
                         'exec unshare --time --monotonic $((host * 10000)) sh -c "$*"\n')
        shell.chmod(0o700)
        if subprocess.run([shell, "1", "true"], capture_output=True).returncode != 0:
            self.skipTest("this host lets nobody make clocks")
        self.hosts.write_text("".join(f"{host} 127.0.0.1\n" for host in range(5)))
        options = [str(shell) if option.endswith("shell") and option.startswith("/") else option
                   for option in self.options]
        done = self.run_weir(*options, "--hosts", self.hosts, "--records")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        record = next(self.out.glob("*.record")).read_bytes()
        times = array.array("q", record[record.index(b"\n") + 1:])
        # Submitted, started, completed: within the seconds that the run took, whichever machine wrote it.
        self.assertLess(max(times), 60e9)
        self.assertGreater(min(times), -1e9)

    def test_launch_is_run_on_a_cluster(self):
        command = self.run_command(*self.options[2:], "--hosts", self.hosts)
        command[command.index("run")] = "launch"
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_nodes_that_others_start_join_with_the_key(self):
        key = self.folder / "key"
        run = subprocess.Popen(self.run_command(*self.options, "--key", str(key)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.wait_for_key(key)
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        command = program.command("node", "--job", str(key), "--listen", "127.0.0.1")
        ranks = ("WEIR_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "RANK", "WEIR_RANK")
        nodes = [subprocess.Popen(command, env={**os.environ, name: str(machine)})
                 for machine, name in enumerate(ranks)]
        out, errors = run.communicate(timeout=60)
        self.assertEqual((run.returncode, errors), (0, ""), out)
        self.assertEqual([node.wait(10) for node in nodes], [0] * 5)
        self.assertFalse(key.exists())

    def joined_by_hand(self, machines):
        """A run, and nodes of these machines that have joined it."""
        key = self.folder / "key"
        run = subprocess.Popen(self.run_command(*self.options, "--key", str(key)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.wait_for_key(key)
        nodes = [subprocess.Popen(program.command("node", "--job", str(key), "--listen", "127.0.0.1", "--machine",
                                                  str(machine)), stderr=subprocess.PIPE, text=True)
                 for machine in machines]
        for node in nodes:
            self.addCleanup(node.kill)
        time.sleep(1)
        return run, nodes

    def test_a_machine_that_dies_while_others_have_not_joined_is_named_within_five_seconds(self):
        run, nodes = self.joined_by_hand((0, 1, 2))
        nodes[1].kill()
        begin = time.monotonic()
        told = [process.communicate(timeout=20)[1] for process in (nodes[0], nodes[2])]
        run.communicate(timeout=20)
        self.assertLess(time.monotonic() - begin, 5)
        nodes[1].communicate()
        for text in (*told, self.json()["failed"][0]["why"]):
            self.assertIn("gpu[1] has said nothing for 3s", text)

    def test_nodes_whose_coordinator_is_lost_end_within_five_seconds(self):
        run, nodes = self.joined_by_hand((0, 1, 2))
        run.kill()
        begin = time.monotonic()
        told = [node.communicate(timeout=20)[1] for node in nodes]
        self.assertLess(time.monotonic() - begin, 5)
        run.communicate(timeout=20)
        for text in told:
            self.assertIn("the coordinator has said nothing for 3s", text)

    def test_addresses_of_ipv6_do_as_well(self):
        options = [option if option != "127.0.0.1" else "::1" for option in self.options]
        self.hosts.write_text("here ::1\n" * 5)
        if not Path("/proc/net/if_inet6").is_file():
            self.skipTest("this host has no IPv6")
        done = self.run_weir(*options, "--hosts", self.hosts)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_an_address_at_which_nobody_finds_this_host_is_refused(self):
        for host in ("", "@x", "0.0.0.0", "::"):
            done = self.run_weir("--on", "cluster", "--key", self.folder / "key", "--listen", host)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--listen: ", done.stderr)

    def test_nothing_is_left_of_the_key_of_a_run_that_ends_before_its_nodes_come(self):
        key = self.folder / "key"
        for sent, status in ((signal.SIGINT, 128 + signal.SIGINT), (signal.SIGKILL, -signal.SIGKILL)):
            run = subprocess.Popen(self.run_command(*self.options, "--key", str(key)), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
            self.addCleanup(run.kill)
            self.wait_for_key(key)
            run.send_signal(sent)
            run.communicate(timeout=20)
            self.assertEqual(run.returncode, status)
            deadline = time.monotonic() + 5
            while key.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual([path.name for path in self.folder.glob("key*")], [])

    def test_what_is_missing_is_told_before_anything_runs(self):
        short = self.folder / "short"
        short.write_text("a\nb\n")
        for options, why in ((("--on", "cluster"), "--listen"), (self.options, "--hosts"),
                             ((*self.options, "--hosts", self.folder / "none"), "there is no such file"),
                             ((*self.options, "--hosts", short), "5 machines, and --hosts names 2")):
            done = self.run_weir(*options)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, done.stderr)

    def test_why_a_host_does_not_start_its_node_is_told(self):
        for shell, why in (("#!/bin/sh\necho no route to $1 >&2; exit 255", r"ended with status 255: no route to \w+"),
                           ("none", "ended with status 127: .*shell cannot be run")):
            (self.folder / "shell").write_text(shell)
            (self.folder / "shell").chmod(0o755 if "#!" in shell else 0o644)
            done = self.run_weir(*self.options, "--hosts", self.hosts)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"the process of \w+\[\d\] " + why)

    def test_a_file_that_is_no_key_is_not_replaced(self):
        mine = self.folder / "mine"
        mine.write_text("mine")
        done = self.run_weir("--on", "cluster", "--listen", "127.0.0.1", "--key", mine)
        self.assertEqual(done.returncode, 1)
        self.assertIn("mine: there is a file already, and no job's key", done.stderr)
        self.assertEqual(mine.read_text(), "mine")


class Memory(Real):
    def test_a_job_that_this_host_has_no_memory_for_is_refused_before_it_starts(self):
        self.write(trace={"name": "net", "layers": layers("f32", 10**11)}, strategies=["ps"], baseline="ps",
                   partition_size="1GB", prove=False)
        done = self.run_on_local()
        self.assertEqual(done.returncode, 1)
        self.assertIn("of memory together, and this host has", done.stdout + done.stderr)


class Failures(Real):
    def check_killed(self, *more):
        process, nodes = self.long_run(*more)
        mapped, named = shared_memory(nodes)
        os.kill(nodes[1], signal.SIGKILL)
        begin = time.monotonic()
        _, errors = process.communicate(timeout=20)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(process.returncode, 1)
        self.assertIn("gpu[1]", json.dumps(self.json()["failed"]) + errors)
        self.assertTrue(self.gone(nodes))
        return mapped, [name for name in named if "weir" in name]

    def test_a_machine_that_is_killed_is_named_and_nothing_is_left(self):
        self.assertEqual(self.check_killed()[0], 0)

    def test_a_machine_that_shares_memory_is_named_when_killed_and_nothing_is_left(self):
        mapped, named = self.check_killed("--transport", "shm")
        self.assertGreaterEqual(mapped, 3)  # the ring's: its GPU machines
        self.assertEqual(named, [])

    def test_a_machine_that_falls_silent_is_named_within_five_seconds(self):
        process, nodes = self.long_run()
        os.kill(nodes[2], signal.SIGSTOP)
        begin = time.monotonic()
        process.communicate(timeout=20)
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(process.returncode, 1)
        self.assertIn("gpu[2]", self.json()["failed"][0]["why"])
        self.assertTrue(self.gone(nodes))

    def test_nobody_can_connect_to_a_machine_that_has_met_its_peers(self):
        process, nodes = self.long_run()
        listening = {words[9] for words in map(str.split, Path("/proc/net/tcp").read_text().splitlines())
                     if words[3] == "0A"}
        for pid in nodes.values():
            held = [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
            self.assertFalse({f"socket:[{inode}]" for inode in listening}.intersection(held))
        process.kill()
        process.communicate(timeout=20)

    def test_a_signal_ends_all(self):
        process, nodes = self.long_run()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertTrue(self.gone(nodes))

    def test_nothing_is_left_of_a_run_that_is_killed(self):
        process, nodes = self.long_run()
        process.kill()
        process.communicate(timeout=20)
        self.assertTrue(self.gone(nodes))


class Node(unittest.TestCase):
    KEY = {"job": "j", "endpoint": "tcp://127.0.0.1:1", "server_public": "x" * 40, "member_public": "y" * 40,
           "member_secret": "z" * 40}

    def node(self, key, *more, listen="127.0.0.1", **variables):
        return subprocess.run(program.command("node", "--job", "-", "--listen", listen, *more), input=key, text=True,
                              capture_output=True, timeout=30, check=False, env={**os.environ, **variables})

    def test_a_coordinator_that_does_not_answer_is_given_up_in_time(self):
        done = self.node(json.dumps(self.KEY), "--machine", "0", "--patience", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the coordinator has not said 'inputs' for 1", done.stderr)

    def test_a_key_that_is_none_is_told(self):
        for key, why in (("", "the standard input:1: "), ("{}", "missing"), (json.dumps({**self.KEY, "job": 3}), "job"),
                         (json.dumps({**self.KEY, "member_secret": "z"}), "40 characters")):
            done = self.node(key, "--machine", "0")
            self.assertEqual(done.returncode, 2, key)
            self.assertIn(why, done.stderr)

    def test_the_machine_must_be_said(self):
        done = self.node(json.dumps(self.KEY))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--machine", done.stderr)

    def test_a_rank_that_is_no_number_is_told(self):
        for name, value in (("RANK", "abc"), ("WEIR_RANK", "1x"), ("SLURM_PROCID", "-1"), ("RANK", "99999999999")):
            done = self.node(json.dumps(self.KEY), **{name: value})
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{name}: '{value}'", done.stderr)

    def test_an_address_at_which_no_peer_finds_it_is_refused(self):
        for host in ("", "@x", "0.0.0.0", "::"):
            done = self.node(json.dumps(self.KEY), "--machine", "0", listen=host)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--listen: '{host}'", done.stderr)


if __name__ == "__main__":
    program.main()
