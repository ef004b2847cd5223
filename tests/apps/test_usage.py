"""Wrong command lines. Run: python3 tests/apps/test_usage.py WEIR"""

import program
from tiny import Case


class Usage(Case):
    def test_an_unknown_command_is_reported(self):
        done = program.run("runn", self.folder / "tiny.json")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "weir: unknown command 'runn'; did you mean 'run'? "
                                      "weir --help lists all commands\n")
        self.assertEqual(program.run("mars").stderr,
                         "weir: unknown command 'mars'; weir --help lists all commands\n")
        self.assertEqual(program.run("lab", "rnu").stderr, "weir lab: unknown command 'rnu'; did you mean "
                                                           "'run'? weir lab --help lists all commands\n")
        self.assertIn("weir lab: A subcommand is required; for example: weir lab run",
                      program.run("lab").stderr)

    def test_a_wrong_command_line_is_reported_as_other_errors_are(self):
        for words, told in {
                ("run", "tiny.json", "--trasport", "tcp"):
                    "weir run: unknown option '--trasport'; did you mean '--transport'? "
                    "weir run --help lists all options",
                ("run", "tiny.json", "--trasport=tcp"): "weir run: unknown option '--trasport'; did you",
                ("run", "tiny.json", "--colour"):
                    "weir run: unknown option '--colour'; weir run --help lists all options",
                ("sweep", "tiny.json", "--reslts", "out"):
                    "weir sweep: unknown option '--reslts'; did you mean '--results'?",
                ("check", "--scheme", "trace"):
                    "weir check: unknown option '--scheme'; did you mean '--schema'?",
                ("lab", "up", "lab.json", "--nam", "x"): "weir lab up: unknown option '--nam'; ",
                ("plan", "tiny.json", "other.json", "third.json"):
                    "weir plan: unexpected argument 'other.json'\nAll options: weir plan --help\n",
                ("run", "tiny.json", "--on", "mars"):
                    "weir run: --on: mars not in {simulation,local,lab,cluster}\n"
                    "All options: weir run --help\n",
                ("run", "tiny.json", "--on"): "weir run: --on: ",
                ("plan", "tiny.json", "--text", "--graphviz"): "weir plan: --text excludes --graphviz\n",
                ("tune", "tiny.json", "--jobs", "x"): "weir tune: --jobs: "}.items():
            with self.subTest(words=words):
                done = program.run(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertTrue(done.stderr.startswith(told), done.stderr)
        for words in (("--help",), ("--version",), ("run", "--help")):
            self.assertEqual(program.run(*words).returncode, 0)

    def test_a_missing_experiment_is_reported_with_an_example(self):
        done = program.run("run")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "weir run: experiment is required; for example: "
                                      "weir run experiments/quickstart\nAll options: weir run --help\n")
        self.assertIn("weir lab up: topology is required\n", program.run("lab", "up").stderr)

    def test_an_empty_text_does_not_leave_an_option_out(self):
        for name in ("plan", "bound"):
            for words, told in {("--strategy", ""): "--strategy: unknown strategy ''; expected one of",
                                ("--strategy=",): "--strategy: ",
                                ("--settings", ""): "--settings: expected a file, got an empty text"}.items():
                with self.subTest(name=name, words=words):
                    done = self.weir(name, *words)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(f"weir {name}: {told}", done.stderr)
            self.assertIn("experiment: expected a file or a folder", program.run(name, "").stderr)

    def test_an_empty_folder_name_is_refused(self):
        done = self.weir("run", "--out", "")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--out: expected a folder, got an empty text", done.stderr)


if __name__ == "__main__":
    program.main()
