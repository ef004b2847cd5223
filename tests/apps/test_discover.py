"""weir discover and weir doctor as users call them. Run: python3 tests/apps/test_discover.py WEIR FAKE_NVML

FAKE_NVML is the folder of a library with NVML's name, which reports the machines listed in fake_nvml.cc."""

import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

import program

ROOT = Path(__file__).resolve().parent.parent.parent
BOX = ROOT / "tests/backends/real/discovery/two-sockets.xml"
GRADES = ["ok", "note", "warning", "wrong"]
fake_nvml = ""


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def weir(self, *arguments, status=0, nvml=None, box=False):
        environment = dict(os.environ)
        if nvml is not None:
            environment |= {"LD_LIBRARY_PATH": fake_nvml, "FAKE_NVML": nvml}
        if box:  # hwloc's own way to imitate another machine
            environment |= {"HWLOC_XMLFILE": str(BOX), "HWLOC_THISSYSTEM": "0"}
        done = program.run(*map(str, arguments), cwd=self.folder, env=environment)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def group(self, *arguments, **how):
        """The group in the topology of a machine."""
        return json.loads(self.weir("discover", "--nic-rate", "100Gbps",
                                    *arguments, **how).stdout)["groups"][0]

    def findings(self, **how):
        """The findings of doctor by subject. What CUDA reports with a fake driver depends on the build."""
        done = self.weir("doctor", "--json", status=None, **how)
        report = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1 if report["worst"] == "wrong" else 0, done.stdout)
        return {finding["subject"]: finding for finding in report["findings"]}


class Discover(Case):
    def test_what_is_discovered_here_passes_check_and_can_be_run(self):
        self.weir("discover", "--count", 3, "--name", "mine", "--nic-rate", "10Gbps", "--out", "mine.json")
        self.assertIn("mine.json: topology: ok", self.weir("check", "mine.json").stdout)
        topology = json.loads((self.folder / "mine.json").read_text())
        self.assertEqual((topology["name"], topology["groups"][0]["count"]), ("mine", 3))
        self.assertIn("discovered on", topology["source"])
        self.assertIn("nothing measured", topology["source"])

    def test_assumptions_go_to_the_error_stream_alone(self):
        done = self.weir("discover", "--nic-rate", "10Gbps")
        json.loads(done.stdout)
        self.assertTrue(all(line.startswith("weir discover: ") for line in done.stderr.splitlines()),
                        done.stderr)
        self.assertIn("--latency", done.stderr)
        done = self.weir("discover", "--nic-rate", "10Gbps", "--latency", "3us", "--memory-rate", "80GB/s",
                         "--sum-rate", "20GB/s")
        self.assertNotIn("--latency", done.stderr)
        self.assertNotIn("--measure", done.stderr)
        self.assertEqual(json.loads(done.stdout)["network"]["latency"], "3us")

    def test_what_is_measured_is_in_the_topology_and_reported(self):
        done = self.weir("discover", "--measure", "--nic-rate", "10Gbps")
        topology = json.loads(done.stdout)
        numa = topology["groups"][0]["numa"][0]
        self.assertLessEqual({"f16", "bf16", "f32", "f64", "i32", "i64", "other"}, set(numa["sum_rate"]))
        self.assertRegex(numa["memory_rate"], r"[GM]B/s|Gbps|Mbps")
        self.assertIn("measured: sums, memory", topology["source"])
        self.assertRegex(done.stderr, r"NUMA node \d+, \d+ threads: sums f16 ")

    def test_pci_switches_sockets_and_cards_of_a_machine(self):
        group = self.group(box=True)
        self.assertEqual(group["name"], "cpu")  # no driver shows the GPUs
        self.assertEqual(len(group["numa"]), 2)
        self.assertEqual(group["sockets"], [{"between": [0, 1], "rate": "22GB/s"}])

    def test_gpus_on_a_switch_by_nvml(self):
        done = self.weir("discover", box=True, nvml="switch")
        self.assertIn("does not list 2 of 4 NVIDIA GPUs on PCI", done.stderr)
        self.assertIn("has 370.8GB/s to the NVSwitch, others have less", done.stderr)
        self.assertNotIn("with an unknown end", done.stderr)
        group = json.loads(done.stdout)["groups"][0]
        self.assertEqual(group["name"], "gpu")
        self.assertEqual([(gpu["at"], gpu.get("count", 1)) for gpu in group["gpus"]], [("p0", 2)])
        self.assertEqual(group["gpus"][0]["memory"], "81559MiB")
        self.assertEqual(group["gpus"][0]["rate"], "48GB/s")
        self.assertEqual(group["nvlink"], {"switch": {"rate": "350.2GB/s"}})  # 17 of 18 links
        self.assertEqual([spec["name"] for spec in group["switches"]][0], "p0")

    def test_gpus_in_pairs_by_nvml(self):
        group = self.group(box=True, nvml="pairs")
        self.assertEqual([(gpu["at"], gpu.get("count", 1)) for gpu in group["gpus"]],
                         [("p0", 2), ("numa1", 2)])
        self.assertEqual(group["nvlink"], {"pairs": [{"between": [0, 1], "rate": "40GB/s"},
                                                     {"between": [2, 3], "rate": "40GB/s"}]})

    def test_gpus_that_are_not_in_the_pci_tree_are_taken_as_nvml_reports_them(self):
        group = self.group(nvml="mig")
        self.assertEqual([(gpu["at"], gpu["rate"]) for gpu in group["gpus"]], [("numa0", "48GB/s")])

    def test_wrong_options_are_reported(self):
        self.assertIn("'fast'", self.weir("discover", "--nic-rate", "fast", status=2).stderr)
        self.weir("discover", "--count", 0, status=2)
        self.weir("discover", "--everything", status=2)
        self.weir("doctor", "here", status=2)
        self.assertIn("no-folder",
                      self.weir("discover", "--nic-rate", "1Gbps", "--out", "no-folder/mine.json",
                                status=1).stderr)


class Doctor(Case):
    def test_json_has_the_version_the_worst_and_every_finding(self):
        done = self.weir("doctor", "--json", nvml="none")
        report = json.loads(done.stdout)
        self.assertEqual(set(report), {"weir", "worst", "findings"})
        grades = []
        for finding in report["findings"]:
            self.assertLessEqual({"subject", "grade", "found"}, set(finding))
            self.assertLessEqual(set(finding), {"subject", "grade", "found", "remedy"})
            self.assertTrue(finding["found"])
            grades.append(GRADES.index(finding["grade"]))
            if finding["grade"] == "warning":
                self.assertTrue(finding.get("remedy"), finding)
        self.assertEqual(GRADES[max(grades)], report["worst"])
        subjects = [finding["subject"] for finding in report["findings"]]
        for subject in ("build", "cpus", "memory", "locked memory", "huge pages",
                        "open files", "lab", "lab's CPUs", "gpus"):
            self.assertEqual(subjects.count(subject), 1, subjects)
        self.assertTrue(any(subject.startswith("nic") for subject in subjects), subjects)

    def test_lines_say_the_same(self):
        lines = self.weir("doctor").stdout.splitlines()
        self.assertRegex(lines[0], r"^(ok|note) +build +weir \d")
        for line in lines:
            self.assertRegex(line, r"^(ok|note|warning|wrong|) ")

    def test_gpus_are_judged_by_what_the_driver_reports(self):
        findings = self.findings(box=True, nvml="switch")
        self.assertIn("driver 550.54.15; on PCI there are 4", findings["gpus"]["found"])
        self.assertIn("NVIDIA H100 80GB HBM3", findings["gpus"]["found"])
        self.assertEqual(findings["nvlink"]["grade"], "warning")
        self.assertIn("GPU 1 (00ab:3d:00.0) has 17 NVLinks up and 1 down", findings["nvlink"]["found"])
        self.assertEqual(self.findings(nvml="mig")["mig"]["grade"], "warning")

    def test_a_host_without_gpus_is_fine(self):
        self.assertEqual(self.findings(nvml="none")["gpus"]["grade"], "note")

    def test_gpus_without_a_driver_are_reported(self):
        gpus = self.findings(box=True, nvml="no driver")["gpus"]
        self.assertEqual(gpus["grade"], "warning")
        self.assertIn("Driver Not Loaded", gpus["found"])

    def test_a_driver_that_ends_the_process_stops_no_other_check(self):
        findings = self.findings(nvml="dead")
        self.assertIn("ended by signal 6", findings["gpus"]["found"])
        self.assertEqual(findings["gpus"]["grade"], "wrong")  # and so the exit status is 1
        self.assertLessEqual({"build", "cpus", "lab"}, set(findings))

    def test_a_stuck_driver_delays_no_other_check_for_long(self):
        begin = time.monotonic()
        findings = self.findings(nvml="stuck")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertIn("no answer within 10 s", findings["gpus"]["found"])
        self.assertLessEqual({"build", "cpus", "lab"}, set(findings))


if __name__ == "__main__":
    fake_nvml = str(Path(sys.argv.pop(2)).resolve())
    program.main()
