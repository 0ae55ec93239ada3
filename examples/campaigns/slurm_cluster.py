# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster of Slurm jobs (pip install dask-jobqueue), for as long as this program runs.

python slurm_cluster.py                  prints the script of a job and submits nothing
python slurm_cluster.py JOBS INTERFACE   starts a scheduler here, on that network card, and the jobs
"""

import signal
import sys
from pathlib import Path

from dask_jobqueue import SLURMCluster

AEROTWIN = Path(__file__).resolve().parents[2]  # on a file system that all nodes share


def main() -> None:
    """Print the script of a job, or start scheduler and jobs."""
    n_jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    interface = sys.argv[2] if len(sys.argv) > 2 else "lo"
    with SLURMCluster(
        cores=8,  # runs at a time of a job
        processes=1,
        memory="16GB",
        walltime="08:00:00",
        interface=interface,
        python=str(AEROTWIN / ".venv/bin/python"),
        job_script_prologue=[f". {AEROTWIN}/.venv/.aerotwin/environment.sh"],
        worker_extra_args=["--no-dashboard"],
        scheduler_options={"dashboard_address": "127.0.0.1:8787" if n_jobs else "127.0.0.1:0"},
    ) as cluster:
        print(cluster.job_script())
        if n_jobs:
            cluster.scale(jobs=n_jobs)
            print(f"aerotwin campaign run FILE --scheduler {cluster.scheduler_address}", flush=True)
            signal.pause()


if __name__ == "__main__":
    main()
