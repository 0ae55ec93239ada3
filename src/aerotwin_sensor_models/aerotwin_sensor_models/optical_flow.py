# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A downward-looking optical flow sensor with its own gyroscope.

Flow is computed from the motion over the surface at the centre of the view, not from images:
the reading of a good flow sensor over texture, and nothing where no surface is in range.

References
----------
MAVLink common.xml, HIL_OPTICAL_FLOW: the signs; here about the axes of the body, FLU.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from aerotwin_core.parameters import load_parameters, parameter
from aerotwin_sensor_models.extra_sensor import SensorTruth

_DOWN = np.array([0.0, 0.0, -1.0])
BEST_QUALITY = 255


@dataclasses.dataclass(frozen=True, kw_only=True)
class OpticalFlowParameters:
    """An optical flow sensor below the body."""

    rate_hz: float = parameter(20.0, unit="Hz", minimum=1.0, text="samples per second")
    min_range_m: float = parameter(
        0.08, unit="m", minimum=0.0, text="shortest distance it sees at", old_name="least_m"
    )
    max_range_m: float = parameter(
        30.0, unit="m", minimum=0.1, text="longest distance it sees at", old_name="most_m"
    )
    max_flow_rad_s: float = parameter(
        7.4, unit="rad/s", minimum=0.1, text="flow beyond which it loses the picture",
        old_name="largest_rad_s",
    )  # fmt: skip
    noise_rad_s: float = parameter(
        0.0, unit="rad/s", minimum=0.0, text="white noise of the flow, sigma of a sample"
    )
    gyro_noise_rad_s: float = parameter(
        0.0, unit="rad/s", minimum=0.0, text="white noise of its gyroscope, sigma of a sample"
    )
    position_m: tuple[float, float, float] = parameter(
        (0.0, 0.0, -0.05), unit="m", text="where it sits, in body axes"
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class FlowReading:
    """Integrals since the last sample, about the axes of the body (FLU).

    Attributes
    ----------
    interval_s, quality : float, int
        Time since the last sample [s]; 0 (flow not usable) to 255.
    flow_rad, turn_rad : (2,), (3,) array
        Rotation of the image about x and y, and of the sensor by its gyroscope [rad].
    """

    interval_s: float
    flow_rad: np.ndarray
    turn_rad: np.ndarray
    quality: int


class OpticalFlow:
    """Flow = turn of the sensor + motion across the line of sight over the distance along it.

    `parameters` holds values of `OpticalFlowParameters` by name; `rng` is not shared.

    Attributes
    ----------
    reading : FlowReading
        The last one, as an autopilot gets it.
    """

    topic = "optical_flow"
    msgtype = "geometry_msgs/msg/TwistStamped"

    def __init__(self, parameters: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.parameters = load_parameters(OpticalFlowParameters, parameters, where="optical_flow")
        self.rate_hz = self.parameters.rate_hz
        self._position = np.array(self.parameters.position_m)
        self._rng = rng
        self._before: tuple[np.ndarray, np.ndarray] | None = None
        self.reading = self._integrated(np.zeros(2), np.zeros(3), 0)

    def sample(self, stamp_ns: int, truth: SensorTruth) -> dict[str, Any]:
        """Return the fields of geometry_msgs/TwistStamped: flow rates in angular x and y [rad/s].

        The rates are the mean of those at both ends of the interval.
        """
        p = self.parameters
        omega = truth.omega_map_body_in_body
        flow, distance = self._rates(truth)
        now = flow, omega.copy()
        flow_before, omega_before = self._before or now
        self._before = now
        quality = BEST_QUALITY if p.min_range_m <= distance <= p.max_range_m else 0
        flow, omega = (flow + flow_before) / 2.0, (omega + omega_before) / 2.0
        if not np.isfinite(flow).all() or np.abs(flow).max() > p.max_flow_rad_s:
            flow, quality = np.clip(np.nan_to_num(flow), -p.max_flow_rad_s, p.max_flow_rad_s), 0
        flow = flow + p.noise_rad_s * self._rng.standard_normal(2)
        omega = omega + p.gyro_noise_rad_s * self._rng.standard_normal(3)
        self.reading = self._integrated(flow, omega, quality)
        return {"twist": {"angular": {"x": float(flow[0]), "y": float(flow[1])}}}

    def _rates(self, truth: SensorTruth) -> tuple[np.ndarray, float]:
        """Return the instantaneous flow about x and y (2,) [rad/s] and the distance [m]."""
        omega = truth.omega_map_body_in_body
        origin = truth.p_map_body + truth.R_map_body @ self._position
        distance = truth.cast(origin, truth.R_map_body @ _DOWN)
        v_body = truth.R_map_body.T @ truth.v_map_body + np.cross(omega, self._position)
        seen = max(distance, 1e-3)  # a sensor on the ground sees the ground
        return omega[:2] + np.array([v_body[1], -v_body[0]]) / seen, distance

    def _integrated(self, flow: np.ndarray, omega: np.ndarray, quality: int) -> FlowReading:
        interval_s = 1.0 / self.rate_hz
        return FlowReading(
            interval_s=interval_s,
            flow_rad=flow * interval_s,
            turn_rad=omega * interval_s,
            quality=quality,
        )
