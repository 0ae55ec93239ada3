# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every choice of localisation in a dense map."""

from dataclasses import dataclass, field

from aerotwin_core.parameters import parameter
from aerotwin_dense_localization.alignment import AlignmentParameters
from aerotwin_dense_localization.splats import SplatParameters


@dataclass(frozen=True, kw_only=True)
class InertialParameters:
    """What an IMU is trusted with; noise is that of the ADIS16448, as the autopilot expects it."""

    gyro_noise_rad_s_sqrt_hz: float = parameter(
        3.5e-4, text="Gyroscope noise density.", unit="rad/s/sqrt(Hz)", minimum=1e-8, maximum=1.0
    )
    accel_noise_m_s2_sqrt_hz: float = parameter(
        0.0041, text="Accelerometer noise.", unit="m/s^2/sqrt(Hz)", minimum=1e-6, maximum=10.0
    )
    gyro_bias_walk_rad_s2_sqrt_hz: float = parameter(
        4.0e-5, text="Gyroscope bias walk.", unit="rad/s^2/sqrt(Hz)", minimum=0.0, maximum=1.0
    )
    accel_bias_walk_m_s3_sqrt_hz: float = parameter(
        0.006, text="Accelerometer bias walk.", unit="m/s^3/sqrt(Hz)", minimum=0.0, maximum=10.0
    )
    gyro_bias_std_rad_s: float = parameter(
        0.009, text="Initial gyroscope bias, 1 sigma.", unit="rad/s", minimum=0.0, maximum=1.0
    )
    accel_bias_std_m_s2: float = parameter(
        0.21, text="Initial accelerometer bias, 1 sigma.", unit="m/s^2", minimum=0.0, maximum=10.0
    )
    speed_std_m_s: float = parameter(
        2.0, text="Initial speed along an axis, 1 sigma.", unit="m/s", minimum=0.01, maximum=1000.0
    )
    pose_sigma_m: float = parameter(
        0.003, text="Error of poses beyond their covariance.", unit="m", minimum=0.0, maximum=10.0
    )
    pose_sigma_deg: float = parameter(
        0.05, text="The same of their turns.", unit="deg", minimum=0.0, maximum=30.0
    )
    gate_probability: float = parameter(
        0.9999, text="Share of sound poses that pass (chi-square).", minimum=0.5, maximum=1.0
    )
    max_refused: int = parameter(
        5, text="After so many refused poses in a row it begins anew.", minimum=0, maximum=1000
    )
    max_dead_reckoning_s: float = parameter(
        2.0, text="Time without a pose that restarts.", unit="s", minimum=0.01, maximum=60.0
    )
    max_gap_s: float = parameter(
        0.1, text="Gap between samples that restarts.", unit="s", minimum=1e-3, maximum=1.0
    )
    max_hold_s: float = parameter(
        0.03, text="Longest hold of a sample until an image.", unit="s", minimum=0.0, maximum=1.0
    )


@dataclass(frozen=True, kw_only=True)
class LocalizationParameters:
    """How a camera is localised against virtual key-frames."""

    setback_m: float = parameter(
        1.0, text="Distance of key-frames behind the path.", unit="m", minimum=0.0, maximum=100.0
    )
    overlap: float = parameter(
        0.7, text="Share of the view that neighbouring views share.", minimum=0.0, maximum=0.95
    )
    n_cached_views: int = parameter(
        12, text="Rendered views that are cached; 10 MB each.", minimum=1, maximum=1000,
        old_name="n_kept_views",
    )  # fmt: skip
    turn_m_per_rad: float = parameter(
        3.0, text="Weight of a turn beside a shift.", unit="m/rad", minimum=0.0, maximum=100.0
    )
    max_step_m: float = parameter(
        0.75, text="Largest jump from the expected pose.", unit="m", minimum=0.01, maximum=100.0
    )
    max_step_deg: float = parameter(
        10.0, text="Nor one turned by more.", unit="deg", minimum=0.1, maximum=180.0
    )
    n_refinements: int = parameter(
        0, text="Views at the found pose that an image is aligned to again.", minimum=0, maximum=10
    )
    n_candidates: int = parameter(
        3, text="When lost: number of most similar places that are tried.", minimum=1, maximum=100
    )
    min_relocalized_correlation: float = parameter(
        0.7, text="Least correlation of a pose without expectation.", minimum=0.0, maximum=1.0
    )
    alignment: AlignmentParameters = field(default_factory=AlignmentParameters)
    splats: SplatParameters = field(default_factory=SplatParameters)
