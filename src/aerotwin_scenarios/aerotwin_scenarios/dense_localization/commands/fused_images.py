# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of a bag, localised with predictions of the bag's IMU."""

from dataclasses import dataclass, field

import numpy as np

from aerotwin_dense_localization.localization import (
    BodyTracker,
    ImageLocalization,
    ImageLocalizer,
    InertialFilter,
    InertialParameters,
    LocalizationParameters,
)
from aerotwin_scenarios.dense_localization.recordings.recorded_imu import RecordedImu


@dataclass(frozen=True, kw_only=True)
class ScanParameters(LocalizationParameters):
    """How a camera is localised, and what the IMU beside it is trusted with."""

    inertial: InertialParameters = field(default_factory=InertialParameters)


class FusedImages:
    """Localises images at the IMU's predictions; poses remain those of the images.

    `n_fused` counts the images whose poses the filter accepted.
    """

    def __init__(
        self,
        localizer: ImageLocalizer,
        imu: RecordedImu,
        parameters: InertialParameters,
    ) -> None:
        self._imu = imu
        self._inertial = InertialFilter(parameters, imu.T_base_imu)
        self._tracker = BodyTracker(localizer, imu.T_base_cam, self._inertial)
        self._n_apart, self._why_apart = 0, ""
        self.n_fused = 0

    def localize(self, stamp_ns: int, grey: np.ndarray) -> ImageLocalization:
        """Localise an image (h, w).

        Raises `UserError` if it is the first one and samples of the IMU end before it.
        """
        self._imu.lead(self._inertial, stamp_ns)
        found, body = self._tracker.localize(stamp_ns, grey)
        if body is not None and self._inertial.reason:
            self._n_apart, self._why_apart = self._n_apart + 1, self._inertial.reason
        elif body is not None:
            self.n_fused += 1
        return found

    def notes(self, last_ns: int) -> list[str]:
        """Return remarks for the report after the last image [ns].

        Raises `UserError` if samples of the IMU begin after it.
        """
        self._imu.refuse_later(last_ns)
        reported = {
            "images are lost because the IMU led elsewhere; if it is the map that is off, of poses "
            "that drift, raise pose_sigma_m of inertial (--parameters)": self._tracker.n_refused,
            f"placed images were not fused with the IMU, the last one: {self._why_apart}": (
                self._n_apart
            ),
            f"samples of the IMU were refused, the last one: {self._imu.refusal}": (
                self._imu.n_refused
            ),
        }
        return [f"{n} {what}" for what, n in reported.items() if n]
