# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A Dask cluster over SSH (pip install asyncssh), for as long as this program runs.

python ssh_cluster.py HOST HOST...   the first has the scheduler, the others a worker with 8 threads

aerotwin is on all hosts in the same folder. SSH_PORT and SSH_KEY replace those of ~/.ssh/config.
"""

import os
import signal
import sys
from pathlib import Path

from distributed import SSHCluster

AEROTWIN = Path(__file__).resolve().parents[2]
PYTHON = f'bash -c \'. {AEROTWIN}/.venv/.aerotwin/environment.sh && exec python -P "$0" "$@"\''


def main() -> None:
    """Start scheduler and workers until the program is ended."""
    hosts = sys.argv[1:]
    port, key = os.environ.get("SSH_PORT"), os.environ.get("SSH_KEY")
    given = {"port": int(port) if port else None, "client_keys": key}
    with SSHCluster(
        hosts,
        connect_options={name: value for name, value in given.items() if value},
        scheduler_options={"host": hosts[0], "port": 0, "dashboard_address": "127.0.0.1:8787"},
        worker_options={"nthreads": 8},  # runs at a time
        remote_python=PYTHON,
    ) as cluster:
        print(f"aerotwin campaign run FILE --scheduler {cluster.scheduler_address}", flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
