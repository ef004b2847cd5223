"""Every rank reports a failure in time, with what is to blame; nothing hangs."""

import signal

import job
import pytest

pytest.importorskip("torch")


def test_ranks_that_disagree_all_report_it_and_go_on():
    # Before patience is over.
    done = job.passed(job.weirrun("failures.py", "mismatch", ranks=3, servers=1, timeout=25))
    assert done.stdout.count("all done") == 3


@pytest.mark.parametrize("differ", ["models", "averages"])
def test_ranks_whose_models_differ_all_report_it(differ):
    done = job.weirrun("failures.py", differ, ranks=3, timeout=25)  # before patience is over
    assert done.stdout.count("all done") == 3, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [1, 2])
def test_impossible_calls_are_refused(ranks):
    done = job.weirrun("failures.py", "refusals", ranks=ranks)
    assert done.stdout.count("all done") == ranks, done.stdout + done.stderr


def test_the_others_report_why_a_rank_has_raised():
    done = job.weirrun("failures.py", "raises", ranks=3, servers=1)
    assert done.returncode == 1
    assert "[2] KeyError: 'no such picture'" in done.stderr
    assert done.stdout.count("all done") == 2, done.stdout + done.stderr


@pytest.mark.parametrize("servers", [0, 1])
def test_a_rank_that_is_killed_is_named(servers):
    done = job.weirrun("failures.py", "killed", ranks=3, servers=servers, timeout=20)
    assert done.returncode == 128 + signal.SIGKILL
    assert "weirrun: rank 2 was killed by SIGKILL" in done.stderr
    assert done.stdout.count("all done") == 2, done.stdout + done.stderr


def test_a_rank_that_exits_does_not_leave_the_others_waiting():
    done = job.weirrun("failures.py", "leaves", ranks=3, timeout=20)
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stdout.count("all done") == 2, done.stdout + done.stderr


def test_a_rank_that_does_not_come_is_named_when_patience_is_over():
    done = job.weirrun("failures.py", "stalls", ranks=3, timeout=30, WEIR_PATIENCE="3")
    assert done.stdout.count("all done") == 3, done.stdout + done.stderr
