# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Best accuracy that a stereo camera can reach: "yours 2.1 %, possible 0.2 %"."""

from dataclasses import asdict, dataclass
from typing import Any

from aerotwin_core.parameters import parameter

SEGMENT_M = 10.0
"""Length over which the drift is stated [m]: the shortest segment that is scored by default."""


@dataclass(frozen=True, kw_only=True)
class StereoCamera:
    """What bounds the accuracy of stereo odometry."""

    baseline_m: float = parameter(text="distance between the cameras", unit="m", minimum=1e-6)
    focal_px: float = parameter(text="focal length", unit="px", minimum=1e-6)
    distance_m: float = parameter(text="usual distance of what is seen", unit="m", minimum=1e-6)
    pixel_noise_px: float = parameter(
        0.2, text="standard deviation of a feature's position", unit="px", minimum=1e-9
    )
    n_features: int = parameter(
        200, text="features seen along a way as long as their distance", minimum=3
    )


@dataclass(frozen=True, kw_only=True)
class StereoBound:
    """Accuracy that the features allow if their noise is the only error.

    `depth_std_m` is that of one point: z^2 sigma_d / (f b), with sigma_d = sqrt(2) of the pixel
    noise [m]; `drift_percent` is over a motion of ten metres [% of the length].
    """

    camera: StereoCamera
    depth_std_m: float
    drift_percent: float

    def plain(self) -> dict[str, Any]:
        """Return a mapping for JSON."""
        return {
            "depth_std_m": self.depth_std_m,
            "drift_percent": self.drift_percent,
            **asdict(self.camera),
        }


def stereo_bound(camera: StereoCamera) -> StereoBound:
    """Return the bound of a stereo camera.

    Depth: Gallup et al. (2008), "Variable baseline/resolution stereo", eq. 3. Bearings are far more
    exact than depths, so the relative error of a motion's length is that of the depths:
    sigma_z / (z sqrt(n)) along a distance z on which n points are visible. Beyond it other points
    are visible, and the errors of such stretches add as a random walk. Mismatches, calibration,
    blur and too few points add to it; frames chained without adjustment do much worse.
    """
    disparity_std = 2.0**0.5 * camera.pixel_noise_px
    depth_std = camera.distance_m**2 * disparity_std / (camera.focal_px * camera.baseline_m)
    share = depth_std / camera.distance_m / camera.n_features**0.5
    n_stretches = max(SEGMENT_M / camera.distance_m, 1.0)
    return StereoBound(
        camera=camera, depth_std_m=depth_std, drift_percent=share / n_stretches**0.5 * 100.0
    )
