# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A body localised by its camera, image by image, with an optional IMU in between."""

import numpy as np

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_dense_localization.localization.inertial import BodyEstimate, InertialFilter
from aerotwin_dense_localization.localization.localizer import (
    ImageLocalization,
    ImageLocalizer,
    Status,
)
from aerotwin_stereo_odometry.covariance import compose_covariance


class BodyTracker:
    """Localises images at the pose the IMU predicts, and corrects the IMU's filter.

    `T_base_optical` is the pose of the camera on the body. `inertial` fuses the poses with samples
    of an IMU, which the caller adds; `n_refused` counts the images whose poses it refused.
    """

    def __init__(
        self,
        localizer: ImageLocalizer,
        T_base_optical: FloatArray,
        inertial: InertialFilter | None = None,
    ) -> None:
        self._localizer, self._inertial = localizer, inertial
        self._T_base_optical = T_base_optical
        self.n_refused = 0

    def localize(
        self, stamp_ns: int, grey: np.ndarray, T_map_expected: FloatArray | None = None
    ) -> tuple[ImageLocalization, BodyEstimate | None]:
        """Return the localisation of an image (h, w), and the body estimate; None when it is lost.

        `stamp_ns`: not before that of the last call. `T_map_expected` (4, 4): external prediction
        of the body's pose, used where the IMU has none.
        """
        led = None if self._inertial is None else self._inertial.advance(stamp_ns)
        T_map_base = T_map_expected if led is None else led
        found = self._localizer.localize(
            grey, None if T_map_base is None else T_map_base @ self._T_base_optical
        )
        if found.T_map_cam is None or found.covariance is None:
            return found, None
        T_map_base = found.T_map_cam @ invert_transform(self._T_base_optical)
        covariance = body_covariance(found.covariance, found.T_map_cam, T_map_base)
        seen = BodyEstimate(T_map_base=T_map_base, covariance=covariance)
        if self._inertial is None:
            return found, seen
        if refusal := self._inertial.correct(stamp_ns, T_map_base, covariance):
            self.n_refused += 1
            return ImageLocalization(status=Status.LOST, reason=refusal), None
        return found, self._inertial.estimate(stamp_ns) or seen


def body_covariance(
    covariance_cam: FloatArray, T_map_cam: FloatArray, T_map_base: FloatArray
) -> FloatArray:
    """Return the covariance (6, 6) of a body's pose: position, then rotations about map axes.

    `covariance_cam` (6, 6) is that of translation and rotation of its camera, in map axes [m, rad].
    """
    return compose_covariance(covariance_cam, T_map_base[:3, 3] - T_map_cam[:3, 3], 0.0)
