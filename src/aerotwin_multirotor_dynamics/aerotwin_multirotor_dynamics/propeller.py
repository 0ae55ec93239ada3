# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Propellers: the coefficients of their forces and moments, as input or from the blades."""

import dataclasses
import math

from aerotwin_core.parameters import parameter

AIR_DENSITY = 1.225
"""Density of air at sea level, ISA [kg/m^3]."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Propeller:
    """Force and moment laws of the rotors, all of one kind (XTDrone eq. 3-6 and more)."""

    thrust_coefficient_n_s2: float = parameter(
        unit="N/(rad/s)^2", minimum=1e-15, text="thrust per squared speed, C_T"
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
    rolling_moment_follows_spin: bool = parameter(
        False, text="true: XTDrone eq. 5 (cancels on a quadrotor); false: as Gazebo (adds up)"
    )
    zero_thrust_axial_speed_m_s: float = parameter(
        0.0, unit="m/s", minimum=0.0, text="climb speed through air that leaves no thrust; 0 is off"
    )
    axial_drag_coefficient_n_s2_per_m: float = parameter(
        0.0, unit="N/(rad/s)/(m/s)", minimum=0.0, text="force against axial inflow, k_z; 0 is off"
    )
    translational_lift_n_s2_per_m2: float = parameter(
        0.0, unit="N/(m/s)^2", minimum=0.0, text="thrust per squared speed across, k_h; 0 is off"
    )
    rotor_inertia_kg_m2: float = parameter(
        0.0, unit="kg m^2", minimum=0.0, text="of one rotor about its axis; 0: no gyroscopic moment"
    )
    radius_m: float = parameter(0.0, unit="m", minimum=0.0, text="of the disk, for ground effect")
    ground_effect: float = parameter(
        0.0, minimum=0.0, maximum=3.0, text="gain k of Cheeseman and Bennett, 1 is theirs; 0 is off"
    )

    def __post_init__(self) -> None:
        if self.ground_effect > 0.0 and not self.radius_m > 0.0:
            raise ValueError("radius_m must be given with ground_effect, got 0; add it")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blade:
    """Geometry and section of a propeller's blades, from which its coefficients follow."""

    n_blades: int = parameter(minimum=1, text="blades of one propeller, m")
    diameter_m: float = parameter(unit="m", minimum=1e-3, text="of the disk, d")
    chord_m: float = parameter(unit="m", minimum=1e-4, text="average chord, c")
    root_pitch_deg: float = parameter(
        unit="deg", minimum=-90.0, maximum=90.0, text="pitch angle at the root, theta_0"
    )
    twist_deg: float = parameter(
        unit="deg", minimum=-90.0, maximum=90.0, text="pitch from root to tip, theta_1; washout < 0"
    )
    lift_slope_per_rad: float = parameter(
        2.0 * math.pi, unit="1/rad", minimum=0.0, text="of the section's lift, k"
    )
    static_thrust_coefficient: float = parameter(
        minimum=1e-9, text="C_t0 of T = C_t0 rho n^2 d^4, n in turns per second"
    )
    static_torque_coefficient: float = parameter(minimum=0.0, text="C_m0 of Q = C_m0 rho n^2 d^5")
    drag_coefficient: float = parameter(minimum=0.0, text="C_d0 of the section")
    air_density_kg_m3: float = parameter(AIR_DENSITY, unit="kg/m^3", minimum=0.0, text="rho")


def coefficients_from_blade(blade: Blade) -> dict[str, float]:
    """Return the coefficients of a propeller, by their names in `Propeller` (XTDrone eq. 7-10).

    Notes
    -----
    Eq. 8 holds the profile drag of the blades only: with a 10-inch propeller it gives 4e-6 where
    the tuned model of the iris has 1.75e-4, and eq. 10 gives 1.8e-5 against 1e-6. Do not expect the
    geometry to reproduce tuned coefficients; it shows how they scale.

    Examples
    --------
    >>> blade = Blade(
    ...     n_blades=2,
    ...     diameter_m=0.254,
    ...     chord_m=0.02,
    ...     root_pitch_deg=20.0,
    ...     twist_deg=-12.6,
    ...     lift_slope_per_rad=5.7,
    ...     static_thrust_coefficient=0.11,
    ...     static_torque_coefficient=0.008,
    ...     drag_coefficient=0.02,
    ... )
    >>> [f"{value:.1e}" for value in coefficients_from_blade(blade).values()]
    ['1.3e-01', '1.4e-05', '1.8e-02', '4.0e-06', '1.8e-05']
    """
    density, d, c, m = blade.air_density_kg_m3, blade.diameter_m, blade.chord_m, blade.n_blades
    root, twist = math.radians(blade.root_pitch_deg), math.radians(blade.twist_deg)
    pitch = root / 48.0 + twist / 64.0
    ratio = blade.static_torque_coefficient / blade.static_thrust_coefficient
    return {
        "radius_m": 0.5 * d,
        "thrust_coefficient_n_s2": (
            blade.static_thrust_coefficient * density * d**4 / (2.0 * math.pi) ** 2
        ),  # eq. 7
        "torque_per_thrust_m": ratio * d,  # eq. 9
        "drag_coefficient_n_s2_per_m": density * m * c * blade.drag_coefficient * d**2 / 16.0,  # 8
        "rolling_coefficient_n_s2": pitch * density * m * blade.lift_slope_per_rad * c * d**3,  # 10
    }
