# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Airframes: what a multirotor is made of, read from packaged YAML files with their sources."""

import dataclasses
import math
from importlib import resources
from pathlib import Path

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters, parameter, read_yaml

GRAVITY = 9.81
"""Acceleration of free fall used for every vehicle [m/s^2], as the Gazebo worlds of PX4 do."""

Vector = tuple[float, float, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rotor:
    """Place and turning direction of one rotor; its axis is body z."""

    position_m: Vector = parameter(unit="m", text="hub in body axes (FLU), from the centre of mass")
    spin: int = parameter(choices=(1, -1), text="+1 turns counter-clockwise seen from above, -1 cw")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Propeller:
    """Force and moment laws of the rotors, all of one kind (XTDrone eq. 3-6)."""

    thrust_coefficient_n_s2: float = parameter(
        unit="N/(rad/s)^2", minimum=0.0, text="thrust per squared speed, C_T"
    )
    torque_per_thrust_m: float = parameter(
        unit="m", minimum=0.0, text="reaction torque about body z per thrust, C_M"
    )
    drag_coefficient_n_s2_per_m: float = parameter(
        0.0, unit="N/(rad/s)/(m/s)", minimum=0.0, text="H-force, C_D; 0 switches it off"
    )
    rolling_coefficient_n_s2: float = parameter(
        0.0, unit="N m/(rad/s)/(m/s)", minimum=0.0, text="rolling moment, C_R; 0 switches it off"
    )
    zero_thrust_axial_speed_m_s: float = parameter(
        0.0, unit="m/s", minimum=0.0, text="climb speed through air that leaves no thrust; 0 is off"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Motor:
    """From command to rotor speed: affine, limited, with a lag that differs up and down."""

    speed_per_command_rad_s: float = parameter(
        unit="rad/s", minimum=0.0, text="speed added by a command of 1"
    )
    armed_speed_rad_s: float = parameter(
        0.0, unit="rad/s", minimum=0.0, text="speed at command 0 while armed"
    )
    maximum_speed_rad_s: float = parameter(unit="rad/s", minimum=0.0, text="limit of the speed")
    time_constant_up_s: float = parameter(
        0.0, unit="s", minimum=0.0, text="lag while speeding up; 0 follows at once"
    )
    time_constant_down_s: float = parameter(
        0.0, unit="s", minimum=0.0, text="lag while slowing down; 0 follows at once"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contact:
    """Points that touch the ground, their springs and friction, and what counts as a crash."""

    feet_m: tuple[Vector, ...] = parameter(
        unit="m", text="points made to stand on, body axes, from the centre of mass"
    )
    hull_m: tuple[Vector, ...] = parameter(
        (), unit="m", text="points that touch the ground only in a crash, body axes"
    )
    normal_stiffness_n_per_m: float = parameter(
        2000.0, unit="N/m", minimum=0.0, text="spring of each point along the ground's normal"
    )
    normal_damping_n_s_per_m: float = parameter(
        50.0, unit="N s/m", minimum=0.0, text="damper of each point along the ground's normal"
    )
    tangential_stiffness_n_per_m: float = parameter(
        2000.0, unit="N/m", minimum=0.0, text="spring of each point that sticks"
    )
    tangential_damping_n_s_per_m: float = parameter(
        50.0, unit="N s/m", minimum=0.0, text="damper of each point along the ground"
    )
    friction: float = parameter(0.8, minimum=0.0, text="Coulomb coefficient")
    damping_depth_m: float = parameter(
        0.002, unit="m", minimum=1e-6, text="depth over which the damper fades in at touch-down"
    )
    crash_speed_m_s: float = parameter(
        3.0, unit="m/s", minimum=0.0, text="speed of a point into the ground that is a crash"
    )
    crash_tilt_deg: float = parameter(
        60.0, unit="deg", minimum=0.0, maximum=180.0, text="tilt to the ground that is a crash"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Airframe:
    """A multirotor: a rigid body with rotors along body z and points that touch the ground."""

    name: str = parameter(text="name of the airframe")
    source: str = parameter("", text="where the numbers come from")
    mass_kg: float = parameter(unit="kg", minimum=1e-6, text="mass of everything that moves along")
    inertia_kg_m2: Vector = parameter(
        unit="kg m^2", minimum=1e-12, text="principal moments about body x, y, z"
    )
    linear_drag_n_s_per_m: Vector = parameter(
        (0.0, 0.0, 0.0), unit="N/(m/s)", minimum=0.0, text="body drag per axis (Pegasus eq. 2 x m)"
    )
    propeller: Propeller = parameter(text="force and moment laws of the rotors")
    motor: Motor = parameter(text="from command to rotor speed")
    rotors: tuple[Rotor, ...] = parameter(text="rotors in the order of the motor outputs")
    contact: Contact = parameter(text="ground contact")

    def __post_init__(self) -> None:
        if not self.rotors:
            raise ValueError("rotors must hold at least one rotor, got none")


def airframe_names() -> list[str]:
    """Return the names of the packaged airframes."""
    folder = resources.files(__package__).joinpath("airframes")
    return sorted(f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name[-5:] == ".yaml")


def load_airframe(name: str | Path) -> Airframe:
    """Return a packaged airframe by name, or one from a YAML file by its path.

    Raises
    ------
    ParameterError
        If there is no such airframe, or its file has unknown, missing or wrong values.

    Examples
    --------
    >>> load_airframe("iris").mass_kg
    1.55
    """
    if str(name).endswith((".yaml", ".yml")):
        path = Path(name)
    else:
        path = Path(str(resources.files(__package__).joinpath("airframes", f"{name}.yaml")))
        if name not in airframe_names():
            raise ParameterError(
                f"airframe: there is none named '{name}', packaged are "
                f"{', '.join(airframe_names())}; choose one or give the path of a YAML file"
            )
    return load_parameters(Airframe, read_yaml(path), where=str(path))


def hover_speed_rad_s(airframe: Airframe, *, gravity: float = GRAVITY) -> float:
    """Return the rotor speed at which the thrust of all rotors, turning alike, carries the weight.

    >>> round(hover_speed_rad_s(load_airframe("iris")), 1)
    806.8
    """
    lift_per_speed2 = len(airframe.rotors) * airframe.propeller.thrust_coefficient_n_s2
    return math.sqrt(airframe.mass_kg * gravity / lift_per_speed2)


def hover_command(airframe: Airframe, *, gravity: float = GRAVITY) -> float:
    """Return the motor command in [0, 1] that hovers in still air.

    >>> round(hover_command(load_airframe("iris")), 3)
    0.707
    """
    motor = airframe.motor
    speed = hover_speed_rad_s(airframe, gravity=gravity)
    return (speed - motor.armed_speed_rad_s) / motor.speed_per_command_rad_s


def thrust_to_weight(airframe: Airframe, *, gravity: float = GRAVITY) -> float:
    """Return the largest static thrust over the weight.

    >>> round(thrust_to_weight(load_airframe("iris")), 2)
    1.86
    """
    motor = airframe.motor
    at_full = motor.speed_per_command_rad_s + motor.armed_speed_rad_s
    fastest = min(at_full, motor.maximum_speed_rad_s)
    return (fastest / hover_speed_rad_s(airframe, gravity=gravity)) ** 2
