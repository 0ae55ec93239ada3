# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: what a run costs beyond its function, what specifications need, a second worker."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from aerotwin_campaign import run_on_dask
from aerotwin_core.child_python import python_command
from evidence.benchmarks.result import Benchmark
from support.campaigns import FOLDER, campaign_of, carried_out
from support.dask_cluster import Cluster

N_WORKERS, N_RUNS, SLEEP_S = 16, 640, 0.5
MOST_OVERHEAD_MS = 5.0
N_SPECIFICATIONS, MOST_BYTES = 100_000, 2 << 30
N_BUSY, BUSY_S = 16, 1.0
LEAST_SHARE = 0.9
BUSY = "import sys, time\nwhile time.process_time() < float(sys.argv[1]): pass"
READ = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.campaigns import campaign_of, opened
from aerotwin_campaign import RunReport, StoredRun

def engine(specs):
    for spec in specs:
        metrics, cost = {"a": spec.document["a"]}, {"wall_s": 1.0, "cpu_s": 1.0}
        stored = StoredRun(id=spec.id, metrics=metrics, is_success=True, outcome="", cost=cost)
        yield RunReport(id=spec.id, stored=stored)

axes = {"a": {"from": 1, "to": int(sys.argv[3]), "step": 1}}
found = opened(campaign_of("no_op", base={"a": 0}, axes=axes), Path(sys.argv[2]))
found.carry_out(engine, lambda _: None)
assert found.progress.n_done == int(sys.argv[3])
"""


def campaign_speed() -> list[Benchmark]:
    """Measure scheduling by Dask, the memory of specifications, and the use of a second worker."""
    path = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = f"{FOLDER}{os.pathsep}{path}"  # of workers in other folders
    with TemporaryDirectory(prefix="aerotwin-") as name:
        folder = Path(name)
        return [_overhead(folder), _memory(folder), _second_worker(folder)]


def _overhead(folder: Path) -> Benchmark:
    """Return the time of a run beyond its sleep, all workers being busy."""
    with ExitStack() as stack:
        cluster = Cluster(folder, 0)
        stack.callback(cluster.close)
        cluster.workers.append(cluster.worker(n_threads=N_WORKERS))
        _sleeps(folder / "warm", cluster.address, N_WORKERS)
        begin_s = time.perf_counter()
        _sleeps(folder / "runs", cluster.address, N_RUNS)
        took_s = time.perf_counter() - begin_s
    ideal_s = N_RUNS * SLEEP_S / N_WORKERS
    return Benchmark.beside(
        f"a run by Dask, {N_WORKERS} at a time, beyond its function", "ms",
        (took_s - ideal_s) / N_RUNS * 1e3, peer="limit", peer_value=MOST_OVERHEAD_MS, goal=1.0,
    )  # fmt: skip


def _sleeps(store: Path, address: str, n_runs: int) -> None:
    campaign = campaign_of(
        "sleeping", base={"sleep_s": SLEEP_S, "a": 0},
        axes={"a": {"from": 1, "to": n_runs, "step": 1}}, keep="metrics",
    )  # fmt: skip
    found = carried_out(campaign, store, run_on_dask, scheduler=address)
    if found.progress.n_done != n_runs:
        sys.exit(f"runs are missing: {found.progress}")


def _memory(folder: Path) -> Benchmark:
    """Return the largest memory of a process that has a campaign and all its results."""
    arguments = str(FOLDER), str(folder / "many"), str(N_SPECIFICATIONS)
    with subprocess.Popen(python_command("-c", READ, *arguments)) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"the process of {N_SPECIFICATIONS} specifications ended: {child.returncode}")
    return Benchmark.beside(
        f"memory of {N_SPECIFICATIONS:,} specifications and their results", "MB",
        used.ru_maxrss / 1024, peer="limit", peer_value=MOST_BYTES / 2**20, goal=1.0,
    )  # fmt: skip


def _second_worker(folder: Path) -> Benchmark:
    """Return what a second worker brings, beside what a second bare process brings here."""
    ours_s = [_busy_campaign(folder / f"busy{n}", n) for n in (1, 2)]
    bare_s = [_busy_processes(n) for n in (1, 2)]
    return Benchmark.beside(
        "two workers in place of one, share of the time", "",
        ours_s[1] / ours_s[0], peer="two bare processes", peer_value=bare_s[1] / bare_s[0],
        goal=LEAST_SHARE,
    )  # fmt: skip


def _busy_campaign(store: Path, n_workers: int) -> float:
    campaign = campaign_of(
        "busy", base={"sleep_s": BUSY_S, "a": 0},
        axes={"a": {"from": 1, "to": N_BUSY, "step": 1}}, keep="metrics",
    )  # fmt: skip
    begin_s = time.perf_counter()
    carried_out(campaign, store, n_workers=n_workers)
    return time.perf_counter() - begin_s


def _busy_processes(n: int) -> float:
    command = python_command("-c", BUSY, str(N_BUSY * BUSY_S / n))
    begin_s = time.perf_counter()
    children = [subprocess.Popen(command) for _ in range(n)]
    for child in children:
        child.wait()
    return time.perf_counter() - begin_s
