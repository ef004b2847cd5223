"""Training sessions over the C library: ranks written in C, and CPU machines that are `weir node --server`.

Run as: python3 tests/apps/real/test_session.py PROGRAM EXAMPLE
"""

import os
import secrets
import socket
import subprocess
import sys
import unittest

EXAMPLE = sys.argv.pop(2)
PROGRAM = sys.argv.pop(1)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Sessions(unittest.TestCase):
    def run_session(self, ranks, servers, **more):
        """The finished ranks and servers, in order; all are ended when the test is."""
        common = {**{key: value for key, value in os.environ.items() if not key.startswith("WEIR_")},
                  "WEIR_SIZE": str(ranks), "WEIR_SERVERS": str(servers),
                  "WEIR_LEADER": f"127.0.0.1:{free_port()}",
                  "WEIR_SECRET": secrets.token_hex(32), "WEIR_PATIENCE": "20", **more}
        commands = [([EXAMPLE], {"WEIR_RANK": str(i)}) for i in range(ranks)]
        commands += [([PROGRAM, "node", "--server", str(i), "--listen", "127.0.0.1"], {})
                     for i in range(servers)]
        started = [subprocess.Popen(command, env={**common, **own}, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True) for command, own in commands]
        for process in started:
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
        done = []
        for process in started:
            out, error = process.communicate(timeout=60)
            done.append((process.returncode, out, error))
        return done

    def test_ranks_in_c_and_cpu_machines(self):
        for ranks, servers in ((1, 0), (2, 0), (3, 2)):
            done = self.run_session(ranks, servers)
            for rank, one in enumerate(done[:ranks]):
                self.assertEqual(one, (0, f"rank {rank} of {ranks}: 0 sums are wrong\n", ""))
            for one in done[ranks:]:
                self.assertEqual(one, (0, "", ""))

    def test_settings_that_fit_nothing_are_reported_by_name(self):
        for name, value, expected in (("WEIR_STRATEGY", "none", "strategy: unknown strategy 'none'; "),
                                      ("WEIR_SECRET", "abc", "secret: "),
                                      ("WEIR_LEADER", "here", "leader: "),
                                      ("WEIR_SIZE", "none", "WEIR_SIZE: ")):
            code, _, error = self.run_session(1, 0, WEIR_RANK="0", WEIR_SERVERS="1", **{name: value})[0]
            self.assertEqual(code, 1)
            self.assertIn(f"weir_init: {expected}", error)
        for name, value in (("WEIR_STRATEGY", "none"), ("WEIR_TOPOLOGY", "none.json"),
                            ("WEIR_SETTINGS", "none.json"), ("WEIR_OPTIONS", "none")):
            code, _, error = self.run_session(1, 0, **{name: value})[0]  # a rank alone does not use them
            self.assertEqual(code, 1, name)
            self.assertIn("none", error)
        done = subprocess.run([PROGRAM, "node", "--server", "3", "--listen", "127.0.0.1"],
                              capture_output=True, text=True, timeout=20,
                              env={**os.environ, "WEIR_SERVERS": "2"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no server 3: the session has 2", done.stderr)


if __name__ == "__main__":
    unittest.main()
