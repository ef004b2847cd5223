"""The program as users call it: weir run, plan, bound and check. Run: python3 tests/apps/test_run.py WEIR"""

import csv
import json
import os
import re
import resource
import signal
import subprocess
import time

import program
from tiny import COUNT, TRACE, TOPOLOGY, Case

COLUMNS = ["strategy", "gpu_machines", "cpu_machines", COUNT, "policy", "seed", "iteration_ns",
           "exposed_communication_ns", "goodput_bytes_per_s", "bound_ns",
           "bound_percent", "binding", "speedup"]


class Run(Case):
    def test_the_table_has_its_columns_and_a_row_for_each_possible_run(self):
        done = self.run_weir()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = self.rows()
        self.assertEqual(len(rows), 10)
        for column in COLUMNS:
            self.assertIn(column, rows[0])
        self.assertEqual(list(rows[0])[:6], COLUMNS[:6])
        self.assertEqual({(row["strategy"], row[COUNT], row["policy"]) for row in rows},
                         {(strategy, count, policy) for strategy in ("unified", "ring", "ps")
                          for count in "03" for policy in ("fifo", "priority")
                          if (strategy, count) != ("ps", "0")})
        for row in rows:
            self.assertEqual(row["gpu_machines"], "3")
            self.assertEqual(row["cpu_machines"], row[COUNT])
            self.assertGreaterEqual(int(row["iteration_ns"]), int(row["bound_ns"]))
            self.assertAlmostEqual(float(row["bound_percent"]),
                                   100 * int(row["bound_ns"]) / int(row["iteration_ns"]), places=2)
        self.assertEqual({row["speedup"] for row in rows if row["strategy"] == "ring"}, {"1"})
        found = self.json()
        self.assertTrue(found["finished"])
        self.assertEqual(len(found["impossible"]), 2)
        self.assertEqual(found["experiment_file"], str(self.folder / "tiny.json"))
        self.assertRegex(found["weir"], r"^\d+\.\d+\.\d+")
        self.assertEqual(found["topologies"][found["rows"][-1]["topology"]]["groups"][1]["count"], 3)

    def test_the_same_experiment_gives_the_same_bytes_however_many_runs_at_once(self):
        files = []
        for jobs in ("1", "3"):
            self.assertEqual(self.run_weir("--jobs", jobs).returncode, 0)
            files.append([(self.out / name).read_bytes() for name in ("results.csv", "results.json")])
        self.assertEqual(files[0], files[1])

    def test_results_go_beneath_results_if_no_folder_is_named(self):
        self.assertEqual(self.weir("run", "--no-plots", "--set", "sweep={}").returncode, 0)
        self.assertTrue((self.folder / "results/tiny/results.csv").is_file())

    def test_settings_hold_at_every_point(self):
        self.assertEqual(self.run_weir("--set", "topology.groups.gpu.count=2",
                                       "--set", "policy=fifo").returncode, 0)
        self.assertEqual({(row["gpu_machines"], row[COUNT]) for row in self.rows()}, {("2", "0"), ("2", "3")})
        self.assertNotIn("policy", self.rows()[0])
        self.assertEqual(self.json()["settings"], {"topology.groups.gpu.count": 2, "policy": "fifo"})

    def test_a_timeline_is_drawn_of_the_last_point(self):
        self.assertEqual(self.run_weir("--set", 'timelines=["ring"]').returncode, 0)
        self.assertEqual([path.name for path in self.out.glob("timeline-*")],
                         [f"timeline-ring-{COUNT}=3,policy=priority.json"])

    def test_counters_of_a_timeline_hold_the_bytes_of_the_links_and_the_network_is_a_process(self):
        racks = {"size": 2, "uplink": "4Gbps"}
        done = self.run_weir("--set", 'timelines=["ring"]', "--set", "sweep={}", "--set", "iterations=2",
                             "--set", f"topology.network.racks={json.dumps(racks)}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        row = next(row for row in self.json()["rows"] if row["strategy"] == "ring")
        events = json.loads((self.out / row["timeline"]).read_text())["traceEvents"]
        machines = {event["pid"]: event["args"]["name"] for event in events
                    if event["name"] == "process_name"}
        carried, last = {}, {}
        for event in (event for event in events if event["ph"] == "C"):
            machine = machines[event["pid"]]
            link = event["name"] if machine == "network" else f"{machine}.{event['name']}"
            begin, use = last.get(link, (0, 0))
            carried[link] = carried.get(link, 0) + (event["ts"] - begin) * 1e-6 * use / 100
            last[link] = (event["ts"], event["args"]["%"])
        self.assertEqual({use for _, use in last.values()}, {0})
        for link, rate in [("gpu[0].nic0.out", 1e9), ("gpu[2].nic0.in", 1e9), ("rack[0].up", 5e8),
                           ("rack[1].down", 5e8)]:
            # The ring moves 2(n-1)/n of the 4 MB, in each of two iterations.
            self.assertAlmostEqual(carried[link] * rate, 2 * 4e6 * 4 / 3, delta=1e5, msg=link)

    def test_another_run_into_the_folder_leaves_nothing_of_the_first(self):
        self.assertEqual(self.run_weir("--set", 'timelines=["ring"]').returncode, 0)
        for name in ("overview.png", "notes.txt", "results.json.bak", "timeline-notes.json"):
            (self.out / name).write_text("")
        self.assertEqual(self.run_weir().returncode, 0)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()),
                         ["notes.txt", "results.csv", "results.json", "results.json.bak",
                          "timeline-notes.json"])

    def test_the_baseline_is_named(self):
        done = self.run_weir("--set", 'strategies=["unified", "ps"]', "--set", "policy=fifo")
        self.assertEqual(done.returncode, 0)
        self.assertIn("speed-ups over unified", done.stdout)
        self.assertEqual({row["speedup"] for row in self.rows() if row["strategy"] == "unified"}, {"1"})
        wrong = self.run_weir("--set", 'strategies=["unified", "ps"]', "--set", "baseline=ring")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("'ring' is not among the strategies", wrong.stderr)

    def test_nothing_possible_is_an_error(self):
        done = self.run_weir("--set", 'strategies=["ps"]', "--set", f"{COUNT}=0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none of the strategies is possible", done.stderr)

    def test_a_folder_that_cannot_be_written_is_reported_before_anything_runs(self):
        (self.folder / "file").write_text("")
        done = self.weir("run", "--out", self.folder / "file/out")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("file/out: cannot be made", done.stderr)
        done = self.run_weir("--page", self.folder / "file/page.md")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("file/page.md: cannot be written", done.stderr)
        # The run makes this folder.
        self.assertEqual(self.run_weir("--page", self.out / "page.md").returncode, 0)
        self.assertTrue((self.out / "page.md").is_file())

    def test_a_help_has_the_examples_of_its_own_command(self):
        self.assertIn("weir lab run", program.run("lab", "--help").stdout)
        self.assertIn("weir lab run", program.run("lab", "run", "--help").stdout)
        self.assertNotIn("weir lab run", program.run("lab", "up", "--help").stdout)
        self.assertIn("iteration_to_trace()", program.run("trace", "record", "--help").stdout)

    def test_a_point_too_large_for_memory_fails_alone(self):
        large = {"name": "net", "layers": [
            {"name": name, "forward": "1ms", "backward": "2ms",
             "tensors": [{"name": name, "elements": 50_000_000}]}
            for name in ("a", "b")]}
        self.write(trace=large, strategies=["unified"], finest_part="8MB",
                   sweep={"partition_size": ["1KB", "8MB"]})

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (800_000_000, 800_000_000))

        # Address sanitizers reserve terabytes, so their builds do not even start under such a limit.
        if program.run("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("the program does not start in 800 MB of address space: built with a sanitizer")
        done = subprocess.run(self.run_command("--jobs", "2"), capture_output=True,
                              text=True, timeout=120, check=False, preexec_fn=limit)
        self.assertEqual(done.returncode, 1)
        self.assertIn("unified at partition_size=1KB failed: there is not enough memory", done.stderr)
        self.assertEqual([row["partition_size"] for row in self.rows()], ["8MB"])
        self.assertEqual(self.json()["failed"][0]["values"], {"partition_size": "1KB"})

    def test_a_run_too_long_for_nanoseconds_fails_and_does_not_hang(self):
        self.write(sweep={}, iterations=1000)
        settings = [word for layer in ("a", "b")
                    for word in ("--set", f"trace.layers.{layer}.backward=3600s")]
        done = self.run_weir(*settings)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the run takes more than 4000000s of simulated time", done.stderr)
        done = self.run_weir(*settings, "--set", "iterations=300")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for row in self.rows():
            self.assertGreaterEqual(int(row["iteration_ns"]), 7200 * 10**9)

    def test_results_that_cannot_be_written_are_reported_with_the_reason(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        done = subprocess.run(self.run_command(), capture_output=True, text=True, timeout=60, check=False,
                              preexec_fn=limit)
        self.assertEqual(done.returncode, 1)
        self.assertIn("out/results.csv: cannot be written: File too large", done.stderr)
        self.assertIn("out/results.json: cannot be written: File too large", done.stderr)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_names_of_all_kinds_leave_files_well_formed(self):
        name = 'a "$b_{" \\, caf\u00e9'
        layers = [{**layer, "name": f"{name} {i}"} for i, layer in enumerate(TRACE["layers"])]
        self.write(topology={**TOPOLOGY, "name": name}, trace={"name": name, "layers": layers},
                   question="a\n\r,b", sweep={"topology.source": ["a, b", '"#'], "trace.name": [name, "#"]},
                   timelines=["ring"], timeline_points="all", strategies=["ring"])
        done = self.run_weir()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual({(row["topology.source"], row["trace.name"]) for row in self.rows()},
                         {("a, b", name), ('"#', name), ("a, b", "#"), ('"#', "#")})
        for drawn in self.out.glob("timeline-*"):
            json.loads(drawn.read_text())
        self.assertEqual(len(self.json()["rows"]), 4)

    def test_wrong_input_is_reported_and_touches_no_earlier_results(self):
        self.assertEqual(self.run_weir().returncode, 0)
        before = (self.out / "results.csv").read_bytes()
        for setting, complaint in [
                ("partition_sizes=1MB", "unknown key 'partition_sizes'; did you mean 'partition_size'?"),
                (f"{COUNT}=-1", f"--set {COUNT}: -1 is too small"),
                ('model={"foo": 1}', "--set model: foo: unknown key 'foo'"),
                ("credit", "sets nothing"),
                (b"policy=\xff", "expected text in UTF-8")]:
            done = self.run_weir("--set", setting)
            self.assertEqual(done.returncode, 2)
            self.assertIn(complaint, done.stderr)
        self.assertEqual((self.out / "results.csv").read_bytes(), before)


class Interrupted(Case):
    def test_a_signal_ends_the_run_and_keeps_what_is_done(self):
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=sent):
                process = self.started(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       start_new_session=True)
                for _ in range(3):  # to every process, as a terminal does, three times
                    os.killpg(process.pid, sent)
                _, error = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 128 + sent, error)
                self.assertIn("interrupted", error)
                found, rows = self.json(), self.rows()
                self.assertFalse(found["finished"])
                self.assertEqual(found["failed"], [])
                self.assertEqual(len(found["rows"]), len(rows))
                self.assertIn(f"interrupted: {len(rows)} of", error)
                self.assertIn(f"# unfinished: {len(rows)} of", (self.out / "results.csv").read_text())
                (self.out / "results.json").unlink()

    def test_a_run_that_is_killed_leaves_results(self):
        process = self.started(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        process.kill()
        process.wait()
        self.assertGreater(len(self.json()["rows"]), 0)
        self.assertGreater(len(self.rows()), 0)

    def test_a_folder_belongs_to_one_run_at_a_time(self):
        process = self.started(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = subprocess.run(self.run_command(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("another run writes its results there", done.stderr)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        self.write()
        done = subprocess.run(self.run_command(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_run_goes_on_if_its_reader_leaves(self):
        process = subprocess.Popen(self.run_command("--set", "policy=fifo"), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.close()
        error = process.stderr.read()
        process.stderr.close()
        self.assertEqual((process.wait(timeout=60), error), (0, b""))
        self.assertTrue(self.json()["finished"])

    def test_an_output_that_cannot_be_written_is_reported_after_the_results_are_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(self.run_command(), stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the standard output cannot be written", done.stderr)
        self.assertTrue(self.json()["finished"])


class Others(Case):
    def test_plan_shows_proves_and_prints(self):
        shown = self.weir("plan", "--strategy", "ring", "--prove")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("Proved:", shown.stdout)
        self.assertIn("send", self.weir("plan", "--text").stdout)
        self.assertTrue(self.weir("plan", "--graphviz").stdout.startswith("digraph"))

    def test_an_unknown_strategy_is_reported_before_anything_is_shown(self):
        for name in ("plan", "bound"):
            done = self.weir(name, "--strategy", "rnig")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"weir {name}: --strategy: unknown strategy 'rnig'; expected one of unified, ring",
                          done.stderr)

    def test_an_impossible_plan_is_reported_alone(self):
        for name in ("plan", "bound"):
            done = self.weir(name, "--strategy", "ps", "--set", f"{COUNT}=0")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("ps: ", done.stderr)

    def test_plan_notes_memory_that_a_machine_lacks(self):
        self.assertNotIn("Note", self.weir("plan").stdout)
        shown = self.weir("plan", "--set", 'topology.groups.gpu.numa=[{"memory": "1MB"}]').stdout
        self.assertIn("\nNote: gpu[0].numa0 has 1 MB of memory, but this plan alone takes", shown)
        self.assertEqual(shown.count("Note"), 1)

    def test_bound_shows_what_limits_any_plan_and_the_best_with_its_critical_path(self):
        done = self.weir("bound")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        any_plan, strategies, best, path = done.stdout.split("\n\n")
        self.assertRegex(any_plan,
                         r"No plan takes less than 8.4 ms an iteration, because of all NICs together")
        self.assertRegex(any_plan, r"\nall NICs together +32 MB +53.33 Gbps +4.8 ms +8.4 ms +\S+ ms\n")
        self.assertRegex(any_plan, r"\nLater iterations .* in steady state the limit is \S+ ms, because of ")
        self.assertEqual(any_plan.count("nic0.out"), 1)  # one link of each kind
        self.assertIn("\nunified ", strategies)
        self.assertRegex(best, r"takes no less than \S+ ms an iteration, because of ")
        self.assertRegex(best, r"\ncritical path +- +- +(\S+ ms) +\1 +\S+ ms\n")
        self.assertEqual(len(re.findall(r"\ngpu\[\d\]\.nic0\.out ", best)), 1)
        self.assertIn("those cannot overlap", best)
        self.assertRegex(path, r"The critical path of \w+: \S+ ms over \d+ ops\ncompute 6 ms, .*sends ")
        self.assertRegex(path, r"\nbackward +gpu\[\d\] +b to a +2 +4 ms\n")

    def test_bound_shows_the_strategy_that_is_asked_for(self):
        done = self.weir("bound", "--strategy", "ring")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\nring takes no less than", done.stdout)
        self.assertIn("\nThe critical path of ring:", done.stdout)
        self.assertNotIn("unified", done.stdout)

    def test_a_pipe_is_read_if_a_process_writes_into_it(self):
        os.mkfifo(self.folder / "pipe")
        for whole in (None, json.dumps(TOPOLOGY)):
            process = subprocess.Popen(program.command("check", "pipe"), cwd=self.folder, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            if whole is not None:
                (self.folder / "pipe").write_text(whole)
            out, error = process.communicate(timeout=30)
            if whole is None:
                self.assertIn("pipe: nothing has come through this pipe for 10 seconds", out + error)
            else:
                self.assertIn("pipe: topology: ok", out, error)
            self.assertEqual(process.returncode, 2 if whole is None else 0)

    def test_check_reports_all_that_is_wrong_with_an_experiment(self):
        self.assertIn("experiment, 4 points: ok", self.weir("check").stdout)
        self.write(topology={"name": "lab", "groups": [{"name": "gpu", "count": -1}]}, trace={"name": "net"},
                   sweep={"credit": [1, 0], "policy": ["lifo", "fifo"]})
        done = self.weir("check")
        self.assertEqual(done.returncode, 2)
        for complaint in ("-1 is too small", "'layers' is missing", "not the integer 0",
                          "not the string 'lifo'"):
            self.assertEqual(done.stdout.count(complaint), 1, done.stdout)

    def test_every_line_of_an_error_names_the_program(self):
        done = self.run_weir("--set", "partition_size=64B", "--set", "finest_part=16B")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual([line.split(" is too small")[0] for line in done.stderr.splitlines()],
                         ["weir run: --set partition_size: 64B", "weir run: --set finest_part: 16B"])

    def test_check_reports_invalid_json(self):
        (self.folder / "tiny.json").write_text("{\n\n!")
        done = self.weir("check")
        self.assertEqual(done.returncode, 2)
        self.assertIn("tiny.json:3: this is not JSON", done.stdout)

    def test_a_mistake_on_the_command_line_ends_with_2_and_help_with_0(self):
        for words in (["run", "--jbos", "1"], ["rnu"], [], ["run"], ["run", "none.json"],
                      ["check", "none.json"]):
            done = program.run(*words)
            self.assertEqual(done.returncode, 2, words)
        self.assertEqual(self.weir("run", "--help").returncode, 0)

    def test_a_file_of_another_kind_is_reported_as_such(self):
        (self.folder / "net.json").write_text(json.dumps(TRACE))
        done = program.run("run", self.folder / "net.json")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("net.json:1: this is a trace; expected an experiment", done.stderr)


if __name__ == "__main__":
    program.main()
