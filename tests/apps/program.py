"""Calls the program as users do, for tests that get its path as their first argument."""

import csv
import json
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_path = ""


def command(*arguments):
    return [_path, *arguments]


def run(*arguments, timeout=120, **how):
    return subprocess.run(command(*arguments), capture_output=True, text=True,
                          timeout=timeout, check=False, **how)


def rows(folder):
    """The rows of the results.csv in the folder."""
    lines = (folder / "results.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def whole(folder):
    """Its results.json."""
    return json.loads((folder / "results.json").read_text())


def strategies():
    """All of the table, in its order, as the schema of experiments lists them."""
    schema = json.loads((ROOT / "schemas" / "experiment.schema.json").read_text(encoding="utf-8"))
    return schema["properties"]["other_jobs"]["items"]["properties"]["strategy"]["enum"]


def main():
    global _path  # pylint: disable=global-statement
    _path = str(Path(sys.argv.pop(1)).resolve())
    unittest.main(module="__main__")
