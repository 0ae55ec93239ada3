# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node `dynamics`, flat as ROS parameters are."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class DynamicsParameters:
    """Vehicle, initial pose, and pace of the simulation."""

    airframe: str = parameter("iris", text="airframe by name, or path of its YAML file")
    pace: str = parameter(
        "lockstep",
        text="lockstep: a step for each command/rotors that answers the last truth; "
        "real_time: steps by the wall clock, the last command holds",
        choices=("lockstep", "real_time"),
    )
    step_s: float = parameter(0.004, text="one step", unit="s", minimum=0.0005, maximum=0.02)
    start_m: tuple[float, float] = parameter(
        (0.0, 0.0), text="where it stands at the start, east and north in map", unit="m"
    )
    start_yaw_deg: float = parameter(
        0.0, text="yaw at the start, from east, counter-clockwise", unit="deg"
    )
    ground_point_m: Vector = parameter(
        (0.0, 0.0, 0.0), text="a point of the plane that is the ground, in map", unit="m"
    )
    ground_normal: Vector = parameter((0.0, 0.0, 1.0), text="its normal, of any length")
    wind_m_s: Vector = parameter(
        (0.0, 0.0, 0.0), text="steady wind: velocity of the air towards east, north, up", unit="m/s"
    )
    origin_altitude_m: float = parameter(
        488.0, text="of map, for air density", unit="m", minimum=-500.0, maximum=9000.0
    )
    vibration: float = parameter(
        1.0, text="vibration over that of the airframe; 0 = none", minimum=0.0, maximum=100.0
    )
    seed: int = parameter(0, text="seed of where each rotor's imbalance points", minimum=0)
    vehicle: int = parameter(0, text="number of the vehicle; each has its own", minimum=0)
    clock: bool = parameter(True, text="whether it is the one writer of /clock")
    input_timeout_s: float = parameter(
        0.0, text="longest gap between commands; 0 waits for ever", unit="s wall", minimum=0.0
    )
