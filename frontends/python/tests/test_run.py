"""weirrun: environment, output, exit status, and that no process outlives it. Needs no library."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
BARE = {key: value for key, value in os.environ.items() if not key.startswith(("WEIR_", "OMP_"))}
BARE["PYTHONPATH"] = str(PACKAGE)


def command(*arguments):
    return [sys.executable, "-m", "weir.run", *arguments]


def weirrun(*arguments, **environment):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=30, check=False,
                          env={**BARE, **environment})


def python(text):
    return [sys.executable, "-c", text]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def lines(path, count):
    """The file's lines, once there are so many."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = path.read_text().split("\n")[:-1] if path.exists() else []
        if len(found) >= count:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{path} has not got {count} lines in time")


def gone(pids):
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [pid for pid in pids if alive(pid)] == []


def test_ranks_get_the_session_in_their_environment():
    text = "import os; print(*[os.environ.get(k) for k in ('WEIR_RANK', 'WEIR_LOCAL_RANK', 'WEIR_SIZE', " \
        "'WEIR_LOCAL_SIZE', 'WEIR_SERVERS', 'WEIR_STRATEGY', 'OMP_NUM_THREADS', 'MINE')])"
    done = weirrun("-np", "3", "--strategy", "ps", "--env", "MINE=a=b", *python(text))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"[{i}] {i} {i} 3 3 0 ps 1 a=b" for i in range(3)]
    assert done.stderr.count("OMP_NUM_THREADS=1") == 1


def test_threads_are_the_users_where_set_or_where_there_is_one_rank():
    text = "import os; print(os.environ.get('OMP_NUM_THREADS'))"
    done = weirrun("-np", "2", *python(text), OMP_NUM_THREADS="5")
    assert (sorted(done.stdout.splitlines()), done.stderr) == (["[0] 5", "[1] 5"], "")
    assert weirrun("-np", "1", "--no-prefix", *python(text)).stdout == "None\n"


def test_secret_and_leader_are_one_for_all_ranks_and_new_for_each_job():
    text = "import os; print(os.environ['WEIR_SECRET'], os.environ['WEIR_LEADER'])"
    first, second = ({line[len("[0] "):] for line in weirrun("-np", "2", *python(text)).stdout.splitlines()}
                     for _ in range(2))
    assert len(first) == len(second) == 1
    assert first != second
    secret, leader = first.pop().split()
    assert len(bytes.fromhex(secret)) == 32
    assert leader.startswith("127.0.0.1:")


def test_what_an_outer_launcher_set_is_not_passed_on():
    text = "import os; print(os.environ.get('WEIR_SERVER'), os.environ['WEIR_RANK'])"
    assert weirrun("-np", "1", *python(text), WEIR_SERVER="7", WEIR_RANK="9").stdout == "[0] None 0\n"


def test_output_goes_where_it_was_written_to_line_by_line():
    text = "import sys; sys.stdout.write('out\\nend'); sys.stderr.write('bad\\n')"
    done = weirrun("-np", "1", *python(text))
    assert (done.stdout, done.stderr) == ("[0] out\n[0] end\n", "[0] bad\n")


def test_much_output_comes_whole():
    done = weirrun("-np", "2", *python("for i in range(50000): print('x' * 40, i)"))
    assert done.returncode == 0
    for rank in range(2):
        own = [line for line in done.stdout.splitlines() if line.startswith(f"[{rank}] ")]
        assert own == [f"[{rank}] {'x' * 40} {i}" for i in range(50000)]


def test_the_first_failure_ends_the_others_and_gives_its_status(tmp_path):
    pids = tmp_path / "pids"
    text = f"import os, time; open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\n" \
        "while os.environ['WEIR_RANK'] == '1':\n" \
        f"    if open({str(pids)!r}).read().count('\\n') == 3: os._exit(7)\n" \
        "time.sleep(60)"
    began = time.monotonic()
    done = weirrun("-np", "3", *python(text))
    assert done.returncode == 7
    assert "weirrun: rank 1 failed with status 7" in done.stderr
    assert time.monotonic() - began < 10
    assert gone([int(pid) for pid in lines(pids, 3)])


def test_a_killed_rank_gives_its_signal():
    text = "import os, signal, time\n" \
        "if os.environ['WEIR_RANK'] == '0': os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(60)"
    done = weirrun("-np", "2", *python(text))
    assert done.returncode == 128 + signal.SIGKILL
    assert "rank 0 was killed by SIGKILL" in done.stderr


def test_a_rank_that_ignores_sigterm_is_killed():
    text = "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" \
        "if os.environ['WEIR_RANK'] == '0': time.sleep(0.5); sys.exit(3)\ntime.sleep(60)"
    began = time.monotonic()
    assert weirrun("-np", "2", *python(text)).returncode == 3
    assert 5 < time.monotonic() - began < 15


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_when_weirrun_is_ended_no_process_is_left(tmp_path, number):
    pids = tmp_path / "pids"
    # Each rank starts a process of its own, as loaders of data do.
    seconds = 3 if number == signal.SIGKILL else 60
    text = "import os, subprocess, sys, time\n" \
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep({seconds})'])\n" \
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n{{child.pid}}\\n'); time.sleep(60)"
    with subprocess.Popen(command("-np", "2", *python(text)), env=BARE) as launcher:
        started = [int(pid) for pid in lines(pids, 4)]
        assert all(alive(pid) for pid in started)
        launcher.send_signal(number)
        status = launcher.wait(timeout=20)
    assert status == (-number if number == signal.SIGKILL else 128 + number)
    assert gone(started)


def test_what_a_finished_rank_left_running_is_ended(tmp_path):
    pids = tmp_path / "pids"
    text = "import subprocess, sys\n" \
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n" \
        f"open({str(pids)!r}, 'a').write(f'{{child.pid}}\\n')"
    assert weirrun("-np", "1", *python(text)).returncode == 0
    assert gone([int(pid) for pid in lines(pids, 1)])


@pytest.mark.parametrize("arguments, says", [
    (["-np", "0", "true"], "'0' is not a whole number of 1 or more"),
    (["-np", "two", "true"], "'two' is not a whole number"),
    (["-np", "1", "--env", "A", "true"], "'A' is not KEY=VALUE"),
    (["-np", "1"], "no command to run"),
    (["true"], "-np"),
])
def test_a_wrong_command_line_is_refused(arguments, says):
    done = weirrun(*arguments)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_command_that_does_not_exist_is_named():
    done = weirrun("-np", "2", "/no/such/program")
    assert done.returncode == 127
    assert "cannot start /no/such/program" in done.stderr


def test_output_that_nobody_reads_ends_the_job():
    done = subprocess.run(f"{sys.executable} -m weir.run -np 1 yes | head -1", shell=True, env=BARE,
                          timeout=20, capture_output=True, text=True, check=False)
    assert done.stdout == "[0] y\n"
