# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Flights as a user launches them, beside the same loop without ROS in the same run.

The launched flight publishes its topics, offers its services and records all but images; its speed
is the one that its report says. The loop beside it flies and records the same without any node.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aerotwin_core.errors import UserError
from aerotwin_core.parameters import load_parameters
from aerotwin_core.stop_request import raise_if_stopped
from aerotwin_launch.launch_command import launch_scenario
from aerotwin_simulator import Simulation, SimulatorParameters
from aerotwin_simulator.recording import bag_sink
from aerotwin_worlds import load_world
from evidence.benchmarks.result import Benchmark
from evidence.verification.launched_flight import read_metrics

GOAL_SHARE = 0.8
"""Least share of the loop without ROS."""
N_ROUNDS = 2
"""Both in turn, the best of each: other programs slow both down, and not together."""
EMBEDDED_DURATION_S = {1: 60.0, 6: 20.0, 10: 15.0}
PX4_DURATION_S = {1: 30.0, 6: 10.0}
ARDUPILOT_DURATION_S = 80.0
"""Simulated time by number of vehicles [s]."""
PX4_INSTANCE = 8


def embedded_flight() -> list[Benchmark]:
    """Fly past the cliff with the embedded autopilot: one vehicle, six and ten."""
    return [
        flight_row("embedded autopilot", {"instances": n}, duration_s)
        for n, duration_s in EMBEDDED_DURATION_S.items()
    ]


def px4_flight() -> list[Benchmark]:
    """Fly past it with real PX4s: one and six; and say how fast one PX4 alone can be stepped."""
    if (px4_dir := os.environ.get("PX4_DIR")) is None:
        return [_missing("PX4", "PX4_DIR")]
    from evidence.benchmarks.px4_limit import px4_limit

    flown = {"autopilot": "px4", "px4_dir": px4_dir, "instance": PX4_INSTANCE}
    rows = [
        flight_row("PX4", {**flown, "instances": n}, duration_s)
        for n, duration_s in PX4_DURATION_S.items()
    ]
    limit = px4_limit(Path(px4_dir), instance=PX4_INSTANCE)
    return [*rows, _to_autopilot_alone("PX4", rows[0], limit)]


def ardupilot_flight() -> list[Benchmark]:
    """Fly past it with a real ArduCopter; and say how fast it alone can be stepped."""
    if (ardupilot_dir := os.environ.get("ARDUPILOT_DIR")) is None:
        return [_missing("ArduPilot", "ARDUPILOT_DIR")]
    from evidence.benchmarks.ardupilot_limit import ardupilot_limit

    flown = {"autopilot": "ardupilot", "ardupilot": ardupilot_dir, "instance": PX4_INSTANCE}
    row = flight_row("ArduPilot", {**flown, "instances": 1}, ARDUPILOT_DURATION_S)
    limit = ardupilot_limit(Path(ardupilot_dir), instance=PX4_INSTANCE)
    return [row, _to_autopilot_alone("ArduPilot", row, limit)]


def _missing(name: str, variable: str) -> Benchmark:
    return Benchmark(
        name=f"flight, {name}",
        unit="x real time",
        value=None,
        goal=GOAL_SHARE,
        peer=f"{name}, where {variable} names a built one",
        peer_value=None,
        ratio=None,
    )


def _to_autopilot_alone(name: str, row: Benchmark, limit: float) -> Benchmark:
    """Return the speed of a launched flight beside that of its autopilot alone."""
    return Benchmark(
        name=f"flight, {name}, to {name} alone",
        unit="x real time",
        value=row.value,
        goal=None,
        peer=f"{name} alone, at rest",
        peer_value=limit,
        ratio=None if row.value is None else row.value / limit,
    )


def flight_row(who: str, arguments: Mapping[str, Any], duration_s: float) -> Benchmark:
    """Return the speed of a launched flight beside that of its loop.

    Parameters
    ----------
    who : str
        Who flies, for the name.
    arguments : mapping
        Of launch/sitl_flight.launch.yaml, beside those of every flight here.
    duration_s : float
        Simulated time [s].
    """
    everywhere = {"camera": "false", "slam": "none", "record": "inertial"}
    provided = {**everywhere, **arguments, "duration_s": duration_s}
    launched, bare = [], []
    for _ in range(N_ROUNDS):
        with TemporaryDirectory(prefix="aerotwin-bench-") as folder:
            run = launch_flight(provided, Path(folder))
            launched.append(read_metrics(run)["sections"]["flight"]["real_time_factor"])
            bare.append(fly_without_ros(run))
    n = int(arguments["instances"])
    return Benchmark(
        name=f"flight, {who}, {n} vehicle{'s' if n > 1 else ''}, as launched",
        unit="x real time",
        value=max(launched),
        goal=GOAL_SHARE,
        peer="the same loop without ROS",
        peer_value=max(bare),
        ratio=max(launched) / max(bare),
    )


def launch_flight(arguments: Mapping[str, Any], folder: Path) -> Path:
    """Fly launch/sitl_flight.launch.yaml to its end and return the run's folder.

    Raises
    ------
    UserError
        If it does not end well.
    """
    provided = {name: str(value) for name, value in arguments.items()}
    provided["runs_dir"] = str(folder)
    code = launch_scenario("aerotwin_bringup", "sitl_flight.launch.yaml", provided)
    raise_if_stopped(code)
    runs = [path.parent for path in folder.glob("*/metrics.json")]
    if code != 0 or len(runs) != 1:
        raise UserError(f"the benchmark's flight failed with exit code {code}; see above")
    return runs[0]


def fly_without_ros(run: Path) -> float:
    """Fly what a run flew, recording as it did, without a node; return simulated over wall time.

    Raises
    ------
    UserError
        If it does not end well.
    """
    parameters = _parameters_of(run)
    world = load_world(parameters.world)
    with TemporaryDirectory(prefix="aerotwin-bench-") as folder:
        bag = bag_sink(Path(folder) / "bag", parameters)
        simulation = Simulation(parameters, world, Path(folder), [bag])
        try:
            return _speed(simulation)
        finally:
            simulation.close()
            bag.close()


def _parameters_of(run: Path) -> SimulatorParameters:
    """Return the simulator's own among the parameters of a run."""
    recorded = read_metrics(run)["configuration"]["parameters"]
    names = SimulatorParameters.__dataclass_fields__
    own = {name: value for name, value in recorded.items() if name in names}
    return load_parameters(SimulatorParameters, own, where=f"parameters of {run}")


def _speed(simulation: Simulation) -> float:
    """Return simulated over wall time from the first step on, as a report counts it."""
    simulation.start()
    simulation.advance()
    begin_ns, begin = simulation.stamp_ns, time.perf_counter()
    while simulation.outcome is None:
        simulation.advance()
    wall_s = time.perf_counter() - begin
    if not simulation.is_success:
        raise UserError(f"the benchmark's flight failed: {simulation.outcome}")
    return (simulation.stamp_ns - begin_ns) * 1e-9 / wall_s
