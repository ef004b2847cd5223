"""Runs random jobs for real, in labs and on this host, for minutes; kills or stops a machine in some of them.

soak.py WEIR [MINUTES] [--seed N] [--short] [--job "SEED HAPPENS WHERE"]. What must hold:

* A job that nobody disturbs ends well, every element of every sum being right.
* After a kill or a stop of one that others exchange messages with every other machine ends within 5 s with an
  error that names it.
* No process, network, port, socket or shared memory is left of a job.
* The resident memory of each machine after a tenth of a long job and at its end differs by 5 % at most.

Ends with 1 if something did not, naming the jobs, and with 77 where no lab can be had.
"""

import argparse
import json
import os
import queue
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import jobs
import processes

ROOT = Path(__file__).resolve().parents[2]
NO_LAB = 77
LIMIT = {"kill": 5.0, "stop": 5.0}  # seconds from the disturbance to the last machine's end
SLACK = 1.05
LONGEST = 180  # seconds of one job

# In each machine of a lab: the first one also leads.
IN_LAB = """
address=$(echo "$WEIR_ADDRESSES" | cut -d, -f$((WEIR_RANK + 1)))
if [ "$WEIR_RANK" = 0 ]; then
  "$WEIR" run "$FOLDER/job.json" --no-plots --out "$FOLDER/out" --on cluster --listen "$address" \
    --key "$FOLDER/key" "$@" >"$FOLDER/run.out" 2>"$FOLDER/run.err" &
fi
until grep -qs '}$' "$FOLDER/key"; do sleep 0.02; done
"$WEIR" node --job "$FOLDER/key" --listen "$address" --patience 20
status=$?
wait
exit $status
"""


class Wrong(Exception):
    """What did not hold."""


class Running:
    """A running job, with the lines that its machines print and when."""

    def __init__(self, job, weir, folder):
        self.job = job
        self.folder = folder
        self.printed = queue.SimpleQueue()
        self.held = set()
        self.pids = set()
        path = job.write(folder)
        if job.where == "lab":
            command = [weir, "lab", "run", str(folder / "topology.json"),
                       "--", "sh", "-c", IN_LAB, "sh", *job.options]
        else:
            command = [weir, "run", str(path), "--no-plots", "--out", str(folder / "out"),
                       "--on", "local", *job.options]
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, cwd=folder,
                                        env={**os.environ, "WEIR": weir, "FOLDER": str(folder),
                                             "TMPDIR": str(folder)})
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.printed.put((time.monotonic(), line.rstrip()))

    def lines(self):
        found = []
        while not self.printed.empty():
            found.append(self.printed.get())
        return found

    def look(self):
        """Its nodes by machine; remembers what the job holds."""
        now = processes.descendants(self.process.pid)
        for pid in now:
            self.held |= processes.held(pid)
        self.pids |= now
        return processes.nodes(now)

    def wait_for_nodes(self):
        """All machines' processes, once they are at work."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.process.poll() is None:
            found = self.look()
            if len(found) == len(self.job.machines()) and not (self.folder / "key").exists():
                return found
            time.sleep(0.05)
        raise Wrong(f"the machines did not start: {self.output()}")

    def output(self):
        text = "; ".join(line for _, line in self.lines())
        for name in ("run.err",):
            if (self.folder / name).exists():
                text += " " + (self.folder / name).read_text(encoding="utf-8")
        return text.strip()[:2000]

    def wait(self, limit):
        try:
            return self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Wrong(f"still running after {limit:.1f} s: {self.output()}") from None

    def end(self):
        """Leaves nothing of it, however it stands."""
        if self.process.poll() is None:
            self.look()
            for pid in self.pids:
                if processes.network(pid):
                    os.kill(pid, 9)
            self.process.kill()
            self.process.wait(10)
        self.reader.join(10)
        self.process.stderr.close()


def check_result(run):
    """Every iteration was run and verified: else the program has failed."""
    status = run.wait(LONGEST)
    if status != 0:
        raise Wrong(f"status {status}: {run.output()}")
    whole = json.loads((run.folder / "out" / "results.json").read_text(encoding="utf-8"))
    if whole.get("failed"):
        raise Wrong(f"failed: {whole['failed']}")


def check_nothing_left(run):
    deadline = time.monotonic() + 10
    while True:
        alive = {pid for pid in run.pids if pid in processes.parents()}
        held = processes.left(run.held)
        files = [name for name in os.listdir(run.folder) if name.startswith("weir-") or name == "key"]
        shared = [name for name in os.listdir("/dev/shm") if name.startswith("weir")]
        if not (alive or held or files or shared):
            return
        if time.monotonic() > deadline:
            raise Wrong(f"left behind: processes {alive}, {held}, files {files}, shared memory {shared}")
        time.sleep(0.05)


def disturb(run, draw):
    """Kills or stops a machine; returns how long it took the last other one to say so, and to end."""
    nodes = run.wait_for_nodes()
    time.sleep(draw.uniform(0, 1.5))
    # One that has no part in the plan is not missed, unless somebody watches its process.
    machine = draw.choice([machine for machine, pid in sorted(nodes.items())
                           if machine < run.job.gpus or processes.connections(pid) > 1
                           or (run.job.where, run.job.happens) == ("local", "kill")])
    name = run.job.machines()[machine]
    os.kill(nodes[machine], 9 if run.job.happens == "kill" else 19)
    begin = time.monotonic()
    others = {other: pid for other, pid in nodes.items() if other != machine}
    limit = LIMIT[run.job.happens]
    while any(processes.network(pid) for pid in others.values()):
        if time.monotonic() > begin + limit:
            left = [run.job.machines()[other] for other, pid in others.items() if processes.network(pid)]
            raise Wrong(f"{limit} s after {name} {'died' if run.job.happens == 'kill' else 'stopped'} "
                        f"{left} still run")
        time.sleep(0.01)
    took = time.monotonic() - begin
    if run.job.happens == "stop" and run.job.where == "lab":  # nobody else ends it there: its host would
        os.kill(nodes[machine], 9)
    if run.wait(10) == 0:
        raise Wrong(f"it ended well although {name} was lost")
    run.reader.join(10)
    check_named(run, name, begin)
    return took


def check_named(run, name, begin):
    lines = run.lines()
    if run.job.where == "local":
        whole = json.loads((run.folder / "out" / "results.json").read_text(encoding="utf-8"))
        if name not in json.dumps(whole["failed"]):
            raise Wrong(f"{name} is not named: {whole['failed']}")
        return
    for other in run.job.machines():
        if other == name:
            continue
        own = [(at - begin, line) for at, line in lines
               if line.startswith(other) and "weir node:" in line and name in line.split("|", 1)[1]]
        if not own:
            raise Wrong(f"{other} did not name {name}: {lines}")
    text = (run.folder / "run.err").read_text(encoding="utf-8")
    whole = json.loads((run.folder / "out" / "results.json").read_text(encoding="utf-8"))
    if name not in json.dumps(whole["failed"]):
        raise Wrong(f"the coordinator did not name {name}: {whole['failed']} {text}")


def watch_memory(run):
    """How much the resident memory of a machine grew from a tenth of the job to its end: the worst of all."""
    nodes = run.wait_for_nodes()
    begin = time.monotonic()
    samples = []
    while run.process.poll() is None:
        sizes = {machine: processes.resident(pid) for machine, pid in nodes.items()}
        if all(sizes.values()):
            samples.append((time.monotonic() - begin, sizes))
        if time.monotonic() > begin + LONGEST:
            break
        time.sleep(0.05)
    check_result(run)
    # What comes after the last iteration, the record on its way, is no iteration.
    end = samples[-1][0] - 0.3
    first = next(sizes for at, sizes in samples if at >= end * 0.1)
    last = [sizes for at, sizes in samples if at <= end][-1]
    worst = max(last[machine] / first[machine] for machine in nodes)
    if worst > SLACK:
        raise Wrong(f"resident memory grew from {first} to {last} KiB")
    return worst


class Soak:
    def __init__(self, weir):
        self.weir = weir
        self.count = {"nothing": 0, "kill": 0, "stop": 0, "long": 0}
        self.worst = {"kill": 0.0, "stop": 0.0, "long": 1.0}
        self.iterations = 0
        self.wrong = []

    def run(self, job):
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            run = Running(job, self.weir, Path(folder))
            try:
                self.check(job, run)
                check_nothing_left(run)
            except Wrong as wrong:
                self.wrong.append(f"{job}\n    {wrong}")
                print(f"WRONG {self.wrong[-1]}", flush=True)
            finally:
                run.end()
        self.count[job.happens] += 1

    def check(self, job, run):
        if job.happens in ("kill", "stop"):
            self.worst[job.happens] = max(self.worst[job.happens], disturb(run, random.Random(job.seed)))
            return
        if job.happens == "long":
            self.worst["long"] = max(self.worst["long"], watch_memory(run))
        else:
            while run.process.poll() is None and time.monotonic() < run.began + LONGEST:
                run.look()
                time.sleep(0.1)
            check_result(run)
        self.iterations += job.iterations

    def summary(self):
        return (f"{sum(self.count.values())} jobs: {self.iterations} iterations of {self.count['nothing']} "
                f"and of {self.count['long']} long ones, every sum checked; resident memory grew by "
                f"{self.worst['long'] - 1:.1%} at most\n"
                f"{self.count['kill']} machines killed: the others had ended within "
                f"{self.worst['kill']:.2f} s, naming it; "
                f"{self.count['stop']} stopped: {self.worst['stop']:.2f} s\n"
                f"{len(self.wrong)} wrong")


def draws(seed, short):
    """Jobs without end; a short soak has each kind once."""
    if short:
        yield from (jobs.random_job(seed, *kind) for kind in
                    (("nothing", "lab"), ("kill", "lab"), ("stop", "lab"),
                     ("nothing", "local"), ("kill", "local")))
        return
    while True:
        seed += 1
        draw = random.Random(seed)
        happens = draw.choices(["nothing", "kill", "stop", "long"], [10, 6, 2, 2])[0]
        yield jobs.random_job(seed, happens, draw.choices(["lab", "local"], [3, 1])[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("weir")
    parser.add_argument("minutes", type=float, nargs="?", default=10)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the random jobs")
    parser.add_argument("--short", action="store_true", help="run each kind of job once, in about 20 seconds")
    parser.add_argument("--job", help="repeat one job that was printed: SEED HAPPENS WHERE")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the job that runs is ended too
    weir = str(Path(given.weir).resolve())
    probe = subprocess.run([weir, "lab", "run", "topologies/toy-two-machines.json", "--", "true"], cwd=ROOT,
                           capture_output=True, text=True, timeout=120, check=False)
    if probe.returncode != 0:
        print("Skipped:", probe.stderr.strip())
        sys.exit(NO_LAB)
    soak = Soak(weir)
    if given.job:
        seed, happens, where = given.job.split()
        print(jobs.random_job(int(seed), happens, where))
        soak.run(jobs.random_job(int(seed), happens, where))
    else:
        until = time.monotonic() + given.minutes * 60
        for job in draws(given.seed, given.short):
            if time.monotonic() > until:
                break
            print(job, flush=True)
            soak.run(job)
    print(soak.summary())
    sys.exit(1 if soak.wrong else 0)


if __name__ == "__main__":
    main()
