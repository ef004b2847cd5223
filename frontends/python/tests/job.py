"""Jobs of several processes, as users start them, with an end to their patience."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent


def environment(**more):
    """The user's, without what another job has left in it."""
    kept = {
        key: value for key, value in os.environ.items()
        if not key.startswith(("OMP_", "MASTER_")) and (not key.startswith("WEIR_") or key == "WEIR_LIBRARY")
    }
    path = os.pathsep.join([str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {
        **kept, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "WEIR_PATIENCE": "30", "WEIR_WARN_AFTER": "10",
        **more
    }


def run(command, timeout, **more):
    """A finished process. One that does not end in time fails the test with its output, and is ended first in
    a way that lets a launcher end its ranks."""
    with subprocess.Popen(command, env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, stdin=subprocess.DEVNULL) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.terminate()
            try:
                out, err = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
            raise AssertionError(f"not done after {timeout} s: {command}\n{out}\n{err}") from None
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def weirrun(script, *arguments, ranks, servers=0, timeout=60, **more):
    """A worker of tests/workers under weirrun."""
    path = HERE / "workers" / script
    return run([sys.executable, "-m", "weir.run", "-np", str(ranks), "--servers", str(servers),
                sys.executable, str(path), *map(str, arguments)], timeout, **more)


def passed(done):
    """Fails, with all its output, unless it ended well."""
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done
