# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The time from landing to the finished report of `make demo`, as its user waits for it."""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from aerotwin_core.child_python import python_command
from evidence.benchmarks.result import Benchmark

LIMIT_S = 10.0
LANDED = ("last answers", " flight: ")
"""In the first line after the landing, whichever comes."""
WRITTEN = " report: "
_LAUNCH = Path(__file__).resolve().parents[3] / "launch" / "sitl_flight.launch.yaml"


def landing_to_report() -> list[Benchmark]:
    """Fly the demo with its defaults, and time the lines that it prints."""
    with TemporaryDirectory(prefix="aerotwin-bench-") as folder:
        command = python_command(
            "-m", "aerotwin_core.cli", "launch", str(_LAUNCH), "name:=bench", f"runs_dir:={folder}"
        )
        seconds = _seconds_between(command)
    return [
        Benchmark.beside(
            "demo: landing to finished report",
            "s",
            seconds,
            peer="limit on two quiet cores",
            peer_value=LIMIT_S,
            goal=1.0,
        )
    ]


def _seconds_between(command: list[str]) -> float:
    landed_s = written_s = None
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as flight:
        assert flight.stdout is not None
        try:
            for line in flight.stdout:
                if landed_s is None and any(token in line for token in LANDED):
                    landed_s = time.monotonic()
                if WRITTEN in line:
                    written_s = time.monotonic()
        except BaseException:
            flight.terminate()
            raise
    if flight.returncode or landed_s is None or written_s is None:
        sys.exit(f"{' '.join(command)} ended with {flight.returncode} and wrote no report")
    return written_s - landed_s
