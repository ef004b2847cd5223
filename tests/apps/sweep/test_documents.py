"""Documents that a command wrote and reads back are checked like those that people write. Whatever was
changed in them, there is a result or an error that names the file, never a failed check.
Run: python3 tests/apps/sweep/test_documents.py WEIR"""

import contextlib
import json
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
import sweeping  # noqa: E402  pylint: disable=wrong-import-position

KINDS = ("", {})  # most members are neither


def places(value, path=()):
    """The paths of all members and of the first element of each list."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*path, name)
            yield from places(inner, (*path, name))
    elif isinstance(value, list) and value:
        yield (*path, 0)
        yield from places(value[0], (*path, 0))


def changed(document, path, value):
    copy = json.loads(json.dumps(document))
    at = copy
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return copy


class Documents(sweeping.Case):
    def checked(self, file, document, *command, tail=b"", named=True):
        """Runs the command with every member of the document in turn replaced by values of other kinds."""
        for path in places(document):
            for value in KINDS:
                file.write_bytes(json.dumps(changed(document, path, value)).encode() + tail)
                done = program.run(*map(str, command), cwd=self.folder)
                with self.subTest(path=path, value=value):
                    self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                    self.assertNotIn("a bug in Weir", done.stderr)
                    if named and done.returncode == 2:
                        self.assertIn(file.name, done.stderr)

    def swept(self):
        self.write(strategies=["unified"], sweep={"topology.groups.cpu.count": [0, 1]})
        self.sweep()
        return self.results / "design.json"

    def test_a_study_whose_settings_are_a_text_is_refused_with_the_place(self):
        design = self.swept()
        whole = json.loads(design.read_text())
        whole["study"]["settings"] = ""
        design.write_text(json.dumps(whole))
        for command in (("report", self.results), ("sweep", "--results", self.results, "--status")):
            done = program.run(*map(str, command))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("design.json:1: study.settings: expected an object, not the string ''", done.stderr)

    def test_designs_of_sweeps(self):
        design = self.swept()
        self.checked(design, json.loads(design.read_text()), "report", self.results)

    def test_results_in_databases_of_sweeps(self):
        self.swept()
        database = next(self.results.glob("runs-*.db"))
        with contextlib.closing(sqlite3.connect(database)) as open_database:
            outcome = json.loads(open_database.execute("SELECT outcome FROM runs").fetchone()[0])
        for path in [*places(outcome)][::2]:
            for value in KINDS:
                bad = json.dumps(changed(outcome, path, value))
                with contextlib.closing(sqlite3.connect(database)) as open_database, open_database:
                    open_database.execute("UPDATE runs SET outcome = ?", (bad,))
                done = program.run("report", str(self.results))
                with self.subTest(path=path, value=value):
                    self.assertIn(done.returncode, (0, 1, 2), done.stderr)
                    self.assertNotIn("a bug in Weir", done.stderr)

    def test_results_and_records(self):
        self.write(strategies=["unified"], sweep={})
        self.run_weir("--records")
        results = self.out / "results.json"
        text = results.read_text()
        text = text.replace(json.loads(text)["world"]["name"], "a lab on one host")
        (self.folder / "small.json").write_text(json.dumps(json.loads(text)["topologies"].popitem()[1]))
        self.checked(results, json.loads(text), "calibrate", "small.json", results, named=False)
        whole = json.loads(text)
        whole["rows"][0]["strategy"] = "none"
        results.write_text(json.dumps(whole, indent=1))
        done = program.run("calibrate", "small.json", str(results), cwd=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"results.json:\d+: rows\[0\].strategy: .*'none'")
        record = next(self.out.glob("record-*.record"))
        header, tail = record.read_bytes().split(b"\n", 1)
        self.checked(self.folder / "bad.record", json.loads(header), "compare", record, "bad.record",
                     tail=b"\n" + tail)


if __name__ == "__main__":
    program.main()
