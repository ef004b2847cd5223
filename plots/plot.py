#!/usr/bin/python3
# The distribution's Python, for which scripts/install-dependencies installs matplotlib.
# PATH may find another first.
"""Draws the figures of one run of an experiment: plots/plot.py RESULT_DIR. README.md says what each shows."""

import argparse
import gc
import multiprocessing
import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.dont_write_bytecode = True  # the folder may be installed for all users

try:
    import matplotlib  # noqa: F401  (imported first, so that its absence is reported in one line)
except ImportError:
    sys.exit(f"plot.py: {sys.executable} has no matplotlib; on Debian: apt-get install python3-matplotlib")

import breakdown  # noqa: E402
import curves  # noqa: E402
import links  # noqa: E402
import overview  # noqa: E402
import published  # noqa: E402
import results  # noqa: E402
import style  # noqa: E402
import timeline  # noqa: E402


def figures(found):
    """Name of each figure that the results allow, and its maker. studies/run/result_files.cc knows the names,
    so that no figure of another run is left beside the results."""
    yield from curves.figures(found)
    yield from published.figures(found)
    yield "breakdown", partial(breakdown.figure, found)
    yield from links.figures(found)
    yield from timeline.figures(found)
    yield "overview", partial(overview.figure, found)


def draw(found, name):
    """The paths of the figure."""
    return style.save(dict(figures(found))[name](), found.folder, name)


def pool_of(workers):
    """Processes that draw figures. None if there can be none: they share locks through /dev/shm, which some
    containers lack or may only read."""
    context = multiprocessing.get_context("fork")
    ignore = (signal.SIGINT, signal.SIG_IGN)  # this process gets the signal too, and ends the others
    try:
        return ProcessPoolExecutor(workers, context, signal.signal, ignore)
    except (OSError, NotImplementedError):
        return None


def draw_all(found):
    """The paths of all figures in turn, drawn by one process for each CPU."""
    names = [name for name, _ in figures(found)]
    workers = min(len(names), len(os.sched_getaffinity(0)))
    pool = pool_of(workers) if workers > 1 else None
    if pool is None:
        for name in names:
            yield from draw(found, name)
        return
    with pool:
        slowest = sorted(names, key=lambda name: not name.startswith("timeline-"))
        drawn = {name: pool.submit(draw, found, name) for name in slowest}
        try:
            for name in names:
                yield from drawn[name].result()
        finally:
            pool.shutdown(cancel_futures=True)


def show(path):
    """Prints the path. Drawing goes on if the reader has left, as head does."""
    try:
        print(path, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments):
    parser = argparse.ArgumentParser(prog="plot.py", description=__doc__)
    parser.add_argument("folder", metavar="RESULT_DIR", type=Path, help="the folder given to weir run --out")
    folder = parser.parse_args(arguments).folder
    gc.disable()  # timelines are large, and this program is short
    try:
        found = results.read(folder)
        style.use(found.looks)
        for path in draw_all(found):
            show(path)
    except results.BadInput as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"plot.py: {error.filename or folder}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
