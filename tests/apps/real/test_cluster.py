"""weir run --on cluster, weir launch and weir node, as users call them.
Run: python3 tests/apps/real/test_cluster.py WEIR"""

import array
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
from real import Real, layers  # noqa: E402  pylint: disable=wrong-import-position


class Cluster(Real):
    def setUp(self):
        super().setUp()
        self.write(strategies=["unified"], baseline="unified")
        shell = self.folder / "shell"  # replaces ssh: the host's name, then words for a shell
        shell.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
        shell.chmod(0o700)
        self.hosts = self.folder / "hosts"
        self.hosts.write_text("# by machine\n" + "somewhere 127.0.0.1\n" * 4 + "127.0.0.1\n")
        self.options = ("--on", "cluster", "--listen", "127.0.0.1", "--remote-shell", str(shell))

    def test_nodes_are_started_on_hosts(self):
        done = self.run_weir(*self.options, "--encrypt", "--hosts", self.hosts)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_clocks_of_hosts_may_differ(self):
        shell = self.folder / "elsewhere"  # each host's clock differs by hours from the others
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
        # All times are within the seconds of the run, whichever machine wrote them.
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
        self.assertGreater(int(self.rows()[0]["checked_elements"]), 0)

    def joined_by_hand(self, machines):
        """A run, and nodes of these machines that have joined it."""
        key = self.folder / "key"
        run = subprocess.Popen(self.run_command(*self.options, "--key", str(key)), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.wait_for_key(key)
        nodes = [subprocess.Popen(program.command("node", "--job", str(key), "--listen", "127.0.0.1",
                                                  "--machine", str(machine)),
                                  stderr=subprocess.PIPE, text=True)
                 for machine in machines]
        for node in nodes:
            self.addCleanup(node.kill)
        time.sleep(1)
        return run, nodes

    def test_a_machine_that_dies_while_others_have_not_joined_is_named_within_five_seconds(self):
        run, nodes = self.joined_by_hand((0, 1, 2))
        nodes[1].kill()
        begin = time.monotonic()
        errors = [process.communicate(timeout=20)[1] for process in (nodes[0], nodes[2])]
        run.communicate(timeout=20)
        self.assertLess(time.monotonic() - begin, 5)
        nodes[1].communicate()
        for text in (*errors, self.json()["failed"][0]["why"]):
            self.assertIn("gpu[1] has said nothing for 3s", text)

    def test_a_machine_whose_process_ends_before_it_joins_is_named_within_five_seconds(self):
        self.hosts.write_text("".join(f"host{i} 127.0.0.1\n" for i in range(5)))
        shell = self.folder / "some-shell"
        begin = time.monotonic()
        for status in (0, 1, 3):
            shell.write_text(f'#!/bin/sh\nif [ "$1" = host1 ]; then echo broken >&2; exit {status}; fi\n'
                             'shift\nsh -c "$*"\n')
            shell.chmod(0o700)
            options = [str(shell) if option == self.options[5] else option for option in self.options]
            done = self.run_weir(*options, "--hosts", self.hosts)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"the process of gpu[1] ended with status {status}: broken",
                          done.stdout + done.stderr)
        self.assertLess(time.monotonic() - begin, 15)

    def test_nodes_whose_coordinator_is_lost_end_within_five_seconds(self):
        run, nodes = self.joined_by_hand((0, 1, 2))
        run.kill()
        begin = time.monotonic()
        errors = [node.communicate(timeout=20)[1] for node in nodes]
        self.assertLess(time.monotonic() - begin, 5)
        run.communicate(timeout=20)
        for text in errors:
            self.assertIn("the coordinator has said nothing for 3s", text)

    def test_addresses_may_be_ipv6(self):
        options = [option if option != "127.0.0.1" else "::1" for option in self.options]
        self.hosts.write_text("here ::1\n" * 5)
        if not Path("/proc/net/if_inet6").is_file():
            self.skipTest("this host has no IPv6")
        done = self.run_weir(*options, "--hosts", self.hosts)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_the_address_may_be_a_name(self):
        options = [option if option != "127.0.0.1" else "localhost" for option in self.options]
        done = self.run_weir(*options, "--hosts", self.hosts)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        options = [option if option != "localhost" else "no-host.invalid" for option in options]
        done = self.run_weir(*options, "--hosts", self.hosts)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--listen: unknown host 'no-host.invalid'", done.stdout + done.stderr)

    def test_an_address_that_nodes_cannot_reach_is_refused(self):
        for host in ("", "@x", "0.0.0.0", "::"):
            done = self.run_weir("--on", "cluster", "--key", self.folder / "key", "--listen", host)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--listen: ", done.stderr)

    def test_a_run_that_ends_before_its_nodes_join_leaves_no_key(self):
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

    def test_missing_settings_are_reported_before_anything_runs(self):
        short = self.folder / "short"
        short.write_text("a\nb\n")
        empty = self.folder / "empty"
        empty.write_text("# no host\n\n")
        for options, why in ((("--on", "cluster"), "--listen"), (self.options, "--hosts"),
                             ((*self.options, "--hosts", self.folder / "none"), "there is no such file"),
                             ((*self.options, "--hosts", self.folder),
                              f"{self.folder}: this is a folder; expected a line for each machine"),
                             ((*self.options, "--hosts", empty),
                              f"{empty}: the file lists no hosts; expected a line for each machine"),
                             ((*self.options, "--hosts", short), "5 machines, but there are 2 hosts")):
            done = self.run_weir(*options)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, done.stderr)

    def test_the_reason_why_a_host_starts_no_node_is_reported(self):
        for shell, why in (("#!/bin/sh\necho no route to $1 >&2; exit 255",
                            r"ended with status 255: no route to \w+"),
                           ("none", "ended with status 127: .*shell cannot be run")):
            (self.folder / "shell").write_text(shell)
            (self.folder / "shell").chmod(0o755 if "#!" in shell else 0o644)
            done = self.run_weir(*self.options, "--hosts", self.hosts)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"the process of \w+\[\d\] " + why)

    def test_a_file_that_is_not_a_key_is_not_replaced(self):
        mine = self.folder / "mine"
        mine.write_text("mine")
        done = self.run_weir("--on", "cluster", "--listen", "127.0.0.1", "--key", mine)
        self.assertEqual(done.returncode, 1)
        self.assertIn("mine: this file exists and holds no job's key", done.stderr)
        self.assertEqual(mine.read_text(), "mine")
        device = self.folder / "device"
        device.symlink_to("/dev/null")
        done = self.run_weir("--on", "cluster", "--listen", "127.0.0.1", "--key", device)
        self.assertIn("device: this file exists and holds no job's key", done.stderr)
        self.assertTrue(device.is_symlink())

    def test_options_that_would_change_nothing_are_refused(self):
        for words, why in ((("--encrypt",), "--encrypt: has no meaning in simulation"),
                           (("--on", "local", "--hosts", "x"), "--hosts: has no meaning with --on local"),
                           (("--on", "lab", "--engine", "fluid"),
                            "--engine: has no meaning with --on lab; it is for simulation"),
                           (("--on", "local", "--precision", "0"),
                            "--precision: has no meaning with --on local"),
                           (("--on", "local", "--jobs", "2"),
                            "--jobs: has no meaning with --on local; it is for simulation"),
                           (("--on", "lab", "--transport", "shm"), "machines of a lab share no memory"),
                           (("--on", "local", "--transport", "shm", "--encrypt"),
                            "--encrypt: machines that share")):
            done = self.run_weir(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)
        for words in (("--on", "simulation"), ("--jobs", "2")):
            launch = self.command("launch", *words)
            self.assertEqual(subprocess.run(launch, capture_output=True, check=False).returncode, 2)


class Node(unittest.TestCase):
    KEY = {"job": "j", "endpoint": "tcp://127.0.0.1:1", "server_public": "x" * 40, "member_public": "y" * 40,
           "member_secret": "z" * 40}

    def node(self, key, *more, listen="127.0.0.1", **variables):
        return subprocess.run(program.command("node", "--job", "-", "--listen", listen, *more),
                              input=key, text=True, capture_output=True, timeout=30, check=False,
                              env={**os.environ, **variables})

    def test_a_coordinator_that_does_not_answer_is_given_up_in_time(self):
        done = self.node(json.dumps(self.KEY), "--machine", "0", "--patience", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the coordinator has not sent 'inputs' for 1", done.stderr)

    def test_a_coordinator_that_is_gone_is_not_waited_for(self):
        begin = time.monotonic()
        done = self.node(json.dumps(self.KEY), "--machine", "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nobody has listened at the coordinator's address for 4s", done.stderr)
        self.assertLess(time.monotonic() - begin, 10)

    def test_a_key_without_end_is_reported(self):
        done = subprocess.run(program.command("node", "--job", "/dev/zero", "--listen", "127.0.0.1",
                                              "--machine", "0"),
                              capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/dev/zero:1: this is not JSON", done.stderr)

    def test_an_invalid_key_is_reported(self):
        for key, why in (("", "the standard input:1: "), ("{}", "missing"),
                         (json.dumps({**self.KEY, "job": 3}), "job"),
                         (json.dumps({**self.KEY, "member_secret": "z"}), "40 characters")):
            done = self.node(key, "--machine", "0")
            self.assertEqual(done.returncode, 2, key)
            self.assertIn(why, done.stderr)

    def test_the_machine_must_be_given(self):
        done = self.node(json.dumps(self.KEY))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--machine: say which machine of the cluster this is", done.stderr)

    def test_an_invalid_machine_number_is_reported(self):
        done = self.node(json.dumps(self.KEY), "--machine", "-3")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--machine: expected 0 or more, got -3", done.stderr)

    def test_a_rank_that_is_not_a_number_is_reported(self):
        for name, value in (("RANK", "abc"), ("WEIR_RANK", "1x"), ("SLURM_PROCID", "-1"),
                            ("RANK", "99999999999")):
            done = self.node(json.dumps(self.KEY), **{name: value})
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{name}: '{value}'", done.stderr)

    def test_an_address_that_peers_cannot_reach_is_refused(self):
        for host in ("", "@x", "0.0.0.0", "::"):
            done = self.node(json.dumps(self.KEY), "--machine", "0", listen=host)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"--listen: '{host}'", done.stderr)


if __name__ == "__main__":
    program.main()
