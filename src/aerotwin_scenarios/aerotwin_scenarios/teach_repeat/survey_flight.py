# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fly the mission of a survey in the simulator, without ROS, faster than real time."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import rotation_from_quaternion, yaw_from_rotation
from aerotwin_core.time import to_seconds
from aerotwin_reconstruction.survey import FlownTrack
from aerotwin_simulator import Simulation
from aerotwin_simulator.mission_flight import flown, mission_flight
from aerotwin_worlds import World

SAMPLES_HZ = 50.0
"""A vehicle at 8 m/s comes 16 cm further between two."""


def fly_survey(
    world: World,
    mission: Path,
    folder: Path,
    *,
    seed: int,
    instance: int = 0,
    port_shift: int = 0,
    on_progress: Callable[[float], object] = lambda share: None,
) -> FlownTrack:
    """Return the track of a mission, flown by the embedded autopilot with its own GNSS.

    The autopilot's log is written to `folder`; `seed` is of all noise in flight, `instance` and
    `port_shift` set the ports of the vehicle, and `on_progress` is called with the completed share,
    at `SAMPLES_HZ`.

    Raises `UserError` if the mission was not flown to its end.
    """
    with mission_flight(
        world, mission, folder, seed=seed, instance=instance, port_shift=port_shift
    ) as simulation:
        rows = [_row(moment) for moment in flown(simulation, SAMPLES_HZ, on_progress)]
    if not simulation.is_success:
        raise UserError(
            f"the survey was not flown to its end: {simulation.outcome}; choose another area or "
            "height, or --flight planned"
        )
    values = np.array(rows)
    return FlownTrack(
        stamps_s=values[:, 0],
        p_map_body=values[:, 1:4],
        yaw=values[:, 4],
        p_map_reported=values[:, 5:8],
        yaw_reported=values[:, 8],
    )


def _row(simulation: Simulation) -> list[float]:
    """Return time, true position and heading, and the autopilot's estimates of both."""
    vehicle = simulation.multirotor
    state, estimate = vehicle.body.state, vehicle.backend.estimate
    reported = [np.nan] * 4
    if estimate is not None and estimate.q_map_body is not None:
        reported = [*estimate.p_map, _yaw(estimate.q_map_body)]
    return [to_seconds(simulation.stamp_ns), *state.p_map_body, _yaw(state.q_map_body), *reported]


def _yaw(q_map_body: np.ndarray) -> float:
    return yaw_from_rotation(rotation_from_quaternion(q_map_body))
