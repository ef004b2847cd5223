"""weir sweep and weir report on one machine.

Run as: python3 tests/apps/sweep/test_sweep.py build/release/weir
"""

import csv
import html.parser
import json
import os
import random
import re
import shlex
import signal
import sqlite3
import sys
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
import sweeping  # noqa: E402  pylint: disable=wrong-import-position
import tiny  # noqa: E402  pylint: disable=wrong-import-position

# Planning it takes minutes.
LONG = {"topology.groups.gpu.count": [300], "partition_size": ["1KB"]}


class Sweeps(sweeping.Case):
    def test_results_equal_those_of_weir_run(self):
        self.sweep()
        self.assertEqual(self.run_weir().returncode, 0)
        self.assertEqual(self.table(), (self.out / "results.csv").read_text())
        self.ask("--export", self.folder / "whole.json")
        self.assertEqual(json.loads((self.folder / "whole.json").read_text()), self.json())

    def test_only_new_points_are_computed(self):
        self.sweep()
        first = self.keys()
        self.assertEqual(len(first), 12)
        self.sweep()
        self.assertEqual(self.keys(), first)
        # A larger design, another trace, and a strategy under another name with the same options.
        self.write(sweep={tiny.COUNT: [0, 1, 3], "policy": ["fifo", "priority"]})
        self.sweep()
        self.assertEqual(len(self.keys()), 18)
        self.write(strategies=["unified", "ring", {"name": "ps", "as": "servers"}])
        self.sweep()
        self.assertEqual(len(self.keys()), 18)
        self.assertIn("servers", self.table())
        self.sweep("--set", "trace.layers.a.forward=3ms", "--set", "policy=fifo")
        self.assertEqual(len(self.keys()), 24)
        self.assertEqual(len(set(self.keys())), 24)
        self.assertEqual(sorted(self.begun()), sorted(self.keys()))

    def test_equal_points_are_computed_once(self):
        # The window is one part, so credit changes nothing. But it is an input, and so makes another run.
        self.write(strategies=["ring", {"name": "ring", "as": "again"}], sweep={tiny.COUNT: [0, 1]})
        self.sweep()
        self.assertEqual(len(self.keys()), 2)
        lines = [line for line in self.table().splitlines() if not line.startswith("#")]
        self.assertEqual(len(lines), 5)

    def test_shares_give_the_same_results_as_one_process(self):
        self.sampled()
        self.sweep(into=self.folder / "one")
        for share in ("1/3", "2/3", "3/3"):
            self.sweep("--share", share)
        self.assertEqual(self.table(), self.table(self.folder / "one"))
        self.assertEqual(sorted(self.keys()), sorted(self.keys(self.folder / "one")))
        self.assertEqual(len(self.keys()), 100)

    def test_a_running_sweep_shows_its_status_and_is_alone_in_its_folder(self):
        self.sampled(1500)
        process = self.started("--jobs", "1")
        self.wait_for(lambda: self.ended() > 5, "no results")
        status = self.ask("--status")
        self.assertRegex(status, r"at work: process \d+ on \S+, share 1 of 1, 1 at once\n")
        self.assertRegex(status, r"about .* to go")
        for more in ((), ("--share", "1/2"), ("--set", "policy=fifo")):
            refused = self.sweep(*more, status=2).stderr
            self.assertIn(f"another sweep is at work there: process {process.pid} on", refused)
        done = program.run("report", self.results)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Unfinished: ", (self.results / "report.html").read_text())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 128 + signal.SIGTERM)
        self.assertIn("nobody is at work", self.ask("--status"))
        self.assertEqual(list(self.results.glob("at-work-*")), [])

    def test_a_run_that_crashes_is_recorded_and_can_be_tried_again(self):
        self.write(strategies=["ring"], sweep={tiny.COUNT: [0, 1], **LONG})
        process = self.started("--jobs", "2", "--set", "strategies=[\"unified\"]")
        self.wait_for(lambda: len(sweeping.children(process)) == 2, "no two runs")
        # Sanitizers catch SIGSEGV, and exit.
        os.kill(sweeping.children(process)[0], signal.SIGABRT)
        self.wait_for(lambda: self.ended() == 1, "nothing recorded")
        os.kill(sweeping.children(process)[0], signal.SIGKILL)
        self.assertEqual(process.wait(30), 1)
        self.assertIn("2 crashed", self.ask("--status"))
        self.assertEqual(sweeping.rows_of(self.results, "SELECT status, signal FROM runs ORDER BY began"),
                         [("crashed", int(signal.SIGABRT)), ("crashed", int(signal.SIGKILL))])
        report = program.run("report", self.results, "-o", self.folder / "page.html")
        self.assertEqual(report.returncode, 0, report.stderr)
        page = (self.folder / "page.html").read_text()
        self.assertIn("crashed, signal 6", page)
        self.assertIn("2 failed", page)
        self.ask("--export", self.folder / "all.db")
        with sqlite3.connect(self.folder / "all.db") as database:
            self.assertEqual(database.execute("SELECT DISTINCT strategy, seed FROM runs").fetchall(),
                             [("unified", 1)])
        database.close()

    def test_a_run_that_is_late_is_ended_and_recorded(self):
        self.write(strategies=["unified"], sweep=LONG)
        self.sweep("--deadline", "300ms", status=1)
        self.assertEqual([key for key, in sweeping.rows_of(self.results, "SELECT status FROM runs")],
                         ["late"])
        self.assertIn("1 run of share 1 of 1 failed", self.sweep("--deadline", "300ms", status=1).stderr)
        self.assertEqual(len(self.keys()), 1)
        self.sweep("--deadline", "300ms", "--retry", status=1)
        self.assertEqual(len(self.keys()), 2)

    def test_one_at_a_time_and_tables_for_sql(self):
        self.write(sweep_by="one_at_a_time", strategies=["ring"])
        self.sweep()
        self.assertEqual(len(self.keys()), 3)
        self.ask("--export", self.folder / "all.db")
        for own in (self.results / "design.json", next(self.results.glob("*.db"))):
            done = program.run("sweep", "--results", self.results, "--export", own)
            self.assertEqual((done.returncode, "file is an input" in done.stderr), (2, True), done.stderr)
        with sqlite3.connect(self.folder / "all.db") as database:
            rows = database.execute("SELECT status, point, strategy, iteration_ns > 0 FROM runs").fetchall()
            labels = database.execute("SELECT DISTINCT label, label_reason FROM runs").fetchall()
        database.close()
        self.assertEqual(labels, [("vendor constant", "the topology has no calibration")])
        self.assertEqual(rows[0], ("done", "topology.groups.cpu.count=0 policy=fifo", "ring", 1))
        self.assertEqual(len(rows), 3)

    def test_mistakes_are_reported(self):
        for more, word in [(("--deadline", "soon"), "--deadline: "), (("--share", "3/2"), "is not a share"),
                           (("--jobs", "0"), "--jobs")]:
            self.assertIn(word, self.sweep(*more, status=2).stderr)
        self.write(samples={"count": 2, "over": {"credit": {"from": 3, "to": 1}}})
        self.assertRegex(self.sweep(status=2).stderr, r"tiny.json:\d+: samples.over.credit.to: expected more")
        for command in (("sweep", "--status", "--results", self.folder), ("report", self.folder)):
            done = program.run(*command)
            self.assertEqual(done.returncode, 2)
            self.assertIn("there is no sweep in this folder", done.stderr)
        (self.folder / "file").write_text("")
        self.write()
        self.assertIn("cannot be", self.sweep(into=self.folder / "file", status=1).stderr)


class Page(html.parser.HTMLParser):
    """The elements of a page, which must be closed as they were opened, and its text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        self.words.append(data)

    def text(self):
        return " ".join(self.words)


class Reports(sweeping.Case):
    def page(self):
        done = program.run("report", self.results)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"{self.results}/report.html\n")
        return (self.results / "report.html").read_text()

    def test_a_page_needs_no_other_file(self):
        self.sampled(30, strategies=["unified", "ring", "ps"], question="<b>Is it & 'right'?</b>",
                     timelines=["unified"])
        self.sweep()
        text = self.page()
        page = Page(text)
        self.assertEqual(page.open, [])
        for tag, attributes in page.elements:
            self.assertNotIn(tag, ("link", "img", "iframe", "object", "embed", "image", "use"))
            self.assertNotIn("src", attributes)
            for name in ("href", "xlink:href"):
                target = attributes.get(name, "")
                self.assertNotRegex(target, r"^[a-z]+:|^//")
                if target and not target.startswith("#"):
                    self.assertTrue((self.results / unquote(target)).is_file(), target)
        self.assertNotRegex(text, r"https?://|@import|url\(|fetch|XMLHttp")
        self.assertIn("<b>Is it & 'right'?</b>", page.text())
        self.assertGreaterEqual(sum(tag == "svg" for tag, _ in page.elements), 8)
        self.assertTrue(any(attributes.get("href", "").startswith("timeline-")
                            for _, attributes in page.elements))
        strange = self.results.rename(self.folder / "100% of 'it' #2?")
        program.run("report", strange, "-o", self.folder / "page.html")
        links = [attributes["href"]
                 for _, attributes in Page((self.folder / "page.html").read_text()).elements
                 if "timeline-" in attributes.get("href", "")]
        self.assertNotIn("#", "".join(links))
        self.assertTrue(links and all((self.folder / unquote(link)).is_file() for link in links), links)

    def test_a_database_that_is_damaged_is_reported_instead_of_an_incomplete_page(self):
        self.write(strategies=["ring"], sweep={})
        self.sweep()
        (file,) = self.results.glob("runs-*.db")
        whole = file.read_bytes()
        for damaged in (b"no database" + whole[11:], whole[:len(whole) // 2]):
            file.write_bytes(damaged)
            for command in (("report", self.results), ("sweep", "--results", self.results, "--status"),
                            ("sweep", "--results", self.results, "--export", self.folder / "all.csv")):
                done = program.run(*command)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, f"^weir {command[0]}: {file}: (file is not a database|"
                                              "database disk image is malformed)\n")
                self.assertNotIn("continues it", done.stdout)
            self.assertFalse((self.results / "report.html").exists())
            self.assertFalse((self.folder / "all.csv").exists())
        file.write_bytes(whole)
        self.page()

    def test_the_command_for_the_best_point_gives_its_result(self):
        self.write(strategies=["unified", "ps"],
                   sweep={tiny.COUNT: [0, 1, 2], "partition_size": ["1MB", "4MB"]})
        for engine in ((), ("--engine", "fluid"), ("--engine", "fluid", "--precision", "0.05")):
            results = self.folder / f"of {len(engine)}"
            self.sweep(*engine, into=results)
            self.results = results
            command = shlex.split(re.search("<pre>(.*?)</pre>", self.page())[1]
                                  .replace("&#39;", "'").replace("&quot;", '"'))
            self.assertEqual(command[:2], ["weir", "run"])
            self.assertEqual(command[len(command) - len(engine):], list(engine))
            done = program.run(*command[1:], "--no-plots", "--out", self.folder / "alone")
            self.assertEqual(done.returncode, 0, done.stderr)
            alone = [int(row["iteration_ns"]) for row in program.rows(self.folder / "alone")]
            best, = sweeping.rows_of(results, "SELECT min(iteration_ns) FROM runs")[0]
            self.assertIn(best, alone)

    def test_each_run_in_a_folder_has_a_timeline_of_its_own(self):
        self.write(strategies=["unified"], sweep={}, timelines=["unified"])
        for size in ("100KB", "1MB", "1MB"):
            self.sweep("--set", f"partition_size={size}")
        self.assertEqual(len(list(self.results.glob("timeline-unified-*.json"))), 2)

    def test_a_page_has_the_results(self):
        self.write(sweep={tiny.COUNT: [0, 3], "partition_size": ["100KB", "1MB"]}, seeds=[1, 2])
        self.sweep()
        text = Page(self.page()).text()
        rows = list(csv.DictReader(line for line in self.table().splitlines() if not line.startswith("#")))
        best = max(rows, key=lambda row: float(row["samples_per_s"]))
        self.assertIn(f"{best['strategy']}  at  {tiny.COUNT}={best[tiny.COUNT]} "
                      f"partition_size={best['partition_size']}", text)
        self.assertIn(f"{float(best['speedup']):.2f} times as fast as ring there", text)
        self.assertIn("seeds 1, 2", text)
        self.assertIn(f"{len(rows)} vendor constant the topology has no calibration", text)
        self.assertEqual(text.count(" vendor constant "),
                         len(rows) + len({row["strategy"] for row in rows}) + 1)
        self.assertIn("ps 4 a parameter server on CPU machines needs", text)
        # The effect of the machines on ring's iteration is zero; on unified's it is the ratio of the means.
        def mean(count):
            times = [float(row["iteration_ns"]) for row in rows
                     if row["strategy"] == "unified" and row[tiny.COUNT] == count]
            product = 1.0
            for one in times:
                product *= one ** (1 / len(times))
            return product

        ratio = max(mean("0"), mean("3")) / min(mean("0"), mean("3"))
        self.assertRegex(text, re.escape(f"{tiny.COUNT} {ratio:.2f} 1.00"))


class Killed(sweeping.Case):
    def test_a_thousand_points_killed_twice_are_each_computed_once(self):
        self.sampled(1000)
        jobs, chance = 2, random.Random(2026)
        lost = 0
        for _ in range(2):
            enough = self.ended() + chance.randrange(50, 300)
            process = self.started("--jobs", str(jobs))
            self.wait_for(lambda: self.ended() >= enough,  # pylint: disable=cell-var-from-loop
                          "too few results")
            process.kill()
            process.wait()
            keys, begun = self.keys(), self.begun()
            self.assertLess(len(keys), 1000)
            self.assertLessEqual(len(begun) - len(keys) - lost, jobs)  # the runs under way when it was killed
            lost = len(begun) - len(keys)
        self.sweep("--jobs", str(jobs))
        keys, begun = self.keys(), self.begun()
        self.assertEqual(len(keys), 1000)
        self.assertEqual(len(set(keys)), 1000)
        self.assertEqual(len(begun), 1000 + lost)
        self.assertLessEqual(lost, 2 * jobs)
        self.sweep(into=self.folder / "whole")
        self.assertEqual(self.table(), self.table(self.folder / "whole"))


if __name__ == "__main__":
    program.main()
