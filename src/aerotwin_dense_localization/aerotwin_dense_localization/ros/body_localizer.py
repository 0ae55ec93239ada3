# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A body localised by its camera, with an optional IMU or odometry between images."""

import numpy as np

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_dense_localization.localization import (
    BodyEstimate,
    BodyTracker,
    ImageLocalization,
    ImageLocalizer,
    InertialFilter,
    VirtualViews,
)
from aerotwin_dense_localization.ros.pose_buffer import PoseBuffer


class BodyLocalizer:
    """Localises a body, image by image.

    `T_base_optical` (4, 4): pose of the camera on the body. `odometry`: poses of the body, filled
    by the caller. `T_map_base` (4, 4): initial pose; None: the first image is searched in all
    views. `inertial`: fuses the poses with samples of an IMU, which the caller adds.
    """

    def __init__(
        self,
        views: VirtualViews,
        T_base_optical: FloatArray,
        odometry: PoseBuffer,
        T_map_base: FloatArray | None,
        inertial: InertialFilter | None = None,
    ) -> None:
        self._views, self._odometry, self._inertial = views, odometry, inertial
        self._T_base_optical = T_base_optical
        self.restart(T_map_base)

    def restart(self, T_map_base: FloatArray | None) -> None:
        """Restart at a pose of the body, or anywhere (None)."""
        start = None if T_map_base is None else T_map_base @ self._T_base_optical
        self._tracker = BodyTracker(
            ImageLocalizer(self._views, start), self._T_base_optical, self._inertial
        )
        self._T_map_odom: FloatArray | None = None
        self._placed: tuple[int, FloatArray] | None = None
        if self._inertial is not None:
            self._inertial.restart("no image was placed yet")

    def localize(
        self, stamp_ns: int, grey: np.ndarray
    ) -> tuple[ImageLocalization, BodyEstimate | None]:
        """Return the localisation of an image (h, w), and the body estimate; None when it is lost.

        The prediction is that of the IMU, or else of odometry since the last image. Odometry of the
        same stamp may arrive after the image: the last pose before it is a good enough initial
        value.
        """
        found, seen = self._tracker.localize(stamp_ns, grey, self._led_by_odometry(stamp_ns))
        if seen is not None:
            self._placed = (stamp_ns, seen.T_map_base)
        return found, seen

    def new_map_odom(self) -> tuple[int, FloatArray] | None:
        """Return stamp [ns] and T_map_odom of the last localised image, once odometry passed it."""
        if self._placed is None or not self._odometry.has_passed(self._placed[0]):
            return None
        (stamp_ns, T_map_base), self._placed = self._placed, None
        T_odom_base = self._odometry.at(stamp_ns)
        if T_odom_base is None:
            return None
        self._T_map_odom = T_map_base @ invert_transform(T_odom_base)
        return stamp_ns, self._T_map_odom

    def _led_by_odometry(self, stamp_ns: int) -> FloatArray | None:
        T_odom_base = self._odometry.near(stamp_ns)
        if self._T_map_odom is None or T_odom_base is None:
            return None
        return self._T_map_odom @ T_odom_base
