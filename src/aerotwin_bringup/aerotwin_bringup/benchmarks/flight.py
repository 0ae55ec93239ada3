# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A flight without cameras against real time, and the loop's own cost of a step."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from ament_index_python.packages import get_package_share_directory

from aerotwin_bringup.benchmarks.result import Benchmark
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.controllers.mavlink_autopilot import MavlinkAutopilot
from aerotwin_simulator.recording import BagOutlet
from aerotwin_worlds import load_world

GOAL = 10.0
WARM_UP_S = 2.0


def inertial_flight() -> list[Benchmark]:
    """Fly the cliff mission with the embedded autopilot, recording everything but images."""
    share = Path(get_package_share_directory("aerotwin_bringup"))
    parameters = SimulatorParameters(
        camera=False, mission=str(share / "config" / "missions" / "cliff.yaml")
    )
    world = load_world("cliff")
    with TemporaryDirectory(prefix="aerotwin-bench-") as folder:
        bag = BagOutlet(Path(folder) / "bag", record="inertial")
        simulation = Simulation(parameters, world, Path(folder), [bag])
        try:
            wall_s, answer_s, n_steps = _fly(simulation)
        finally:
            simulation.close()
            bag.close()
    factor = n_steps * parameters.step_s / wall_s
    own_us = (wall_s - answer_s) / n_steps * 1e6
    return [
        Benchmark(
            name="flight without cameras",
            unit="x real time",
            value=factor,
            goal=GOAL,
            peer="real time",
            peer_value=1.0,
            ratio=factor,
        ),
        Benchmark(
            name="one step, simulator and recording",
            unit="us",
            value=own_us,
            goal=None,
            peer="the autopilot's share of the step",
            peer_value=answer_s / n_steps * 1e6,
            ratio=answer_s / (wall_s - answer_s),
        ),
    ]


def _fly(simulation: Simulation) -> tuple[float, float, int]:
    """Return wall time, its share spent waiting for the autopilot [s], and the steps flown."""
    simulation.start()
    while simulation.stamp_ns < WARM_UP_S * 1e9:
        simulation.advance()
    autopilot = simulation.vehicles[0].backend
    assert isinstance(autopilot, MavlinkAutopilot)
    counters = autopilot.link.counters
    first_ns, first_wait = simulation.stamp_ns, counters.total_wait_s
    start = time.perf_counter()
    while simulation.outcome is None:
        simulation.advance()
    wall_s = time.perf_counter() - start
    if not simulation.is_success:
        raise RuntimeError(f"the benchmark's flight failed: {simulation.outcome}")
    n_steps = (simulation.stamp_ns - first_ns) // simulation.parameters.step_ns
    return wall_s, counters.total_wait_s - first_wait, n_steps
