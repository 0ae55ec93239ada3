# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Depth of a rectified stereo pair: matched by OpenCV, then refined to sub-pixel precision.

OpenCV's matchers fit a parabola in sixteenths of a pixel, biased towards whole pixels; on a rock
wall at 13 m the median error is 0.17 px. Patches moved until their grey values agree have a third
of that, and provide a standard deviation.

Reference: Shimizu, Okutomi: Precise sub-pixel estimation on area-based matching. ICCV 2001.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.parameters import parameter
from aerotwin_core.stereo_matching import (
    MOST_DISPARITIES,
    block_matcher,
    semi_global_matcher,
)
from aerotwin_core.threads import default_thread_count, run_tasks, split_range
from aerotwin_dense_localization.depth.kernels import refine_disparities

METHODS = ("semi_global", "block")


@dataclass(frozen=True, kw_only=True)
class StereoParameters:
    """How a rectified pair becomes depth."""

    method: str = parameter(
        "semi_global",
        text="OpenCV's semi-global matching, or block matching: faster, with more holes.",
        choices=METHODS,
    )
    nearest_m: float = parameter(
        4.0, text="Nearest depth that is sought.", unit="m", minimum=0.05, maximum=1000.0
    )
    farthest_m: float = parameter(
        40.0, text="Farthest depth that is used.", unit="m", minimum=0.1, maximum=10_000.0
    )
    block_px: int = parameter(
        5, text="Edge of the blocks that are compared, odd.", unit="px", minimum=3, maximum=21
    )
    refine_px: int = parameter(
        9,
        text=(
            "Edge of the patches whose shift is refined below a pixel by their grey values, odd; "
            "1 keeps the matcher's parabola, which is drawn towards whole pixels."
        ),
        unit="px",
        minimum=1,
        maximum=21,
    )
    noise_dn: float = parameter(
        2.5, text="Noise of grey values between both images.", unit="DN", minimum=0.1, maximum=50.0
    )
    min_correlation: float = parameter(
        0.6, text="Of the patches, at their best.", minimum=-1.0, maximum=1.0
    )
    floor_px: float = parameter(
        0.06, text="Least standard deviation of a disparity.", unit="px", minimum=0.0, maximum=2.0
    )
    max_sigma_px: float = parameter(
        0.5, text="Less certain disparities are dropped.", unit="px", minimum=0.01, maximum=10.0
    )

    def __post_init__(self) -> None:
        for name in ("block_px", "refine_px"):
            if getattr(self, name) % 2 == 0:
                raise ValueError(f"{name} must be odd, got {getattr(self, name)}")
        if not self.nearest_m < self.farthest_m:
            raise ValueError(
                f"nearest_m must be less than farthest_m, got {self.nearest_m:g} and "
                f"{self.farthest_m:g}"
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class DepthMap:
    """Depth of a camera's pixels, z in the optical frame, and its variance [m, m^2].

    Both are (h, w) float32, NaN where unknown.
    """

    depth: np.ndarray
    variance: np.ndarray


class StereoDepth:
    """Depth from one rectified rig.

    Parameters
    ----------
    camera : PinholeCamera
        Of both images.
    baseline_m : float
        From the left to the right camera, along x.
    parameters : StereoParameters, optional

    Raises
    ------
    ValueError
        If the depth range needs no or more than 512 disparities.
    """

    def __init__(
        self,
        camera: PinholeCamera,
        baseline_m: float,
        parameters: StereoParameters | None = None,
    ) -> None:
        self.camera, self.baseline_m = camera, baseline_m
        self.parameters = p = StereoParameters() if parameters is None else parameters
        focal_m = camera.fx * baseline_m
        self._lowest = int(np.floor(focal_m / p.farthest_m))
        n = 16 * int(np.ceil((focal_m / p.nearest_m + 1.0 - self._lowest) / 16.0))
        if not 0 < n <= min(MOST_DISPARITIES, camera.width):
            raise ValueError(
                f"depths from {p.nearest_m:g} to {p.farthest_m:g} m with a baseline of "
                f"{baseline_m:g} m need {n} disparities, possible are 16 to "
                f"{min(MOST_DISPARITIES, camera.width)}; choose nearest_m greater"
            )
        self._pad_px = self._lowest + n
        create = block_matcher if p.method == "block" else semi_global_matcher
        self._matcher = create(self._lowest, n, p.block_px)

    def depth(self, left: np.ndarray, right: np.ndarray) -> DepthMap:
        """Return the depth of the left image from grey images (h, w) uint8."""
        disparity, sigma = self.disparity(left, right)
        focal_m = self.camera.fx * self.baseline_m
        depth = focal_m / disparity
        variance = (depth * depth / focal_m * sigma) ** 2
        is_far = depth > self.parameters.farthest_m
        depth[is_far], variance[is_far] = np.nan, np.nan
        return DepthMap(depth=depth, variance=variance)

    def disparity(self, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the left image's disparities and their sigmas [px], (h, w); NaN unknown."""
        shape = (self.camera.height, self.camera.width)
        for name, image in (("left", left), ("right", right)):
            if image.shape != shape or image.dtype != np.uint8:
                raise ValueError(
                    f"the {name} image must be {shape} uint8, got {image.shape} {image.dtype}"
                )
        p = self.parameters
        disparity = self._matched(left, right)
        if p.refine_px == 1:
            sigma = np.where(np.isfinite(disparity), np.float32(p.max_sigma_px), np.nan)
            return disparity, sigma.astype(np.float32)
        refined, sigma = np.empty_like(disparity), np.empty_like(disparity)
        images = (left.astype(np.float32), right.astype(np.float32), disparity)
        choices = (p.refine_px // 2, p.noise_dn, p.min_correlation, refined, sigma)
        n_threads = default_thread_count()
        bands = split_range(shape[0], 4 * n_threads)
        run_tasks(refine_disparities, [(*band, *images, *choices) for band in bands], n_threads)
        np.hypot(sigma, np.float32(p.floor_px), out=sigma)
        is_vague = ~(sigma <= p.max_sigma_px)
        refined[is_vague], sigma[is_vague] = np.nan, np.nan
        return refined, sigma

    def _matched(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the matcher's disparities (h, w) float32, NaN where there is none.

        OpenCV leaves out the columns from which the greatest disparity would lead out of the right
        image; with images made wider by that, it matches what both cameras see of them.
        """
        wider = (
            cv2.copyMakeBorder(image, 0, 0, self._pad_px, 0, cv2.BORDER_REPLICATE)
            for image in (left, right)
        )
        found = self._matcher.compute(*wider)[:, self._pad_px :] / np.float32(16.0)
        is_seen_by_both = found <= np.arange(self.camera.width, dtype=np.float32)
        is_matched = (found > self._lowest - 1) & is_seen_by_both
        return np.where(is_matched, found, np.float32(np.nan))
