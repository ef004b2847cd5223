#!/usr/bin/env python3
"""Draws the figures of one run of an experiment: plots/plot.py RESULT_DIR. README.md says what each shows."""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the folder may be installed for all users

try:
    import matplotlib  # noqa: F401  (asked for first, so that its absence is told in one line)
except ImportError:
    sys.exit(f"plot.py: {sys.executable} has no matplotlib; on Debian: apt-get install python3-matplotlib")

import breakdown  # noqa: E402
import curves  # noqa: E402
import links  # noqa: E402
import overview  # noqa: E402
import results  # noqa: E402
import style  # noqa: E402
import timeline  # noqa: E402


def figures(found):
    """Name and figure of each figure that the results allow, one at a time."""
    yield from curves.figures(found)
    yield "breakdown", breakdown.figure(found)
    if found.links():
        yield "links", links.figure(found)
    yield from timeline.figures(found)
    yield "overview", overview.figure(found)


def main(arguments):
    parser = argparse.ArgumentParser(prog="plot.py", description=__doc__)
    parser.add_argument("folder", metavar="RESULT_DIR", type=Path, help="what weir run --out was given")
    folder = parser.parse_args(arguments).folder
    try:
        style.use()
        for name, figure in figures(results.read(folder)):
            for path in style.save(figure, folder, name):
                print(path, flush=True)
    except results.BadInput as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"plot.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
