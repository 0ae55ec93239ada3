# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Airframes: the parts of a multirotor, read from packaged YAML files with their sources."""

import dataclasses
from importlib import resources
from pathlib import Path
from typing import Any

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters, parameter, read_yaml
from aerotwin_multirotor_dynamics.layout import (
    MAXIMUM_CONTACT_POINTS,
    MAXIMUM_ROTORS,
    N_MODEL_PARAMETERS,
)
from aerotwin_multirotor_dynamics.propeller import Blade, Propeller, coefficients_from_blade

GRAVITY = 9.81
"""Acceleration of free fall used for every vehicle [m/s^2], as the Gazebo worlds of PX4 do."""

SEA_LEVEL, STANDARD_ATMOSPHERE = "sea_level", "standard_atmosphere"

_INERTIA_ROUNDING = 1e-3  # moments are published with three digits and more

Vector = tuple[float, float, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rotor:
    """Position and turning direction of one rotor; its axis is body z."""

    position_m: Vector = parameter(unit="m", text="hub in body axes (FLU), from the centre of mass")
    spin: int = parameter(choices=(1, -1), text="+1 turns counter-clockwise seen from above, -1 cw")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Motor:
    """From command to rotor speed: affine, limited, with a lag that differs up and down."""

    speed_per_command_rad_s: float = parameter(
        unit="rad/s", minimum=1e-3, text="speed added by a command of 1"
    )
    armed_speed_rad_s: float = parameter(
        0.0, unit="rad/s", minimum=0.0, text="speed at command 0 while armed"
    )
    maximum_speed_rad_s: float = parameter(unit="rad/s", minimum=1e-3, text="limit of the speed")
    time_constant_up_s: float = parameter(
        0.0, unit="s", minimum=0.0, text="lag while speeding up; 0 follows at once"
    )
    time_constant_down_s: float = parameter(
        0.0, unit="s", minimum=0.0, text="lag while slowing down; 0 follows at once"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class BatteryParameters:
    """Energy on board: an open-circuit voltage that falls with the charge, behind a resistance."""

    capacity_ah: float = parameter(
        0.0, unit="A h", minimum=0.0, text="charge of a full one; 0: no battery, power never ends"
    )
    cells: int = parameter(4, minimum=1, text="cells in series")
    full_cell_v: float = parameter(4.2, unit="V", minimum=0.1, text="open-circuit, full")
    empty_cell_v: float = parameter(3.4, unit="V", minimum=0.1, text="open-circuit, empty")
    resistance_ohm: float = parameter(
        0.0, unit="ohm", minimum=0.0, text="inside, of all cells together: the voltage sags by it"
    )
    motor_efficiency: float = parameter(
        0.75, minimum=0.01, maximum=1.0, text="shaft power over electric power, with controllers"
    )
    shaft_torque_per_thrust_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="torque per thrust of motors; 0: propeller's"
    )
    idle_power_w: float = parameter(0.0, unit="W", minimum=0.0, text="of everything but motors")
    initial_charge: float = parameter(1.0, minimum=0.0, maximum=1.0, text="at the start")

    def __post_init__(self) -> None:
        if self.empty_cell_v > self.full_cell_v:
            raise ValueError(
                f"empty_cell_v must be at most full_cell_v ({self.full_cell_v}), "
                f"got {self.empty_cell_v}"
            )

    @property
    def full_voltage_v(self) -> float:
        """Open-circuit voltage of the full battery [V]."""
        return self.cells * self.full_cell_v

    @property
    def empty_voltage_v(self) -> float:
        """Open-circuit voltage of the empty battery [V]."""
        return self.cells * self.empty_cell_v


@dataclasses.dataclass(frozen=True, kw_only=True)
class Vibration:
    """How the rotors shake the body: once per turn by imbalance, and as the blades pass."""

    imbalance_kg_m: float = parameter(
        0.0, unit="kg m", minimum=0.0, text="mass times eccentricity of each rotor; 0 is off"
    )
    axial_share: float = parameter(
        0.0, minimum=0.0, text="axial force over that of the imbalance: blades out of track"
    )
    n_blades: int = parameter(2, minimum=1, maximum=8, text="blades of a rotor")
    thrust_ripple: float = parameter(
        0.0, minimum=0.0, maximum=1.0, text="amplitude as blades pass, over the thrust; 0 is off"
    )
    damage_kg_m: tuple[float, ...] = parameter(
        (), unit="kg m", minimum=0.0, text="by rotor: further imbalance, mass broken off"
    )

    @property
    def is_off(self) -> bool:
        """Whether there is no vibration."""
        return not (self.imbalance_kg_m or self.thrust_ripple or any(self.damage_kg_m))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contact:
    """Points that touch the ground, their springs and friction, and the crash criteria."""

    feet_m: tuple[Vector, ...] = parameter(
        unit="m", text="points made to stand on, body axes, from the centre of mass"
    )
    hull_m: tuple[Vector, ...] = parameter(
        (), unit="m", text="points that touch the ground only in a crash, body axes"
    )
    normal_stiffness_n_per_m: float = parameter(
        2000.0, unit="N/m", minimum=1e-3, text="spring of each point along the ground's normal"
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
    spans_rotors: bool = parameter(
        True, text="whether walls meet the rotors' discs, too, or these points alone"
    )
    damping_depth_m: float = parameter(
        0.002, unit="m", minimum=1e-6, text="depth over which the damper fades in at touch-down"
    )
    crash_speed_m_s: float = parameter(
        3.0, unit="m/s", minimum=0.0, text="speed of a point into the ground that is a crash"
    )
    crash_tilt_deg: float = parameter(
        60.0, unit="deg", minimum=0.0, maximum=180.0, text="tilt to the ground that is a crash"
    )

    def __post_init__(self) -> None:
        if not self.feet_m:
            raise ValueError("feet_m must hold at least one foot, got none; add where it stands")
        n_points = len(self.feet_m) + len(self.hull_m)
        if n_points > MAXIMUM_CONTACT_POINTS:
            raise ValueError(
                f"feet_m and hull_m must hold at most {MAXIMUM_CONTACT_POINTS} points together, "
                f"got {n_points}"
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
    quadratic_drag_n_s2_per_m2: Vector = parameter(
        (0.0, 0.0, 0.0), unit="N/(m/s)^2", minimum=0.0, text="body drag per axis: -c |v| v"
    )
    propeller: Propeller = parameter(text="force and moment laws of the rotors")
    motor: Motor = parameter(text="from command to rotor speed")
    rotors: tuple[Rotor, ...] = parameter(text="rotors in the order of the motor outputs")
    contact: Contact = parameter(text="ground contact")
    battery: BatteryParameters = parameter(BatteryParameters(), text="energy on board")
    vibration: Vibration = parameter(Vibration(), text="how the rotors shake the body")
    air_density: str = parameter(
        SEA_LEVEL,
        choices=(SEA_LEVEL, STANDARD_ATMOSPHERE),
        text="of the forces of the air: that of sea level, or falling with the altitude",
    )
    thrust_model: str = parameter(
        "", text="`module:function` of one's own in the place of C_T; empty: the built-in law"
    )
    drag_model: str = parameter(
        "", text="`module:function` of one's own for the body's drag; empty: the built-in law"
    )
    model_parameters: tuple[float, ...] = parameter(
        (), text="numbers for models of one's own, `model_parameters` of the constants"
    )

    def __post_init__(self) -> None:
        if not 1 <= len(self.rotors) <= MAXIMUM_ROTORS:
            raise ValueError(
                f"rotors must hold 1 to {MAXIMUM_ROTORS} rotors, got {len(self.rotors)}"
            )
        self._check_inertia()
        if len(self.vibration.damage_kg_m) not in (0, len(self.rotors)):
            raise ValueError(
                f"vibration: damage_kg_m must hold {len(self.rotors)} numbers, one for each rotor, "
                f"or none, got {len(self.vibration.damage_kg_m)}"
            )
        if len(self.model_parameters) > N_MODEL_PARAMETERS:
            raise ValueError(
                f"model_parameters must hold at most {N_MODEL_PARAMETERS} numbers, "
                f"got {len(self.model_parameters)}"
            )

    def _check_inertia(self) -> None:
        """Refuse moments that no body has: each is at most the sum of the other two."""
        total = sum(self.inertia_kg_m2)
        for axis, moment in zip("xyz", self.inertia_kg_m2):
            others = total - moment
            if moment > others * (1.0 + _INERTIA_ROUNDING):
                raise ValueError(
                    f"inertia_kg_m2 must hold about {axis} at most the sum of the other two "
                    f"({others:g}), got {moment:g}; no body has that, check its source"
                )


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
    return load_parameters(Airframe, _with_blades(read_yaml(path), path), where=str(path))


def _with_blades(content: Any, path: Path) -> Any:
    """Replace `propeller: blade:` by its coefficients; explicit ones take precedence."""
    propeller = content.get("propeller") if isinstance(content, dict) else None
    if not isinstance(propeller, dict) or "blade" not in propeller:
        return content
    provided = {name: value for name, value in propeller.items() if name != "blade"}
    blade = load_parameters(Blade, propeller["blade"], where=f"{path}: propeller: blade")
    return {**content, "propeller": coefficients_from_blade(blade) | provided}
