# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A flight in a few lines: one vehicle and one controller, no simulator."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from aerotwin_core.interfaces import Controller, ControllerContext, ControllerSample
from aerotwin_multirotor_dynamics import Airframe, Multirotor, layout, standing_pose

CONFIG = Path(__file__).resolve().parents[3] / "config" / "relay"


@dataclass
class Flown:
    """What happened, a row for each step; set-points are NaN where there was none."""

    controller: Controller
    vehicle: Multirotor
    t: np.ndarray
    p_map: np.ndarray
    wanted_map: np.ndarray
    phase: np.ndarray


def fly(
    controller_type: type,
    options: dict,
    airframe: Airframe,
    *,
    start: tuple[float, float, float] = (0.0, 0.0, 0.0),
    step_s: float = 0.002,
    limit_s: float = 60.0,
) -> Flown:
    """Fly from standing at the start until the controller says that it is over."""
    context = ControllerContext(
        vehicle="", instance=0, airframe=airframe, step_s=step_s, seed=0, options=options
    )
    controller = controller_type(context)
    place, attitude = standing_pose(airframe, ground_point=start)
    vehicle = Multirotor(airframe, p_map_body=place, q_map_body=attitude, ground_height_m=start[2])
    motor, rows, phases = airframe.motor, [], []
    for n in range(round(limit_s / step_s)):
        state = vehicle.state_vector
        sample = ControllerSample(
            stamp_ns=round(n * step_s * 1e9),
            dt=step_s,
            p_map_body=state[layout.POSITION],
            v_map_body=state[layout.VELOCITY],
            q_map_body=state[layout.QUATERNION],
            omega_map_body_in_body=state[layout.ANGULAR_VELOCITY],
            rotor_speed_rad_s=vehicle.rotor_speed_rad_s,
        )
        speeds = np.asarray(controller.step(sample))
        desired = controller.setpoint.p_map if controller.setpoint else np.full(3, np.nan)
        rows.append([n * step_s, *state[layout.POSITION], *desired])
        phases.append(controller.phase)
        if controller.is_finished or controller.failure is not None or vehicle.is_crashed:
            break
        command = (speeds - motor.armed_speed_rad_s) / motor.speed_per_command_rad_s
        vehicle.step(command, step_s, is_armed=bool(speeds.any()))
    table = np.array(rows)
    return Flown(controller, vehicle, table[:, 0], table[:, 1:4], table[:, 4:], np.array(phases))


@pytest.fixture(name="fly")
def fly_fixture():
    return fly


@pytest.fixture(scope="session")
def relay_config() -> Path:
    return CONFIG
