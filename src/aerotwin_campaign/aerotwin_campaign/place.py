# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a worker has for itself on a machine: cores, ports, a ROS domain, a scratch folder."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.network import DOMAIN
from aerotwin_core.numbered_lock import claimed_domain, claimed_number

MOST_WORKERS = 1024
"""On one machine."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True, kw_only=True)
class WorkerPlace:
    """What no other worker of this user on this machine uses at the same time.

    Attributes
    ----------
    number : int
        From 0.
    cores : tuple of int
        CPU cores to which the worker's processes are bound.
    ros_domain_id : int or None
        None if all that can be claimed are in use.
    scratch : Path
        An empty folder, which is removed with the worker.
    """

    number: int
    cores: tuple[int, ...]
    ros_domain_id: int | None
    scratch: Path

    @property
    def mavlink_instance(self) -> int:
        """Number that is added to the ports of MAVLink and of autopilots."""
        return self.number

    @property
    def environment(self) -> dict[str, str]:
        """Variables of the worker's processes."""
        found = dict.fromkeys(THREADS, str(len(self.cores)))
        if self.ros_domain_id is not None:
            found[DOMAIN] = str(self.ros_domain_id)
        return found


@contextmanager
def claimed_place(folder: Path, cores_each: int = 1) -> Iterator[WorkerPlace]:
    """Claim a place until the end of the block, or of this process; `folder` is for its scratch.

    Cores are chosen by the number of the place, so that workers of several campaigns spread.

    Raises `UserError` if `MOST_WORKERS` are at work.
    """
    with ExitStack() as stack:
        number = stack.enter_context(claimed_number("campaign-worker", range(MOST_WORKERS)))
        if number is None:
            raise UserError(f"{MOST_WORKERS} workers are at work on this machine; end some")
        domain = stack.enter_context(claimed_domain())
        available = sorted(os.sched_getaffinity(0))
        first = number * cores_each
        cores = {available[(first + k) % len(available)] for k in range(cores_each)}
        scratch = Path(tempfile.mkdtemp(prefix=f"worker-{number}-", dir=folder))
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        yield WorkerPlace(
            number=number,
            cores=tuple(sorted(cores)),
            ros_domain_id=domain,
            scratch=scratch,
        )
