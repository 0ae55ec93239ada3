# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Motion blur: the mean of the light of each pixel over the exposure, from image and depth."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.camera import CameraModel
from aerotwin_core.threads import fill_bands
from aerotwin_sensor_models.camera_kernels import blur_rows


class MotionBlur:
    """Blurs images of a lens by the motion of the camera during the exposure.

    A pixel of depth z moves by A w + B v / z, where w and v are rotation and way of the camera and
    A and B follow from the lens. The image at the middle of the exposure is averaged along this
    line, forwards and backwards. What is wrong is only what a moving edge covers or uncovers, what
    enters at the border of the image, where its last pixel is repeated, and the curvature of the
    way; see the test, which renders many instants.

    Parameters
    ----------
    camera : CameraModel
        Any lens.
    readout_s : float
        Of a rolling shutter, whose image is sheared already; 0 = global.
    """

    def __init__(self, camera: CameraModel, *, readout_s: float = 0.0) -> None:
        rays = camera.rays()
        down, right = (np.asarray(change) for change in np.gradient(rays, axis=(0, 1)))
        determinant = right[..., 0] * down[..., 1] - right[..., 1] * down[..., 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            lens = np.stack(
                [rays[..., 0], rays[..., 1],
                 down[..., 1] / determinant, -down[..., 0] / determinant,
                 -right[..., 1] / determinant, right[..., 0] / determinant],
                axis=-1,
            )  # fmt: skip
        lens[~np.isfinite(lens).all(axis=-1)] = 0.0  # no ray, no motion
        self._lens = np.ascontiguousarray(lens, np.float32)
        self._row_s = readout_s / max(camera.height - 1, 1)

    def blurred(
        self,
        image: np.ndarray,
        depth: np.ndarray,
        ends: Sequence[tuple[np.ndarray, np.ndarray]],
        *,
        band_rows: int,
        time_s: float,
    ) -> np.ndarray:
        """Return an image (h, w) or (h, w, 3) uint8 as exposed for `time_s`.

        `depth` (h, w) float32 is along the axis [m], `ends` the poses T_map_optical (4, 4) at
        begin and end of the exposure of each `band_rows` rows.
        """
        h, w = image.shape[:2]
        pixels = np.ascontiguousarray(image).reshape(h, w, -1)
        twists = np.array([_twist(*pair) for pair in ends], np.float32)
        out = np.empty_like(pixels)
        row_share = np.float32(self._row_s / time_s)
        fill_bands(blur_rows, h, pixels, depth, self._lens, twists, band_rows, row_share, out)
        return out.reshape(image.shape)


def _twist(T_begin: np.ndarray, T_end: np.ndarray) -> np.ndarray:
    """Return rotation [rad] and way [m] of a camera (6,) in its own axes halfway."""
    turn = Rotation.from_matrix(T_begin[:3, :3].T @ T_end[:3, :3]).as_rotvec()
    R_map_half = T_begin[:3, :3] @ Rotation.from_rotvec(0.5 * turn).as_matrix()
    return np.concatenate([turn, R_map_half.T @ (T_end[:3, 3] - T_begin[:3, 3])])
