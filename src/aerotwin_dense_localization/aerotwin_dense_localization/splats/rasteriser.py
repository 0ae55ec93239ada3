# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Elliptical weighted averages of splats: image, depth, weight and variance of a camera's view.

After Zwicker et al. (2001), as used by Navarro et al. (2025): each splat's covariance is projected
with a projection linearised about its centre (eq. 1), a table of the radial distance (eq. 2) gives
its weight at each pixel, and the weighted mean of the front surface is the image (eq. 3).

References: Zwicker, Pfister, van Baar, Gross: EWA volume splatting. IEEE Visualization 2001.
Navarro, Malis, Antoine, Martinet: Hybrid Visual SLAM for Multi-session Precise Localization. ICAS
2025, section II.A.2. The second row of its eq. (1) must begin with f_y. Its third row is the
derivative of the range; here it is that of the depth z, which the depth images hold.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.camera import CameraModel, PinholeCamera
from aerotwin_core.frames import FloatArray
from aerotwin_core.luma import LUMA_REC601
from aerotwin_core.parameters import parameter
from aerotwin_core.threads import default_thread_count, run_ranges, run_tasks, split_range
from aerotwin_dense_localization.splats.cloud import SplatCloud
from aerotwin_dense_localization.splats.kernels import (
    divide_sums,
    find_front,
    project_splats,
    sum_splats,
)

_TABLE_SIZE = 1025
_RECORD = 10
_BANDS = 2  # for each thread: where one half of the picture is empty, both work on the other


@dataclass(frozen=True, kw_only=True)
class SplatParameters:
    """How splats become an image."""

    decay: float = parameter(
        1.5, text="Weight is exp(-decay r), r = d^T Q d; 0.5: Gaussian.", minimum=0.05, maximum=10.0
    )
    cutoff: float = parameter(
        9.0, text="Squared reach of a splat in standard deviations.", minimum=1.0, maximum=36.0
    )
    low_pass_px2: float = parameter(
        0.25, text="Variance added for a pixel's average.", unit="px^2", minimum=0.0, maximum=4.0
    )
    front_m: float = parameter(
        0.05, text="Depth of the front surface's layer.", unit="m", minimum=0.0, maximum=10.0
    )
    front_sigmas: float = parameter(
        3.0, text="Plus this many standard deviations of depth.", minimum=0.0, maximum=10.0
    )
    near_m: float = parameter(
        0.1, text="Nearer than this nothing is drawn.", unit="m", minimum=1e-3, maximum=100.0
    )
    max_depth_sigma: float = parameter(
        0.15, text="Largest extent along the view, as a share of depth.", minimum=0.001, maximum=1.0
    )
    min_weight: float = parameter(
        1e-6, text="Sum of weights of a pixel with a surface.", minimum=0.0, maximum=1.0
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SplatView:
    """Splats as rendered for a camera.

    Attributes
    ----------
    image : (h, w, c) float32 array
        [DN]; NaN where no splat reaches.
    depth, variance : (h, w) float32 arrays
        z in the optical frame [m], and its variance, of the splats themselves and between them
        [m^2]; NaN where no splat reaches.
    weight : (h, w) float32 array
        Sum of the weights; 0 where no splat reaches.
    """

    image: np.ndarray
    depth: np.ndarray
    weight: np.ndarray
    variance: np.ndarray

    @property
    def grey(self) -> np.ndarray:
        """The image in grey (h, w) float32 [DN], by the luma of BT.601; or its only channel."""
        if self.image.shape[2] == 1:
            return self.image[:, :, 0]
        return self.image @ LUMA_REC601.astype(np.float32)


class SplatRasteriser:
    """Renders splats for any one camera; its distortion is linearised over each splat.

    `n_threads` defaults to the cores of this process, at most four.
    """

    def __init__(
        self,
        camera: CameraModel,
        parameters: SplatParameters | None = None,
        *,
        n_threads: int | None = None,
    ) -> None:
        self.camera = camera
        self.parameters = SplatParameters() if parameters is None else parameters
        self._n_threads = default_thread_count() if n_threads is None else n_threads
        self._lens = _lens_derivative(camera)
        r = np.linspace(0.0, self.parameters.cutoff, _TABLE_SIZE)
        self._table = np.exp(-self.parameters.decay * r).astype(np.float32)

    def render(self, cloud: SplatCloud, T_cloud_optical: FloatArray) -> SplatView:
        """Return the view from pose T_cloud_optical (4, 4)."""
        p, shape = self.parameters, (self.camera.height, self.camera.width)
        n_channels = cloud.colours.shape[1]
        record = self._project(cloud, np.asarray(T_cloud_optical, dtype=np.float64))
        front, depth, weight, variance = (np.empty(shape, np.float32) for _ in range(4))
        image = np.empty((*shape, n_channels), np.float32)
        sums = np.empty((*shape, 3 + n_channels), np.float32)

        def render_band(top: int, bottom: int) -> None:
            find_front(top, bottom, record, p.cutoff, front)
            sum_splats(
                top, bottom, record, cloud.colours, self._table, p.cutoff, p.front_m,
                p.front_sigmas, front, sums,
            )  # fmt: skip
            divide_sums(top, bottom, sums, p.min_weight, front, image, depth, weight, variance)

        run_tasks(render_band, split_range(shape[0], _BANDS * self._n_threads), self._n_threads)
        return SplatView(image=image, depth=depth, weight=weight, variance=variance)

    def _project(self, cloud: SplatCloud, T_cloud_optical: FloatArray) -> np.ndarray:
        R, p = T_cloud_optical[:3, :3], T_cloud_optical[:3, 3]
        T_optical_cloud = np.ascontiguousarray(np.column_stack([R.T, -R.T @ p]))
        if isinstance(self.camera, PinholeCamera):
            pixels = np.empty((0, 2))
        else:
            pixels = np.ascontiguousarray(self.camera.project(cloud.points @ R - R.T @ p))
        record = np.empty((len(cloud), _RECORD), np.float32)
        options, centre = self.parameters, self.camera.matrix[:2, 2].copy()
        run_ranges(
            project_splats, len(cloud), cloud.points, cloud.covariances, T_optical_cloud, pixels,
            self._lens, centre, options.near_m, options.max_depth_sigma, options.low_pass_px2,
            options.cutoff, record,
        )  # fmt: skip
        return record


def _lens_derivative(camera: CameraModel) -> np.ndarray:
    """Return d(u, v)/d(x/z, y/z), (h, w, 2, 2) float32; (1, 1, 2, 2) where it is constant.

    At the rim of a lens's field, where rays of neighbouring pixels are unknown, it is that of the
    camera matrix alone.
    """
    K = camera.matrix[:2, :2]
    if isinstance(camera, PinholeCamera):
        return K[None, None].astype(np.float32)
    rays = camera.rays()
    by_v, by_u = np.gradient(rays, axis=(0, 1))
    inverse = np.stack([by_u, by_v], axis=-1)
    determinant = np.linalg.det(inverse)
    is_known = np.isfinite(determinant) & (determinant != 0.0)
    inverse[~is_known] = np.linalg.inv(K)
    return np.ascontiguousarray(np.linalg.inv(inverse), dtype=np.float32)
