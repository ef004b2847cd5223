"""One sweep under clusters' schedulers: Open MPI, and a Slurm of one node that the test starts itself.

Run as: python3 tests/apps/sweep/test_sweep_engines.py build/release/weir
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
import sweeping  # noqa: E402  pylint: disable=wrong-import-position

SLURM = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={first}
SlurmdPort={second}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_min_interval=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Engines(sweeping.Case):
    def setUp(self):
        super().setUp()
        self.sampled(60, strategies=["unified", "ring", "ps"])
        self.sweep(into=self.folder / "alone")

    def check_same(self):
        self.assertEqual(self.table(), self.table(self.folder / "alone"))
        self.assertEqual(sorted(self.keys()), sorted(self.keys(self.folder / "alone")))
        self.assertEqual(sorted(self.begun()), sorted(self.keys()))

    def check_shares(self, count):
        """Checks that all these processes computed, about equally much."""
        files = list(self.results.glob("runs-*.db"))
        self.assertEqual(len(files), count)
        shares = []
        for file in files:
            with sweeping.sqlite3.connect(file) as database:
                shares += database.execute("SELECT count(*) FROM runs").fetchone()
            database.close()
        self.assertLessEqual(max(shares) - min(shares), 1)


@unittest.skipUnless(shutil.which("mpirun"), "there is no mpirun; install openmpi-bin")
class Mpi(Engines):
    def test_three_ranks_give_the_results_of_one_process(self):
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run(["mpirun", "--oversubscribe", "-np", "3", *self.sweep_command("--jobs", "1")],
                              env=environment, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("share 1 of 3: ", done.stderr)
        self.check_same()
        self.check_shares(3)


class Slurm(Engines):
    def setUp(self):
        for tool in ("munged", "slurmctld", "slurmd", "srun", "sbatch"):
            if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin"):
                self.skipTest(f"there is no {tool}; install slurmctld, slurmd, slurm-client and munge")
        if os.geteuid() != 0:
            self.skipTest("slurmd runs jobs as root alone")
        super().setUp()
        self.slurm = self.folder / "slurm"
        self.slurm.mkdir(mode=0o755)
        self.folder.chmod(0o755)
        self.environment = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin",
                            "SLURM_CONF": str(self.slurm / "slurm.conf")}
        self.start_daemons()

    def start_daemons(self):
        key = self.slurm / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}",
                    f"--socket={self.slurm}/munge.socket", f"--pid-file={self.slurm}/munged.pid",
                    f"--log-file={self.slurm}/munged.log", f"--seed-file={self.slurm}/munged.seed",
                    "--num-threads=2")
        self.wait_for((self.slurm / "munge.socket").exists, "munged has made no socket")
        for name in ("state", "spool"):
            (self.slurm / name).mkdir()
        first, second = free_ports(2)
        (self.slurm / "slurm.conf").write_text(SLURM.format(
            host=socket.gethostname().split(".")[0], folder=self.slurm, first=first, second=second,
            cpus=os.cpu_count()))
        self.daemon("slurmctld", "-D", "-c")
        self.daemon("slurmd", "-D")
        self.wait_for(lambda: "idle" in self.call("sinfo", "-h", "-o", "%T").stdout, "the node is not idle")

    def daemon(self, *command):
        log = open(self.slurm / f"{command[0]}.out", "w",  # pylint: disable=consider-using-with
                   encoding="utf-8")
        self.addCleanup(log.close)
        process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)

        def end():
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

        self.addCleanup(end)

    def call(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True,
                              text=True, timeout=120, check=False, cwd=self.folder)

    def wait_for_jobs(self):
        self.wait_for(lambda: self.call("squeue", "-h").stdout.strip() == "", "jobs have not ended", 120)

    def logs(self):
        return "\n".join(file.read_text(errors="replace")[-3000:] for file in
                         [*self.slurm.glob("*.log"), *self.folder.glob("slurm-*.out")])

    def test_tasks_of_srun_and_of_job_arrays_give_the_results_of_one_process(self):
        with self.subTest("srun"):
            done = self.call("srun", "--overcommit", "-n", "3", *self.sweep_command("--jobs", "1"))
            self.assertEqual(done.returncode, 0, done.stderr + self.logs())
            self.assertIn("share 1 of 3: ", done.stderr)
            self.check_same()
            self.check_shares(3)
        with self.subTest("a job array"):
            shutil.rmtree(self.results)
            command = " ".join(map(str, self.sweep_command("--jobs", "1")))
            done = self.call("sbatch", "--array=3-9:2", f"--wrap={command}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.wait_for_jobs()
            self.assertTrue(self.results.is_dir(), self.logs())
            self.check_same()
            self.check_shares(4)
        with self.subTest("a batch script without srun computes everything"):
            shutil.rmtree(self.results)
            done = self.call("sbatch", "-n", "2", "--overcommit", f"--wrap={command}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.wait_for_jobs()
            self.assertTrue(self.results.is_dir(), self.logs())
            self.check_same()
            self.check_shares(1)


if __name__ == "__main__":
    program.main()
