# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Data that a visual-inertial estimator needs at its start: noise, biases, mountings.

It is part of a run's `config.yaml` and, flat, of a metadata record of its bag, so that a bag can be
used without the simulator.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from aerotwin_core.frames import make_transform, pose_from_transform
from aerotwin_core.parameters import to_mapping
from aerotwin_sensor_models import Imu, load_preset
from aerotwin_sensor_models.imu import GRAVITY, TriadParameters
from aerotwin_simulator import topics
from aerotwin_simulator.body_camera import BodyCamera
from aerotwin_simulator.parameters import NO_PRESET, SimulatorParameters

Setup = dict[str, Any]
_WITH_PRESETS = (
    *("imu", "barometer", "magnetometer", "gnss"),
    *("range_finder", "optical_flow", "airspeed"),
)
NOTES = (
    "Units are in the names; sqrt_hz stands below the line: noise_density_rad_s_sqrt_hz is in "
    "rad/s/sqrt(Hz). A bias is constant plus a Gauss-Markov process of the drive "
    "bias_random_walk and the time constant bias_correlation_time_s. T_base_imu takes coordinates "
    "of the IMU's frame to base_link, translation [m] and quaternion x y z w. Readings are "
    "matrix @ truth + bias + noise. Truth of a sensor's frame is truth/odom, which is that of "
    "base_link, times its T_base_...; truth/imu_bias holds the biases all along."
)


def sensor_setup(
    vehicle: str, imu: Imu, imu_rate_hz: float, cameras: Iterable[BodyCamera]
) -> Setup:
    """Return IMU, gravity and cameras of a vehicle, as plain numbers and texts.

    The name in a fleet is "" for a single vehicle; the IMU is as switched on: its true biases and
    matrices are those of this flight.
    """
    parameters = imu.parameters
    T_base_imu = make_transform(parameters.R_body_imu, np.array(parameters.lever_arm_m, float))
    return {
        "notes": NOTES,
        "gravity_map_m_s2": [0.0, 0.0, -GRAVITY],
        "imu": {
            "topic": topics.resolve(topics.below(vehicle)(topics.IMU).name),
            "frame_id": topics.frame(vehicle, "imu_link"),
            "rate_hz": float(imu_rate_hz),
            "T_base_imu": plain_pose(T_base_imu),
            "gyroscope": _triad(
                parameters.gyroscope, imu.gyroscope_bias, imu.gyroscope_matrix, "rad_s", "rad_s2"
            ),
            "accelerometer": _triad(
                parameters.accelerometer, imu.accelerometer_bias, imu.accelerometer_matrix,
                "m_s2", "m_s3",
            ),
        },
        "cameras": {
            eye.name: {
                "frame_id": eye.frame_id,
                "rate_hz": float(camera.rate_hz),
                "readout_s": float(camera.readout_s),
                "T_base_optical": plain_pose(eye.T_body_optical),
                "width_px": int(info.width),
                "height_px": int(info.height),
                "distortion_model": str(info.distortion_model),
                "distortion": [float(value) for value in info.d],
                "K_px": [float(value) for value in info.k],
                "parameters": to_mapping(camera.parameters),
            }
            for camera in cameras
            for eye, info in zip(camera.eyes, camera.infos, strict=True)
        },
    }  # fmt: skip


def preset_parameters(parameters: SimulatorParameters) -> Setup:
    """Return the parameters of the presets of a vehicle's further sensors, by kind.

    They are as loaded, with what a preset inherits and the defaults.
    """
    names = {kind: getattr(parameters.sensors, kind) for kind in _WITH_PRESETS}
    if parameters.vision.source == "simulated":
        names["external_vision"] = parameters.vision.preset
    return {
        kind: to_mapping(load_preset(kind, name))
        for kind, name in names.items()
        if name != NO_PRESET
    }


def flat(setup: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return a setup as names with texts, like the metadata of MCAP: levels joined by dots.

    Numbers and lists are JSON, texts are unchanged.

    Examples
    --------
    >>> flat({"imu": {"rate_hz": 250.0, "frame_id": "imu_link"}})
    {'imu.rate_hz': '250.0', 'imu.frame_id': 'imu_link'}
    """
    found: dict[str, str] = {}
    for key, value in setup.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value if isinstance(value, str) else json.dumps(value)
    return found


def _triad(
    triad: TriadParameters, bias: np.ndarray, matrix: np.ndarray, unit: str, rate: str
) -> dict[str, Any]:
    return {
        f"noise_density_{unit}_sqrt_hz": float(triad.noise_density),
        f"bias_random_walk_{rate}_sqrt_hz": float(triad.random_walk),
        "bias_correlation_time_s": float(triad.correlation_time_s),
        f"turn_on_bias_sigma_{unit}": float(triad.turn_on_bias_sigma),
        f"true_bias_at_start_{unit}": bias.tolist(),
        "true_matrix": matrix.tolist(),
    }


def plain_pose(T: np.ndarray) -> dict[str, list[float]]:
    """Return a pose (4, 4) as translation [m] and quaternion x y z w."""
    p, q = pose_from_transform(T)
    return {"translation_m": p.tolist(), "rotation_xyzw": q.tolist()}
