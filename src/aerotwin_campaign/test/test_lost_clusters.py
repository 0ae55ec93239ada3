# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of a campaign on Dask whose scheduler, workers or client are lost or wrong."""

import os
import subprocess
from collections import Counter

import pytest
import yaml

from aerotwin_campaign import run_on_dask
from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from support.campaigns import STUBS, campaign_of, carried_out, leftovers, result_files
from support.dask_cluster import PATIENCE_S, Cluster, processes_naming, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.machine_network]  # dask looks for a way out
N_RUNS = 40
DISK_BYTES = 512 << 10


@pytest.fixture
def cluster_of(tmp_path):
    """What starts clusters that are killed at the end."""
    started = []

    def start(n_workers, *options):
        started.append(Cluster(tmp_path, n_workers, *options))
        return started[-1]

    yield start
    for cluster in started:
        cluster.close()
    wait_until(lambda: processes_naming(str(tmp_path)) == [], "orphans")


@pytest.fixture
def campaign(tmp_path):
    """What starts a campaign of short sleeps, which note that they were begun, in a process."""
    file, store, calls = tmp_path / "campaign.yaml", tmp_path / "store", tmp_path / "calls"
    content = {
        "name": "x", "run": f"{STUBS}:sleeping",
        "axes": {"a": {"from": 1, "to": N_RUNS, "step": 1}},
        "base": {"a": 0, "sleep_s": 0.3, "calls": str(calls)},
    }  # fmt: skip
    file.write_text(yaml.safe_dump(content))
    command = ["-m", "aerotwin_core.cli", "campaign", "run", str(file), "--store", str(store)]

    def start(cluster):
        return subprocess.Popen(
            python_command(*command, "--scheduler", cluster.address),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    return start, store, calls


def assert_completed(process, store, calls, most_twice):
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    assert f"{N_RUNS} runs: {N_RUNS} done, 0 of them failed, 0 left" in output
    assert len(result_files(store)) == N_RUNS and leftovers(store) == []
    n_calls = Counter(calls.read_text().splitlines())
    assert set(n_calls) == {str(k) for k in range(1, N_RUNS + 1)}
    assert sum(n_calls.values()) <= N_RUNS + most_twice
    return output


def test_a_killed_scheduler_is_said_and_the_same_command_goes_on_with_another(cluster_of, campaign):
    start, store, calls = campaign
    cluster = cluster_of(2)
    process = start(cluster)
    wait_until(lambda: len(result_files(store)) >= 4, "no runs")
    cluster.scheduler.kill()
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, output
    assert "the scheduler was lost; what is done is stored; then: aerotwin campaign res" in output
    assert "Traceback" not in output and f"{N_RUNS} runs: " in output
    for worker in cluster.workers:  # they end of themselves, with what they have started
        worker.wait(timeout=PATIENCE_S)
    wait_until(lambda: processes_naming(str(store)) == [], "orphans")
    before = result_files(store)
    assert 4 <= len(before) < N_RUNS
    output = assert_completed(start(cluster_of(2)), store, calls, most_twice=2)
    assert f"{len(before)} of {N_RUNS} runs are done already" in output
    assert {name: result_files(store)[name] for name in before} == before


def test_a_killed_client_costs_the_cluster_no_more_than_the_runs_that_were_begun(
    cluster_of, campaign
):
    start, store, calls = campaign
    cluster = cluster_of(2)
    process = start(cluster)
    wait_until(lambda: len(result_files(store)) >= 4, "no runs")
    process.kill()
    process.communicate()
    n_before = len(calls.read_text().splitlines())
    wait_until(lambda: leftovers(store) == [], "runs that go on")
    assert len(calls.read_text().splitlines()) <= n_before + 2  # one a thread
    assert_completed(start(cluster), store, calls, most_twice=2)


def test_a_worker_with_other_versions_ends_the_campaign_and_both_are_named(
    cluster_of, campaign, tmp_path
):
    other = tmp_path / "other" / "numpy-1.2.3.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.2.3\n")
    start, store, _ = campaign
    cluster = cluster_of(0)
    path = f"{other.parent}:{os.environ['PYTHONPATH']}"
    cluster.workers.append(cluster.worker({"PYTHONPATH": path}))
    process = start(cluster)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2, output
    assert "versions: numpy is 1.2.3 on " in output and ", but 2." in output
    assert "install the same on all workers" in output and "Traceback" not in output
    assert result_files(store) == {} and leftovers(store) == []


def test_the_runs_of_a_worker_with_a_full_disk_are_made_by_others(cluster_of, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    options = f"size={DISK_BYTES}"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted by this user")
    try:
        cluster = cluster_of(1)
        cluster.workers.append(cluster.worker({"TMPDIR": str(disk)}))
        url = f"local://{tmp_path}/store"  # runs are made in the worker's temporary folder
        given = campaign_of("writes_a_megabyte", seeds={"first": 1, "count": 6})
        found = carried_out(given, url, run_on_dask, scheduler=cluster.address)
        assert found.progress.not_made == {}
        assert found.table.table()["outcome"].to_pylist() == ["written"] * 6
        cluster.close()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_dashboard_is_named_where_there_is_one(cluster_of, tmp_path):
    pytest.importorskip("bokeh")
    said = []
    cluster = cluster_of(1, "--dashboard-address", "127.0.0.1:0")
    campaign = campaign_of("no_op", base={"a": 1})
    carried_out(
        campaign, tmp_path / "s", run_on_dask, scheduler=cluster.address, on_connection=said.append
    )
    (line,) = said
    assert "; dashboard: http://127.0.0.1:" in line and line.startswith("cluster: workers ")


def test_a_dashboard_in_this_process_is_on_the_loopback(tmp_path):
    pytest.importorskip("bokeh")
    said = []
    carried_out(
        campaign_of("no_op", base={"a": 1}), tmp_path, run_on_dask, on_connection=said.append
    )
    (line,) = said
    assert line.startswith("cluster: workers 1, threads 1; dashboard: http://127.0.0.1:")


def test_a_web_server_without_a_dashboard_is_not_named(cluster_of, tmp_path):
    said = []
    cluster = cluster_of(1, "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
    campaign = campaign_of("no_op", base={"a": 1})
    carried_out(
        campaign, tmp_path / "s", run_on_dask, scheduler=cluster.address, on_connection=said.append
    )
    (line,) = said
    assert line.startswith("cluster: workers ") and "dashboard" not in line


def test_certificates_that_are_not_configured_are_said(tmp_path):
    with pytest.raises(UserError, match=r"TLS expects .* name certificates in ~/.config/dask"):
        carried_out(
            campaign_of("no_op", base={"a": 1}),
            tmp_path,
            run_on_dask,
            scheduler="tls://127.0.0.1:9",
        )


def test_a_scheduler_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UserError, match=r"--scheduler tcp://127.0.0.1:9: does not answer"):
        carried_out(
            campaign_of("no_op", base={"a": 1}),
            tmp_path,
            run_on_dask,
            scheduler="tcp://127.0.0.1:9",
        )
