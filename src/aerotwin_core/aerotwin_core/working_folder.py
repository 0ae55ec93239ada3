# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings that a library would read from the working folder or the environment unasked."""

import os
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import whole_number

NUMBA_THREADS, MOST_THREADS = "NUMBA_NUM_THREADS", 65536
NUMBA_SETTINGS = ".numba_config.yaml"


def check_working_folder() -> None:
    """Refuse a folder with numba settings, as they change compiled code.

    They can switch compilation off or name a module to import, and numba reads them at its import
    and at each compilation.

    Raises `UserError` if there are such settings.
    """
    if Path(NUMBA_SETTINGS).exists():
        raise UserError(
            f"{NUMBA_SETTINGS}: the working folder holds settings of numba, which would change "
            "compiled code; start from another folder or remove the file; NUMBA_... variables of "
            "the environment set the same"
        )


def check_environment() -> None:
    """Refuse a number of threads at which the import of numba would fail.

    Raises `UserError` if it is no valid number.
    """
    text = os.environ.get(NUMBA_THREADS)
    n_threads = None if text is None else whole_number(text)
    if text is not None and not (n_threads and n_threads <= MOST_THREADS):
        raise UserError(
            f"{NUMBA_THREADS}: expected a number of threads of 1 at least, found '{text[:40]}'; "
            "correct or unset it"
        )


def set_thread_defaults() -> None:
    """Set how compiled code shares the processors, unless the user has set it.

    Threads look for work for some 10 us, then sleep: aerotwin has many short loops, and other
    threads beside them. numba uses the threads of OpenMP: the TBB that Open3D brings is too old
    for it. BLAS has one thread: where another process is busy, the product of 130,000 points and a
    rotation takes 50 ms with two, which wait for each other, and 1 ms with one. Libraries read
    these settings when they are loaded; child processes inherit them.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("NUMBA_THREADING_LAYER_PRIORITY", "omp workqueue tbb")
