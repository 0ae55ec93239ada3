# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the path trackers; the defaults are those of VTR3 where VTR3 has them.

VTR3: github.com/utiasASRL/vtr3, main at 98c8d8d, config/ouster_warthog_default.yaml and the
unicycle MPC of its path planning.
"""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class TrackerParameters:
    """Vehicle model, command limits, weights and horizon of a tracker."""

    # The vehicle. VTR3 filters omega with alpha = 0.4 per step of 0.25 s: tau = -0.25 / ln 0.4.
    vehicle: str = parameter(
        "unicycle", text="motion model: commands turn rate or curvature",
        choices=("unicycle", "bicycle"),
    )  # fmt: skip
    speed_lag_s: float = parameter(
        0.2, text="time constant of the speed's first-order lag", unit="s", minimum=0.0, maximum=5.0
    )
    turn_lag_s: float = parameter(
        0.27, text="time constant of the turn rate's (unicycle) or the steering's lag (bicycle)",
        unit="s", minimum=0.0, maximum=5.0,
    )  # fmt: skip
    command_delay_s: float = parameter(
        0.1, text="time from a command to the first response", unit="s", minimum=0.0, maximum=1.0
    )
    max_curvature_1_m: float = parameter(
        2.0, text="of a bicycle: tan(steering) / wheelbase", unit="1/m", minimum=1e-3, maximum=100.0
    )
    twist_share: float = parameter(
        0.5, text="share of the measured twist against the model's", minimum=0.0, maximum=1.0
    )
    response_memory_s: float = parameter(
        20.0, text="correlation time of gains and turn bias", unit="s", minimum=0.1, maximum=1e4
    )
    gain_std: float = parameter(
        0.1, text="prior spread of both gains around 1; 0 = fixed", minimum=0.0, maximum=1.0
    )
    turn_bias_std_rad_s: float = parameter(
        0.02, text="prior spread of the turn bias; 0 = none", unit="rad/s", minimum=0.0, maximum=0.5
    )
    # Limits of the commands.
    reference_speed_m_s: float = parameter(
        1.0, text="speed on straight parts", unit="m/s", minimum=0.05, maximum=20.0
    )
    min_speed_m_s: float = parameter(
        0.5, text="speed in the tightest turns, if possible", unit="m/s", minimum=0.01, maximum=20.0
    )
    max_speed_m_s: float = parameter(
        1.5, text="limit of the commanded speed", unit="m/s", minimum=0.05, maximum=20.0
    )
    max_turn_rate_rad_s: float = parameter(
        0.5, text="limit of the commanded turn rate", unit="rad/s", minimum=0.01, maximum=10.0
    )
    max_acceleration_m_s2: float = parameter(
        0.5, text="of the commanded speed", unit="m/s^2", minimum=0.01, maximum=20.0
    )
    max_turn_acceleration_rad_s2: float = parameter(
        5.0, text="of the commanded turn rate", unit="rad/s^2", minimum=0.01, maximum=100.0
    )
    max_lateral_acceleration_m_s2: float = parameter(
        1.0, text="speed^2 x curvature", unit="m/s^2", minimum=0.01, maximum=20.0
    )
    turn_reserve: float = parameter(
        0.2, text="share of the turn rate left for corrections", minimum=0.0, maximum=0.9
    )
    brake_reserve: float = parameter(
        0.3, text="share of the deceleration left for corrections", minimum=0.0, maximum=0.9
    )
    creep_speed_m_s: float = parameter(
        0.1, text="slowest speed on the way to a stop", unit="m/s", minimum=0.01, maximum=1.0
    )
    corridor_m: float = parameter(
        0.5, text="half width of the corridor around the route", unit="m", minimum=0.01
    )
    # The receding horizon.
    control_period_s: float = parameter(
        0.1, text="time between two commands", unit="s", minimum=0.01, maximum=1.0
    )
    n_steps: int = parameter(15, text="steps of the horizon", minimum=2, maximum=100)
    step_s: float = parameter(
        0.25, text="length of a step of the horizon", unit="s", minimum=0.02, maximum=1.0
    )
    along_weight: float = parameter(
        10.0, text="weight of the position error along the route", unit="1/m^2", minimum=0.0
    )
    across_weight: float = parameter(
        10.0, text="weight of the position error across the route", unit="1/m^2", minimum=0.0
    )
    heading_weight: float = parameter(
        5.0, text="weight of the heading error", unit="1/rad^2", minimum=0.0
    )
    speed_weight: float = parameter(
        1.0, text="weight of the speed command off the reference", unit="s^2/m^2", minimum=0.0
    )
    turn_weight: float = parameter(
        1.0, text="weight of the turn command off the reference", unit="s^2/rad^2", minimum=0.0
    )
    speed_change_weight: float = parameter(
        0.1, text="weight of the change of the speed command", unit="s^2/m^2", minimum=0.0
    )
    turn_change_weight: float = parameter(
        0.5, text="weight of the change of the turn command", unit="s^2/rad^2", minimum=0.0
    )
    corridor_weight: float = parameter(
        100.0, text="price of leaving the corridor", unit="1/m", minimum=1.0
    )
    n_linearisations: int = parameter(
        2, text="quadratic programs per command (SQP iterations)", minimum=1, maximum=10
    )
    max_iterations: int = parameter(
        400, text="bound on the solver's iterations per program", minimum=25, maximum=10000
    )
    # Pure pursuit.
    look_ahead_s: float = parameter(
        1.25, text="look-ahead of pure pursuit per speed", unit="s", minimum=0.1, maximum=10.0
    )
    min_look_ahead_m: float = parameter(
        1.0, text="shortest look-ahead", unit="m", minimum=0.05, maximum=50.0
    )
    max_look_ahead_m: float = parameter(
        1.5, text="longest look-ahead", unit="m", minimum=0.05, maximum=50.0
    )

    def __post_init__(self) -> None:
        for low, high in (
            ("min_speed_m_s", "reference_speed_m_s"),
            ("reference_speed_m_s", "max_speed_m_s"),
            ("min_look_ahead_m", "max_look_ahead_m"),
        ):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(
                    f"{low} must be at most {high} = {getattr(self, high)}, got "
                    f"{getattr(self, low)}; lower it"
                )
