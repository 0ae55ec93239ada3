# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scan: images of one camera close to the wall, localised in the map."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray
from aerotwin_core.rms import rms
from aerotwin_dense_localization.localization import (
    ImageLocalization,
    ImageLocalizer,
    LocalizationParameters,
    Status,
    VirtualViews,
    virtual_poses,
)
from aerotwin_scenarios.dense_localization.flights import SCAN, CameraTrack, Pictures
from aerotwin_scenarios.dense_localization.mapping import MadeMap

CAMERA = PinholeCamera(width=752, height=480, fx=460.0, fy=460.0, cx=375.5, cy=239.5)
"""78 degrees wide."""
LOST_M = 0.5
"""An image that is placed farther off counts as lost (the bars' rule)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScanRun:
    """The images of a scan and their localisation, one `found` for each.

    `T_true_map` (4, 4) maps the map to its true place.
    """

    track: CameraTrack
    found: tuple[ImageLocalization, ...]
    T_true_map: FloatArray

    def errors_m(self, *, is_aligned: bool) -> np.ndarray:
        """Return the position error of each image (n,) [m]; NaN: no pose."""
        errors = np.full(len(self.found), np.nan)
        T_true_map = self.T_true_map if is_aligned else np.eye(4)
        for k, (found, T_true) in enumerate(zip(self.found, self.track.T_map_optical, strict=True)):
            if found.T_map_cam is not None:
                here = T_true_map @ found.T_map_cam
                errors[k] = np.linalg.norm(here[:3, 3] - T_true[:3, 3])
        return errors

    def turns_deg(self) -> np.ndarray:
        """Return the rotation error of each image (n,) [deg]; NaN: no pose."""
        turns = np.full(len(self.found), np.nan)
        for k, (found, T_true) in enumerate(zip(self.found, self.track.T_map_optical, strict=True)):
            if found.T_map_cam is not None:
                R = (self.T_true_map @ found.T_map_cam)[:3, :3].T @ T_true[:3, :3]
                turns[k] = np.degrees(Rotation.from_matrix(R).magnitude())
        return turns

    def metrics(self) -> dict[str, float]:
        """Return the figures of the acceptance limits."""
        aligned, raw = self.errors_m(is_aligned=True), self.errors_m(is_aligned=False)
        known = aligned[np.isfinite(aligned)]
        return {
            "n_frames": len(aligned),
            "n_lost": int((~(aligned <= LOST_M)).sum()),
            "n_renewed": sum(found.status is Status.RENEWED for found in self.found),
            "n_relocalized": sum(found.status is Status.RELOCALIZED for found in self.found),
            "ate_mean_m": float(known.mean()) if len(known) else np.nan,
            "ate_rmse_m": rms(known),
            "ate_max_m": float(known.max()) if len(known) else np.nan,
            "ate_unaligned_mean_m": float(np.nanmean(raw)) if len(known) else np.nan,
            "turn_mean_deg": float(np.nanmean(self.turns_deg())) if len(known) else np.nan,
        }


def parameters_at(standoff_m: float) -> LocalizationParameters:
    """Return the localisation parameters for a distance from the wall [m].

    Below 2 m, views set back by more than half the distance would show little of what an image
    shows.
    """
    return LocalizationParameters(setback_m=min(1.0, 0.5 * standoff_m))


def localizer_along(
    made: MadeMap,
    path: FloatArray,
    T_map_start: FloatArray,
    *,
    standoff_m: float,
    parameters: LocalizationParameters | None = None,
) -> ImageLocalizer:
    """Return a localiser of `CAMERA` with virtual key-frames along a planned path.

    `path` (n, 4, 4): T_map_optical, planned. `T_map_start` (4, 4): reported initial pose: the only
    input besides the images. `standoff_m`: planned distance from the wall [m]. `parameters`:
    default: `parameters_at` the distance.
    """
    p = parameters_at(standoff_m) if parameters is None else parameters
    poses = virtual_poses(
        path, CAMERA, distance_m=standoff_m, overlap=p.overlap, setback_m=p.setback_m
    )
    return ImageLocalizer(VirtualViews(made.dense_map, CAMERA, poses, p), T_map_start)


def scan_wall(
    made: MadeMap,
    path: FloatArray,
    track: CameraTrack,
    pictures: Pictures,
    *,
    standoff_m: float,
    parameters: LocalizationParameters | None = None,
    on_image: Callable[[], object] = lambda: None,
) -> ScanRun:
    """Localise the images of a flight along a wall in the map.

    `path` (n, 4, 4): the planned path. `track`: true poses of the camera; its first reported pose
    is the initial one. `pictures`: of `CAMERA`. `standoff_m`: planned distance from the wall [m].
    `on_image`: called after each image.
    """
    found = []
    with localizer_along(
        made, path, track.T_map_optical_reported[0], standoff_m=standoff_m, parameters=parameters
    ) as localizer:
        for stamp_ns, T_true in zip(track.stamps_ns, track.T_map_optical, strict=True):
            found.append(localizer.localize(pictures.mono(T_true, int(stamp_ns), SCAN)))
            on_image()
    return ScanRun(track=track, found=tuple(found), T_true_map=made.T_true_map)
