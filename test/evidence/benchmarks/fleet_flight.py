# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fleets as a user launches them, against thresholds for a machine on which one makes 30x.

On any other machine the thresholds scale with what one embedded vehicle makes in the same run: it
is the peer of every row. The vehicles stand ready, topics are published, inertial topics recorded.
"""

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evidence.benchmarks.flight import launch_flight
from evidence.benchmarks.result import Benchmark
from evidence.verification.launched_flight import read_metrics

ONE_THERE = 30.0
"""Real-time factor of one embedded vehicle on the machine of the thresholds."""
EMBEDDED_GOALS, EMBEDDED_DURATION_S = {10: 4.0, 100: 1.0}, {1: 60.0, 10: 30.0, 100: 10.0}
PX4_GOALS, PX4_DURATION_S = {20: 1.5}, 10.0
N_POINT_MASSES, POINT_MASSES_GOAL, POINT_MASSES_DURATION_S = 1000, 1.0, 10.0
"""Real-time factors by number of vehicles on that machine, and simulated times here [s]."""
MOST_GROWTH = 1.3
"""Of the cost per vehicle, from one to a hundred."""
MOST_AROUND_S = 60.0
"""Wall time of a hundred vehicles beside the flight itself: start and report."""
PX4_INSTANCE = 8
_FLOWN = {
    "world": "grassland",
    "mission": "none",
    "camera": "false",
    "slam": "none",
    "record": "inertial",
}


def fleet_flight() -> list[Benchmark]:
    """Launch one, ten and a hundred embedded vehicles, a thousand point masses, and twenty PX4s.

    The last only where PX4_DIR is set.
    """
    factors, around_s = {}, {}
    for n, duration_s in EMBEDDED_DURATION_S.items():
        factors[n], around_s[n] = _launched({"instances": n, "duration_s": duration_s})
    one, most = factors[1], max(factors)
    rows = [_scaled("embedded", n, factors[n], goal, one) for n, goal in EMBEDDED_GOALS.items()]
    growth = one / (most * factors[most])
    return [
        *rows,
        Benchmark.beside(
            f"fleet, cost per vehicle, 1 to {most}",
            "times",
            growth,
            peer="the limit",
            peer_value=MOST_GROWTH,
            goal=1.0,
        ),
        Benchmark.beside(
            f"fleet, start and report of {most} vehicles",
            "s",
            around_s[most],
            peer="the limit",
            peer_value=MOST_AROUND_S,
            goal=1.0,
        ),
        _point_masses(one),
        *(_px4(n, goal, one) for n, goal in PX4_GOALS.items()),
    ]


def _point_masses(one: float) -> Benchmark:
    n, duration_s = N_POINT_MASSES, POINT_MASSES_DURATION_S
    flown = {"dynamics": "point_mass", "instances": n, "duration_s": duration_s}
    factor, _ = _launched(flown)
    return _scaled("point masses", n, factor, POINT_MASSES_GOAL, one)


def _px4(n: int, goal: float, one: float) -> Benchmark:
    if (px4_dir := os.environ.get("PX4_DIR")) is None:
        return _scaled("PX4", n, None, goal, one)
    flown = {"autopilot": "px4", "px4_dir": px4_dir, "instance": PX4_INSTANCE}
    factor, _ = _launched({**flown, "instances": n, "duration_s": PX4_DURATION_S})
    return _scaled("PX4", n, factor, goal, one)


def _scaled(who: str, n: int, factor: float | None, goal: float, one: float) -> Benchmark:
    """Return a real-time factor beside its threshold for this machine."""
    here = goal * one / ONE_THERE
    return Benchmark(
        name=f"fleet, {n} vehicles, {who}, as launched",
        unit="x real time",
        value=factor,
        goal=1.0,
        peer=f"{goal:g} / {ONE_THERE:g} of one embedded vehicle",
        peer_value=here,
        ratio=None if factor is None else factor / here,
    )


def _launched(arguments: dict[str, Any]) -> tuple[float, float]:
    """Return the real-time factor of a launched flight, and the wall time around it [s]."""
    begin = time.perf_counter()
    with TemporaryDirectory(prefix="aerotwin-bench-") as folder:
        run = launch_flight({**_FLOWN, **arguments}, Path(folder))
        factor = float(read_metrics(run)["sections"]["flight"]["real_time_factor"])
    return factor, time.perf_counter() - begin - float(arguments["duration_s"]) / factor
