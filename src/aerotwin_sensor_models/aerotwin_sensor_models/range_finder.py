# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A laser range finder: one beam along an axis of the body, cast into the world."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import ParameterError
from aerotwin_core.frames import make_transform
from aerotwin_core.parameters import load_parameters, parameter
from aerotwin_sensor_models.extra_sensor import SensorTruth

_INFRARED = 1  # sensor_msgs/Range: optical


@dataclasses.dataclass(frozen=True, kw_only=True)
class RangeFinderParameters:
    """A range finder; its beam begins at `position_m` in body axes (FLU)."""

    rate_hz: float = parameter(20.0, unit="Hz", minimum=0.1, text="samples per second")
    min_range_m: float = parameter(
        0.05, unit="m", minimum=0.0, text="shortest distance it measures", old_name="least_m"
    )
    max_range_m: float = parameter(
        40.0, unit="m", minimum=0.1, text="longest distance it measures", old_name="most_m"
    )
    noise_m: float = parameter(0.0, unit="m", minimum=0.0, text="white noise, sigma of a sample")
    noise_share: float = parameter(
        0.0, minimum=0.0, maximum=1.0, text="white noise that grows with distance, sigma over it"
    )
    resolution_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="quantisation step; 0 is continuous"
    )
    field_of_view_deg: float = parameter(
        0.5, unit="deg", minimum=0.0, maximum=90.0, text="divergence, as reported"
    )
    position_m: tuple[float, float, float] = parameter(
        (0.0, 0.0, -0.05), unit="m", text="where the beam begins, in body axes"
    )
    direction: tuple[float, float, float] = parameter(
        (0.0, 0.0, -1.0), text="along which axis of the body it looks; (0, 0, -1) is down"
    )

    def __post_init__(self) -> None:
        if sorted(map(abs, self.direction)) != [0.0, 0.0, 1.0]:
            raise ParameterError(
                f"direction: expected an axis of the body, such as (0, 0, -1), found "
                f"{self.direction}"
            )
        if not self.min_range_m < self.max_range_m:
            raise ParameterError(
                f"min_range_m: expected less than max_range_m ({self.max_range_m:g} m), found "
                f"{self.min_range_m:g} m"
            )


class RangeFinder:
    """Distance along the beam to the first surface; infinite beyond its range.

    `parameters` holds values of `RangeFinderParameters` by name; `rng` is not shared.
    """

    topic = "range"
    msgtype = "sensor_msgs/msg/Range"
    frame_id = "range_finder"

    def __init__(self, parameters: Mapping[str, Any], rng: np.random.Generator) -> None:
        self.parameters = load_parameters(RangeFinderParameters, parameters, where="range_finder")
        self.rate_hz = self.parameters.rate_hz
        self.direction_body = self.parameters.direction
        self._position = np.array(self.parameters.position_m)
        self.T_body_sensor = make_transform(_along_x(self.direction_body), self._position)
        self._rng = rng

    def sample(self, stamp_ns: int, truth: SensorTruth) -> dict[str, float]:
        """Return the fields of sensor_msgs/Range: -inf is nearer, inf farther than it measures."""
        p = self.parameters
        origin = truth.p_map_body + truth.R_map_body @ self._position
        distance = truth.cast(origin, truth.R_map_body @ np.array(p.direction))
        std = math.hypot(p.noise_m, p.noise_share * min(distance, p.max_range_m))
        distance += std * float(self._rng.standard_normal())
        if p.resolution_m:
            distance = round_to(distance, p.resolution_m)
        if distance < p.min_range_m:
            distance = -math.inf
        elif distance > p.max_range_m:
            distance = math.inf
        return {
            "radiation_type": _INFRARED,
            "field_of_view": math.radians(p.field_of_view_deg),
            "min_range": p.min_range_m,
            "max_range": p.max_range_m,
            "range": distance,
            "variance": std**2,
        }


def _along_x(direction: tuple[float, float, float]) -> np.ndarray:
    """Return R_body_sensor whose x looks along an axis of the body, as sensor_msgs/Range has it."""
    x, y, z = direction
    return Rotation.from_euler("ZY", [math.atan2(y, x), -math.asin(z)]).as_matrix()


def round_to(value: float, step: float) -> float:
    """Return the multiple of a step nearest to a value; infinite stays infinite."""
    return step * round(value / step) if math.isfinite(value) else value
