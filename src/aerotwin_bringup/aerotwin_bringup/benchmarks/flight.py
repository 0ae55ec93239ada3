# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights without cameras against real time, and the simulator's own cost of a step."""

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from ament_index_python.packages import get_package_share_directory

from aerotwin_bringup.benchmarks.result import Benchmark
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.controllers.mavlink_autopilot import MavlinkAutopilot
from aerotwin_simulator.recording import BagOutlet
from aerotwin_worlds import load_world

GOAL_SPEED = 20.0
LIMIT_OWN_US, LIMIT_RECORDING_US = 20.0, 60.0
WARM_UP_S = 2.0
PX4_INSTANCE = 8


@dataclass(frozen=True, kw_only=True)
class FlightCost:
    """What a flight cost.

    Attributes
    ----------
    real_time_factor : float
        Simulated over wall time.
    own_us : float
        Median wall time of a step without the wait for the autopilot's answer.
    answer_us : float
        Median of that wait.
    n_steps, n_missed : int
        Steps measured, and those whose answer did not come in time.
    """

    real_time_factor: float
    own_us: float
    answer_us: float
    n_steps: int
    n_missed: int


def inertial_flight() -> list[Benchmark]:
    """Fly the cliff mission with the embedded autopilot: silent, then recording all but images."""
    parameters = _parameters()
    silent, recorded = fly(parameters, is_recorded=False), fly(parameters, is_recorded=True)
    recording_us = recorded.own_us - silent.own_us
    return [
        *_against_real_time("flight, embedded autopilot", recorded),
        Benchmark.within("one step, simulator's own", "us", silent.own_us, LIMIT_OWN_US),
        Benchmark.within("one step, recording", "us", recording_us, LIMIT_RECORDING_US),
    ]


def px4_flight() -> list[Benchmark]:
    """Fly it with a real PX4, and say how far below PX4's own limit that is."""
    px4_dir = os.environ.get("PX4_DIR")
    name = "flight, PX4"
    if px4_dir is None:
        return [
            Benchmark(
                name=name,
                unit="x real time",
                value=None,
                goal=GOAL_SPEED,
                peer="PX4, where PX4_DIR names a built one",
                peer_value=None,
                ratio=None,
            )
        ]
    from aerotwin_px4_bridge.limit import px4_limit

    limit = px4_limit(Path(px4_dir), instance=PX4_INSTANCE)
    cost = fly(
        replace(_parameters(), controller="px4", px4_dir=px4_dir, instance=PX4_INSTANCE),
        is_recorded=True,
    )
    return [
        *_against_real_time(name, cost),
        Benchmark(
            name="flight, PX4, to PX4 alone",
            unit="x real time",
            value=cost.real_time_factor,
            goal=None,
            peer="PX4 alone, at rest",
            peer_value=limit,
            ratio=cost.real_time_factor / limit,
        ),
    ]


def _parameters() -> SimulatorParameters:
    share = Path(get_package_share_directory("aerotwin_bringup"))
    return SimulatorParameters(
        camera=False, mission=str(share / "config" / "missions" / "cliff.yaml")
    )


def fly(parameters: SimulatorParameters, *, is_recorded: bool) -> FlightCost:
    """Fly a mission to its end as fast as it goes.

    Raises
    ------
    RuntimeError
        If the flight does not end well.
    """
    world = load_world(parameters.world)
    with TemporaryDirectory(prefix="aerotwin-bench-") as folder:
        bag = BagOutlet(Path(folder) / "bag", record="inertial") if is_recorded else None
        simulation = Simulation(parameters, world, Path(folder), [] if bag is None else [bag])
        try:
            return _fly(simulation)
        finally:
            simulation.close()
            if bag is not None:
                bag.close()


def _fly(simulation: Simulation) -> FlightCost:
    simulation.start()
    while simulation.stamp_ns < WARM_UP_S * 1e9:
        simulation.advance()
    autopilot = simulation.vehicles[0].backend
    assert isinstance(autopilot, MavlinkAutopilot)
    counters = autopilot.link.counters
    own, answers, first_ns = [], [], simulation.stamp_ns
    start = before = time.perf_counter()
    waited = counters.total_wait_s
    while simulation.outcome is None:
        simulation.advance()
        now, wait = time.perf_counter(), counters.total_wait_s
        answers.append(wait - waited)
        own.append(now - before - answers[-1])
        before, waited = now, wait
    if not simulation.is_success:
        raise RuntimeError(f"the benchmark's flight failed: {simulation.outcome}")
    return FlightCost(
        real_time_factor=(simulation.stamp_ns - first_ns) * 1e-9 / (before - start),
        own_us=median(own) * 1e6,
        answer_us=median(answers) * 1e6,
        n_steps=len(own),
        n_missed=simulation.n_missed,
    )


def _against_real_time(name: str, cost: FlightCost) -> list[Benchmark]:
    """Return the speed, and whether every step was answered: a miss is a wait of a second."""
    return [
        Benchmark(
            name=name,
            unit="x real time",
            value=cost.real_time_factor,
            goal=GOAL_SPEED,
            peer="real time",
            peer_value=1.0,
            ratio=cost.real_time_factor,
        ),
        Benchmark(
            name=f"{name}: steps",
            unit="answered",
            value=float(cost.n_steps - cost.n_missed),
            goal=1.0,
            peer="steps",
            peer_value=float(cost.n_steps),
            ratio=1.0 - cost.n_missed / cost.n_steps,
        ),
    ]
