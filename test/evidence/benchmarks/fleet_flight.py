# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fleets as a user launches them, against thresholds for a machine on which one makes 30x.

On any other machine the thresholds scale with what one embedded vehicle makes: it is the peer of
every row, launched in turn with the fleet, as the speed of a shared machine changes by the minute.
The vehicles stand ready, topics are published, inertial topics recorded.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from evidence.benchmarks.flight import launch_flight
from evidence.benchmarks.result import Benchmark
from evidence.verification.launched_flight import read_metrics

ONE_THERE = 30.0
"""Real-time factor of one embedded vehicle on the machine of the thresholds."""
ONE_DURATION_S = 60.0
N_ROUNDS = 3
"""Pairs of the fleet and one vehicle; the median counts."""
EMBEDDED_GOALS, EMBEDDED_DURATION_S = {10: 4.0, 100: 1.0}, {10: 30.0, 100: 20.0}
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


@dataclass(frozen=True)
class _Pair:
    """Real-time factors of a fleet and of one embedded vehicle after it, and the fleet's rest."""

    factor: float
    one: float
    around_s: float


def fleet_flight() -> list[Benchmark]:
    """Launch ten and a hundred embedded vehicles, a thousand point masses, and twenty PX4s.

    The last only where PX4_DIR is set.
    """
    pairs = {
        n: _pairs({"instances": n, "duration_s": duration_s})
        for n, duration_s in EMBEDDED_DURATION_S.items()
    }
    rows = [_scaled("embedded", n, pairs[n], goal) for n, goal in EMBEDDED_GOALS.items()]
    most = max(pairs)
    return [
        *rows,
        Benchmark.beside(
            f"fleet, cost per vehicle, 1 to {most}",
            "times",
            median(pair.one / (most * pair.factor) for pair in pairs[most]),
            peer="the limit",
            peer_value=MOST_GROWTH,
            goal=1.0,
        ),
        Benchmark.beside(
            f"fleet, start and report of {most} vehicles",
            "s",
            median(pair.around_s for pair in pairs[most]),
            peer="the limit",
            peer_value=MOST_AROUND_S,
            goal=1.0,
        ),
        _point_masses(),
        *(_px4(n, goal) for n, goal in PX4_GOALS.items()),
    ]


def _point_masses() -> Benchmark:
    n, duration_s = N_POINT_MASSES, POINT_MASSES_DURATION_S
    flown = {"dynamics": "point_mass", "instances": n, "duration_s": duration_s}
    return _scaled("point masses", n, _pairs(flown), POINT_MASSES_GOAL)


def _px4(n: int, goal: float) -> Benchmark:
    if (px4_dir := os.environ.get("PX4_DIR")) is None:
        return _scaled("PX4", n, [], goal)
    flown = {"autopilot": "px4", "px4_dir": px4_dir, "instance": PX4_INSTANCE}
    return _scaled("PX4", n, _pairs({**flown, "instances": n, "duration_s": PX4_DURATION_S}), goal)


def _scaled(who: str, n: int, pairs: list[_Pair], goal: float) -> Benchmark:
    """Return a real-time factor beside its threshold for this machine."""
    share = goal / ONE_THERE
    return Benchmark(
        name=f"fleet, {n} vehicles, {who}, as launched",
        unit="x real time",
        value=median(pair.factor for pair in pairs) if pairs else None,
        goal=1.0,
        peer=f"{goal:g} / {ONE_THERE:g} of one embedded vehicle",
        peer_value=share * median(pair.one for pair in pairs) if pairs else None,
        ratio=median(pair.factor / (share * pair.one) for pair in pairs) if pairs else None,
    )


def _pairs(arguments: dict[str, Any]) -> list[_Pair]:
    """Launch a fleet and one embedded vehicle in turn."""
    pairs = []
    for _ in range(N_ROUNDS):
        factor, around_s = _launched(arguments)
        one, _ = _launched({"instances": 1, "duration_s": ONE_DURATION_S})
        pairs.append(_Pair(factor, one, around_s))
    return pairs


def _launched(arguments: dict[str, Any]) -> tuple[float, float]:
    """Return the real-time factor of a launched flight, and the wall time around it [s]."""
    begin = time.perf_counter()
    with TemporaryDirectory(prefix="aerotwin-bench-") as folder:
        run = launch_flight({**_FLOWN, **arguments}, Path(folder))
        factor = float(read_metrics(run)["sections"]["flight"]["real_time_factor"])
    return factor, time.perf_counter() - begin - float(arguments["duration_s"]) / factor
