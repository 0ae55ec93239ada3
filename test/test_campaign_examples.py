# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The examples of clusters and of continuous integration say what their programs accept."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml
from distributed.cli import dask_scheduler, dask_worker

from aerotwin_campaign import load_campaign
from aerotwin_core import cli
from aerotwin_core.child_python import python_command

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples" / "campaigns"
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


def kubernetes_objects():
    return list(yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text("utf-8")))


def test_the_programs_of_kubernetes_take_their_options():
    commands = [
        container["command"]
        for each in kubernetes_objects() if each["kind"] == "Deployment"
        for container in each["spec"]["template"]["spec"]["containers"]
    ]  # fmt: skip
    mains = {
        "distributed.cli.dask_scheduler": dask_scheduler.main,
        "distributed.cli.dask_worker": dask_worker.main,
    }
    assert [command[3] for command in commands] == [*mains]
    for command in commands:
        assert command[:3] == ["python", "-P", "-m"]
        mains[command[3]].make_context("dask", [*command[4:]])  # raises for an unknown option


def test_only_pods_of_the_campaigns_reach_the_scheduler_of_kubernetes():
    objects = {each["kind"]: each for each in kubernetes_objects()}
    chosen = objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"].items()
    for each in (each for each in kubernetes_objects() if each["kind"] == "Deployment"):
        assert chosen <= each["spec"]["template"]["metadata"]["labels"].items()
        selector = each["spec"]["selector"]["matchLabels"].items()
        assert selector <= each["spec"]["template"]["metadata"]["labels"].items()
    (rule,) = objects["NetworkPolicy"]["spec"]["ingress"]
    assert [source["podSelector"]["matchLabels"].items() for source in rule["from"]] == [chosen]


def test_the_workflow_runs_verbs_that_are_there_and_pins_its_actions():
    workflow = yaml.safe_load((EXAMPLES / "github_workflow.yaml").read_text("utf-8"))
    steps = workflow["jobs"]["fly"]["steps"]
    assert all(PINNED.fullmatch(step["uses"]) for step in steps if "uses" in step)
    runs = [step["run"].split() for step in steps if step.get("run", "").startswith("aerotwin ")]
    assert runs
    from aerotwin_campaign import run_command

    for tokens in runs:
        assert tokens[1:3] == ["campaign", "run"]
        cli.parser_of(run_command, "x").parse_args(tokens[3:])


@pytest.mark.machine_network  # dask looks for a way out
def test_the_job_of_slurm_starts_a_worker_in_the_environment():
    pytest.importorskip("dask_jobqueue")
    done = subprocess.run(
        python_command(str(EXAMPLES / "slurm_cluster.py")),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "#SBATCH --cpus-per-task=8\n" in done.stdout and "#SBATCH -t 08:00:00\n" in done.stdout
    assert f". {ROOT}/.venv/.aerotwin/environment.sh\n" in done.stdout
    assert re.search(
        r"-m distributed.cli.dask_worker tcp://127\.0\.0\.1:\d+ .*--nthreads 8 ", done.stdout
    )


def test_the_campaign_for_continuous_integration_is_small():
    assert load_campaign(ROOT / "config" / "campaigns" / "smoke.yaml").n_runs <= 10
