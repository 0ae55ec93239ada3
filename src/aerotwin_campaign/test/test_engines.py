# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every engine makes the same results, and survives what happens to its processes."""

import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack

import psutil
import pytest
import yaml

from aerotwin_campaign import run_on_dask
from aerotwin_core.child_python import python_command
from support.campaigns import STUBS, campaign_of, carried_out, leftovers, opened, result_files
from support.dask_cluster import PATIENCE_S, Cluster, processes_naming, wait_until

pytestmark = pytest.mark.machine_network  # dask looks for a way out

NUMERIC = {
    "base": {"a": 0.0},
    "axes": {"a": {"normal": {"mean": 1.0, "std": 2.0}}},
    "sampling": "sobol",
    "samples": 8,
    "seeds": [1, 2],
}


def listening_addresses() -> list[str]:
    """Return the addresses at which this process listens for TCP."""
    connections = psutil.Process().net_connections("tcp")
    return [each.laddr.ip for each in connections if each.status == psutil.CONN_LISTEN]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The results of one worker."""
    store = tmp_path_factory.mktemp("one")
    done = carried_out(campaign_of("numeric", **NUMERIC), store, n_workers=1)
    assert done.progress.not_made == {}
    found = result_files(store)
    assert len(found) == 16
    return found


def test_two_workers_find_what_one_finds(expected, tmp_path):
    carried_out(campaign_of("numeric", **NUMERIC), tmp_path, n_workers=2)
    assert result_files(tmp_path) == expected


def test_dask_in_this_process_finds_what_one_worker_finds(expected, tmp_path):
    carried_out(campaign_of("numeric", **NUMERIC), tmp_path, run_on_dask, n_workers=2)
    assert result_files(tmp_path) == expected
    assert processes_naming(str(tmp_path)) == []


def test_dask_in_this_process_listens_on_the_loopback_only(tmp_path):
    before, found = listening_addresses(), []
    carried_out(
        campaign_of("no_op", base={"a": 1}), tmp_path, run_on_dask,
        on_connection=lambda _: found.extend(listening_addresses()),
    )  # fmt: skip
    opened_now = Counter(found) - Counter(before)
    assert opened_now and set(opened_now) == {"127.0.0.1"}


def test_a_store_that_cannot_rename_has_the_same_results(expected, tmp_path):
    campaign = campaign_of("numeric", **NUMERIC)
    url = f"local://{tmp_path}"  # as an object store: no folders are moved
    assert carried_out(campaign, url, n_workers=2).progress.n_left == 0
    assert result_files(tmp_path) == expected
    assert (tmp_path / "results.parquet").is_file()
    assert opened(campaign, url).progress.n_left == 0


@pytest.mark.slow
def test_dask_over_tcp_loses_nothing_with_its_workers(expected, tmp_path):
    rng, is_over, n_kills = random.Random(3), threading.Event(), 0
    with ExitStack() as stack:
        cluster = Cluster(tmp_path, 3)
        stack.callback(cluster.close)
        store = tmp_path / "store"
        found = carried_out(
            campaign_of("numeric", **NUMERIC), store, run_on_dask, scheduler=cluster.address
        )
        assert result_files(store) == expected

        def kill_now_and_then():
            nonlocal n_kills
            while not is_over.wait(2.0):
                cluster.kill_one(rng)
                n_kills += 1

        killer = threading.Thread(target=kill_now_and_then)
        killer.start()
        stack.callback(killer.join)
        stack.callback(is_over.set)
        slow = campaign_of(
            "sleeping", base={"sleep_s": 0.3, "a": 0}, axes={"a": {"from": 1, "to": 60, "step": 1}}
        )
        found = carried_out(slow, tmp_path / "slow", run_on_dask, scheduler=cluster.address)
        assert n_kills >= 2
        assert found.progress.not_made == {} and found.progress.n_failures == 0
        assert found.table.table()["metrics.a"].to_pylist() == list(range(1, 61))
        assert len(result_files(tmp_path / "slow")) == 60
        assert found.table.table()["outcome"].unique().to_pylist() == ["slept"]
    opened(slow, tmp_path / "slow").store.remove_unfinished()
    assert leftovers(tmp_path / "slow") == []
    wait_until(lambda: processes_naming(str(tmp_path)) == [], "orphans")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_ends_a_cluster_in_this_process_and_begins_no_run_that_waits(tmp_path, number):
    file, store = tmp_path / "campaign.yaml", tmp_path / "store"
    base, axes = {"a": 0, "sleep_s": 4.0 * PATIENCE_S}, {"a": [1, 2, 3, 4]}
    content = {"name": "x", "run": f"{STUBS}:sleeping", "base": base, "axes": axes}
    file.write_text(yaml.safe_dump(content))
    command = ["-m", "aerotwin_core.cli", "campaign", "run", str(file), "--store", str(store)]
    process = subprocess.Popen(
        python_command(*command, "--scheduler", "local", "--workers", "2"),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: len(leftovers(store)) == 2, "no runs")
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number, output
    assert "Error" not in output and "4 runs: 0 done" in output
    assert processes_naming(str(store)) == [] and leftovers(store) == []


@pytest.fixture
def started(tmp_path):
    """A campaign of thirty short sleeps in a process of its own that has made some runs."""
    file, store = tmp_path / "campaign.yaml", tmp_path / "store"
    axes = {"a": {"from": 1, "to": 30, "step": 1}}
    content = {
        "name": "x",
        "run": f"{STUBS}:sleeping",
        "base": {"a": 0, "sleep_s": 0.2},
        "axes": axes,
    }
    file.write_text(yaml.safe_dump(content))
    command = [sys.executable, "-P", "-m", "aerotwin_core.cli", "campaign", "run", str(file)]
    command += ["--workers", "2", "--store", str(store)]

    def start(*more):
        return subprocess.Popen(
            [*command, *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip

    process = start()
    wait_until(lambda: len(result_files(store)) >= 4, "no runs")
    yield process, start, store
    if process.poll() is None:
        process.kill()
        process.communicate()


def assert_resumed(start, store):
    process = start()
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    assert "30 runs: 30 done, 0 of them failed, 0 left" in output
    assert len(result_files(store)) == 30 and leftovers(store) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_leaves_no_process_and_no_part_of_a_run(started, number):
    process, start, store = started
    process.send_signal(number)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number, output
    assert "Traceback" not in output and " left\n" in output
    assert processes_naming(str(store)) == []
    assert leftovers(store) == []
    n_made = len(result_files(store))
    assert 4 <= n_made < 30
    assert (store / "results.parquet").is_file()
    assert_resumed(start, store)


def test_a_killed_campaign_leaves_no_process_and_is_resumed(started):
    process, start, store = started
    process.kill()
    process.communicate()
    wait_until(lambda: processes_naming(str(store)) == [], "orphans")
    before = result_files(store)
    assert 4 <= len(before) < 30
    assert_resumed(start, store)
    assert {name: result_files(store)[name] for name in before} == before


def test_a_second_campaign_in_one_store_is_refused(started):
    _, start, store = started
    second = start()
    output, _ = second.communicate(timeout=PATIENCE_S)
    assert second.returncode == 2 and f"{store}: is being written by process" in output
