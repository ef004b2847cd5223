"""What deploy/ holds: manifests against Kubernetes' schema, and the very commands of manifests and of the
script for Slurm, with processes of this host for pods and tasks.
Run: /usr/bin/python3 tests/apps/real/test_deploy.py WEIR"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import kubernetes
import yaml
from kubernetes.utils.quantity import parse_quantity

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import program  # noqa: E402  pylint: disable=wrong-import-position
from real import Real  # noqa: E402  pylint: disable=wrong-import-position

ROOT = Path(__file__).resolve().parents[3]
PLAIN = {"str": str, "int": int, "bool": bool, "float": float}


def manifests():
    return [manifest for file in sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))
            for manifest in yaml.safe_load_all(file.read_text(encoding="utf-8"))]


def problems(value, kind, where):
    """Where the value breaks the schema of its kind, from which the client's classes are made."""
    listed = re.fullmatch(r"list\[(.*)\]", kind)
    mapped = re.fullmatch(r"dict\(str, (.*)\)", kind)
    if listed or mapped:
        if not isinstance(value, list if listed else dict):
            return [f"{where}: {value!r} is no {kind}"]
        items = enumerate(value) if listed else value.items()
        inner = (listed or mapped).group(1)
        return [problem for key, item in items for problem in problems(item, inner, f"{where}.{key}")]
    if kind in PLAIN:
        # A bool is not an int.
        return [] if type(value) is PLAIN[kind] else [f"{where}: {value!r} is no {kind}"]
    if kind == "object":
        return []
    model = getattr(kubernetes.client, kind)
    if not isinstance(value, dict):
        return [f"{where}: {value!r} is no {kind}"]
    names = {name: attribute for attribute, name in model.attribute_map.items()}
    found = [f"{where}: {kind} has no {key}" for key in value if key not in names]
    known = {names[key]: item for key, item in value.items() if key in names}
    try:
        model(**known)
    except ValueError as error:
        found.append(f"{where}: {error}")
    for attribute, item in known.items():
        found += problems(item, model.openapi_types[attribute], f"{where}.{model.attribute_map[attribute]}")
    return found


def problems_of(manifest):
    group, _, api = manifest["apiVersion"].rpartition("/")
    assert group in ("", "batch"), group
    return problems(manifest, api.capitalize() + manifest["kind"], manifest["metadata"]["name"])


class Schema(unittest.TestCase):
    def test_manifests_follow_the_schema_of_kubernetes(self):
        kinds = [manifest["kind"] for manifest in manifests()]
        self.assertEqual(kinds, ["ConfigMap", "Job", "Job", "Job"])
        for manifest in manifests():
            self.assertEqual(problems_of(manifest), [])
            for container in (manifest.get("spec", {}).get("template", {}).get("spec", {})
                              .get("containers", [])):
                for amounts in container["resources"].values():
                    for amount in amounts.values():
                        parse_quantity(amount)

    def test_mistakes_are_found(self):
        for path, value, why in ((("spec", "completion"), 1, "has no completion"),
                                 (("spec", "backoffLimit"), "0", "is no int"),
                                 (("spec", "template", "spec", "containers"), {}, "is no list"),
                                 (("spec", "template", "spec", "containers", 0, "name"), None,
                                  "must not be `None`")):
            manifest = manifests()[-1]
            place = manifest
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            self.assertIn(why, "\n".join(problems_of(manifest)))


class Pods(Real):
    """One process of this host for each pod, with its volumes below the test's own folder."""

    def setUp(self):
        super().setUp()
        self.of = {manifest["metadata"]["name"]: manifest for manifest in manifests()}
        experiment = json.loads(self.of["weir-experiment"]["data"]["experiment.json"])
        # Another model, so that it ends soon.
        experiment["trace"] = str(ROOT / "traces" / "three-layers.json")
        self.configured = json.dumps(experiment)

    def start(self, job, index, files):
        """The pod's process and the probe's command. `files` are the contents of volumes, by volume and
        name."""
        spec = self.of[job]["spec"]["template"]["spec"]
        container, = spec["containers"]
        places = {"/opt/weir/bin/weir": program.command()[0], "/opt/weir/share/weir": str(ROOT)}
        for mount in container["volumeMounts"]:
            folder = self.folder / f"{job}-{index}-{mount['name']}"
            folder.mkdir()
            places[mount["mountPath"]] = str(folder)
            for name, text in files.get(mount["name"], {}).items():
                (folder / name).write_text(text)
        variables = {"POD_IP": "127.0.0.1", "WEIR_RANK": str(index)}
        env = {variable["name"]: variables[variable["name"]] for variable in container["env"]}
        pattern = re.compile(r"(?<![\w./])(" + "|".join(map(re.escape, places)) + r")(?![\w.])")

        def words(texts):
            known = [re.sub(r"\$\(([^)]*)\)", lambda found: env.get(found[1], found[0]), text)
                     for text in texts]
            return [pattern.sub(lambda found: places[found[0]], text) for text in known]

        if "experiment" in files:
            file = Path(places["/experiment"]) / "experiment.json"
            file.write_text(pattern.sub(lambda found: places[found[0]], file.read_text()))
        # This host may lack GPUs; host memory that stands for them takes the same path.
        command = [word.replace(" --gpus ", " ") for word in words(container["command"] + container["args"])]
        process = subprocess.Popen(command, env={**os.environ, **env},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        probe = container.get("readinessProbe", {}).get("exec", {}).get("command", [])
        return process, words(probe)

    def test_the_commands_of_the_manifests_run_the_experiment(self):
        run, ready = self.start("weir-coordinator", 0, {"experiment": {"experiment.json": self.configured}})
        deadline = time.monotonic() + 20
        while subprocess.run(ready, check=False).returncode != 0:
            if run.poll() is not None or time.monotonic() > deadline:
                run.kill()
                self.fail(run.communicate())
            time.sleep(0.05)
        secret = {"key": {"key": Path(ready[-1]).read_text()}}
        nodes = [self.start(job, index, secret)[0]
                 for job in ("weir-gpu", "weir-cpu") for index in range(self.of[job]["spec"]["completions"])]
        out, errors = run.communicate(timeout=60)
        self.assertEqual((run.returncode, errors), (0, ""), out)
        ends = [(*node.communicate(timeout=10), node.returncode) for node in nodes]
        self.assertEqual(ends, [("", "", 0)] * 6)
        self.assertRegex(out, r"(?m)^unified,")
        self.assertNotEqual(subprocess.run(ready, check=False).returncode, 0)

    def test_pods_are_as_many_as_machines_and_have_their_gpus(self):
        words = " ".join(self.of["weir-coordinator"]["spec"]["template"]["spec"]["containers"][0]["args"])
        self.assertIn(" --gpus ", words)
        counts = dict(re.findall(r"topology\.groups\.(\w+)\.count=(\d+)", words))
        self.assertEqual(set(counts), {"gpu", "cpu"})
        for group, count in counts.items():
            spec = self.of[f"weir-{group}"]["spec"]
            self.assertEqual((spec["completions"], spec["parallelism"]), (int(count), int(count)))
        file = json.loads(self.of["weir-experiment"]["data"]["experiment.json"])["topology"]
        topology = json.loads((ROOT / "topologies" / Path(file).name).read_text())
        gpus = sum(gpu.get("count", 1) for gpu in topology["groups"][0]["gpus"])
        limits = self.of["weir-gpu"]["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
        self.assertEqual(limits["nvidia.com/gpu"], str(gpus))


# Replaces Slurm's srun: a task for each node.
SRUN = r"""#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
tasks=
for task in $(seq 0 $((SLURM_NNODES - 1))); do
  SLURM_PROCID=$task "$@" &
  tasks="$tasks $!"
done
for task in $tasks; do wait "$task" || exit; done
"""


class Slurm(Real):
    def batch(self, *arguments, srun=SRUN, **variables):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "srun").write_text(srun)
        (tools / "srun").chmod(0o755)
        env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SLURM_SUBMIT_DIR": str(self.folder),
               "WEIR": program.command()[0], "WEIR_ADDRESS": "echo 127.0.0.1",
               "TMPDIR": str(self.folder), **variables}
        return subprocess.run(["bash", ROOT / "deploy" / "slurm" / "weir.sbatch", *arguments, "--no-plots",
                               "--out", self.out],
                              env=env, cwd=self.folder, capture_output=True, text=True, timeout=60,
                              check=False)

    def test_the_script_runs_all_runs_of_an_experiment(self):
        done = self.batch(ROOT / "experiments" / "priority_and_partition", SLURM_NNODES="2")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(len(self.rows()), 4)
        self.assertEqual([path.name for path in self.folder.glob("tmp.*")], [])

    def test_nodes_that_do_not_start_end_the_run(self):
        done = self.batch(ROOT / "experiments" / "priority_and_partition", srun="#!/bin/sh\nexit 1\n")
        self.assertEqual(done.returncode, 128 + signal.SIGTERM)
        self.assertIn("interrupted", done.stderr)

    def test_the_script_ends_as_the_run_does(self):
        done = self.batch(ROOT / "experiments" / "none", SLURM_NNODES="2")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    program.main()
