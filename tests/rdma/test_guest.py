"""The guest that tests of RDMA run in: what comes out of it, and that nothing stays behind.

Run as: python3 tests/rdma/test_guest.py [TEST...]
Ends with status 77 where no guest can be had, and says why.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

GUEST = Path(__file__).resolve().parent / "guest"
SKIPPED, LATE, BROKEN = 77, 124, 125
CABLE = "/sys/class/net/cable0/statistics/rx_packets"

# Both devices are at addresses of this machine: rxe0 at 10.77.0.1, rxe1 at 10.77.0.2. The server is at rxe0,
# and the client's RC queue pair, from rxe1 to the server's GID, crosses the cable. GID 1 is the IPv4
# address's, GID 0 the link's own. What the two say over TCP (port 18515 = 0x4853) stays within the machine.
WRITES = f"""
before=$(<{CABLE})
ib_write_bw -d rxe0 -x 1 -F -s 65536 -n 100 >/tmp/server 2>&1 &
until grep -q ':4853 .* 0A ' /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done
ib_write_bw -d rxe1 -x 1 -F -s 65536 -n 100 10.77.0.1 || exit
wait $! || {{ cat /tmp/server; exit 1; }}
echo packets $(($(<{CABLE}) - before))
"""

ONE_BOOT = """
set -e
echo printed; echo complained >/dev/stderr
echo folder $PWD, given "$GIVEN"
ibv_devices
echo kept >"$WEIR_GUEST_OUT/file"
touch "$CHANGED"
sleep 1000 &
bash -c "$WRITES"
exit 42
"""


def started(*arguments, folder, path=os.environ["PATH"]):
    """The guest's process, whose temporary files go into the folder."""
    return subprocess.Popen(
        [sys.executable, GUEST, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=GUEST.parent, env={**os.environ, "TMPDIR": folder, "PATH": path})


def children(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


class Guest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weir-test-guest-")
        self.addCleanup(shutil.rmtree, self.folder)

    def run_guest(self, *arguments, **how):
        process = started(*arguments, folder=self.folder, **how)
        output, errors = process.communicate(timeout=300)
        if process.returncode == SKIPPED and not how:
            print(output, end="", flush=True)
            os._exit(SKIPPED)  # unittest would make it a failure
        return process.returncode, output, errors

    def test_a_command_is_run_as_on_the_host_and_its_writes_cross_the_cable(self):
        out = Path(self.folder) / "out"
        changed = Path(self.folder) / "changed"
        status, output, errors = self.run_guest(
            "--out", str(out), "--env", "GIVEN=a  'b'", "--env", f"WRITES={WRITES}",
            "--env", f"CHANGED={changed}", "--", "bash", "-c", ONE_BOOT)
        self.assertEqual(status, 42, output + errors)
        self.assertEqual(errors, "complained\n")
        self.assertIn(f"printed\nfolder {GUEST.parent}, given a  'b'\n", output)
        self.assertIn("rxe0", output)
        self.assertIn("rxe1", output)
        self.assertEqual((out / "file").read_text(), "kept\n")
        self.assertFalse(changed.exists())
        packets = int(output.split("packets ")[-1])
        self.assertGreaterEqual(packets, 100 * 65536 / 4096)
        self.assertEqual(os.listdir(self.folder), ["out"])

    def test_a_command_that_takes_too_long_is_ended_and_the_console_kept(self):
        status, output, errors = self.run_guest("--timeout", "2", "--", "sh", "-c", "echo before; sleep 1000")
        self.assertEqual(status, LATE, output + errors)
        self.assertEqual(output, "before\n")
        self.assertRegex(errors, r"^guest: sh -c '.*; sleep 1000' took longer than 2 s; console: \S+\n$")
        console = errors.split()[-1]
        self.assertEqual(os.listdir(self.folder), [os.path.basename(console)])

    def test_a_guest_that_cannot_start_says_so_and_where_its_console_is(self):
        status, output, errors = self.run_guest("--memory", "16", "--", "true")
        self.assertEqual(status, BROKEN, output + errors)
        self.assertRegex(errors, r"^(guest: .*; console: \S+\nguest: starting it again\n){2}"
                                 r"guest: .*; console: \S+\n$")

    def test_nothing_stays_behind_when_it_is_terminated(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = started("--", "true", folder=self.folder)
            while process.poll() is None and not children(process):
                time.sleep(0.05)
            machine = children(process)
            time.sleep(1)
            process.send_signal(number)
            process.communicate(timeout=20)
            self.assertEqual(process.returncode, 128 + number)
            self.assertEqual(os.listdir(self.folder), [])
            self.assertEqual([pid for pid in machine if Path("/proc", pid).exists()], [])

    def test_a_missing_program_is_named(self):
        status, output, errors = self.run_guest("--", "true", path="/nowhere")
        self.assertEqual((status, errors), (SKIPPED, ""))
        self.assertEqual(output, "skipped: no guest: missing qemu-system-x86_64 (package qemu-system-x86)\n")


if __name__ == "__main__":
    unittest.main()
