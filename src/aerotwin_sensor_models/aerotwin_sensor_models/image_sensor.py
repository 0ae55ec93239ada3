# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors of a camera image: blur, vignetting, exposure, noise, 8 bits."""

import numpy as np
from scipy.ndimage import gaussian_filter1d

from aerotwin_core.camera import CameraModel
from aerotwin_core.time import to_seconds
from aerotwin_sensor_models.auto_exposure import FrameExposure
from aerotwin_sensor_models.camera_errors import (
    CameraNoiseParameters,
    DepthNoiseParameters,
    ExposureParameters,
    VignettingParameters,
    light_at,
    relative_illumination,
)
from aerotwin_sensor_models.camera_kernels import disturb_depth, expose
from aerotwin_sensor_models.counter_noise import DEPTH, PICTURE, counter_key, normal_table

MAX_BLUR_PX = 50.0
"""Beyond, nothing of a picture is left and the filter is as long as a row."""


class ImageSensor:
    """The image sensors of equal cameras; their errors in physical order.

    1. The lens spreads the light of each point (blur): a Gaussian for defocus, aberrations and
       diffraction together, rounded to 8 bits as the rendered image is.
    2. The lens passes a share of the light (vignetting) of a world whose light changes over time;
       the sensor collects part of it: signal = exposure * light * share * pixel.
       Motion during the exposure comes before, see `MotionBlur`.
    3. Electrons and electronics add noise: mean, read noise, and shot noise that grows with the
       signal.
    4. Signal and noise are amplified (gain), brightness is added, and the sum is rounded and
       clipped to 8 bits: a camera saturates.

    The noise of a pixel depends only on seed, camera, stamp and pixel index: a frame has the same
    bytes whatever was rendered before it, and on any number of threads. Presets: see `load_preset`.

    Parameters
    ----------
    camera : CameraModel
        Size and principal point.
    blur_px : float
        Standard deviation of the image of a point; 0 = sharp [px].
    seed : int
        Not negative; equal seeds make equal noise at equal stamps of equal camera indices.
    """

    def __init__(
        self,
        camera: CameraModel,
        noise: CameraNoiseParameters,
        *,
        vignetting: VignettingParameters | None = None,
        exposure: ExposureParameters | None = None,
        blur_px: float = 0.0,
        seed: int,
    ) -> None:
        if seed < 0:
            raise ValueError(f"seed must not be negative, got {seed}")
        if not 0.0 <= blur_px <= MAX_BLUR_PX:
            raise ValueError(f"blur_px must be from 0 to {MAX_BLUR_PX:g}, got {blur_px}")
        self._blur_px = blur_px
        self._exposure = exposure or ExposureParameters()
        self._noise, self._seed = noise, seed
        self._shape = (camera.height, camera.width)
        share = relative_illumination(vignetting or VignettingParameters(), camera)
        self._share = share.reshape(-1)
        self._is_ideal = (
            noise == CameraNoiseParameters()
            and self._exposure == ExposureParameters()
            and blur_px == 0.0
            and bool(np.all(share == 1.0))
        )

    def expose(
        self,
        image: np.ndarray,
        stamp_ns: int,
        *,
        camera_index: int,
        exposure: FrameExposure | None = None,
        light: float = 1.0,
    ) -> np.ndarray:
        """Return a perfect image, linear in light, with the camera's errors.

        It is uint8, (h, w) or (h, w, 3). `stamp_ns` (simulated time) and `camera_index` select the
        noise; neither is negative. `exposure` is that of the frame, by default the parameters';
        the scene has `light` times the light of the image.
        """
        if image.dtype != np.uint8 or image.shape[:2] != self._shape or image.ndim > 3:
            raise ValueError(
                f"image must be uint8 of {self._shape[1]} x {self._shape[0]} pixels, got "
                f"{image.dtype} {image.shape}"
            )
        if self._is_ideal and light == 1.0:
            return image.copy()
        pixels = self._blurred(np.ascontiguousarray(image)).reshape(self._share.size, -1)
        out = np.empty_like(pixels)
        key = counter_key(PICTURE, self._seed, camera_index, stamp_ns)
        response = self._response(stamp_ns, exposure)
        response[0] *= light
        expose(pixels, self._share, response, normal_table(), key, out)
        return out.reshape(image.shape)

    def _blurred(self, image: np.ndarray) -> np.ndarray:
        """Return the image blurred by the lens, its edge pixels extended outwards."""
        if self._blur_px == 0.0:
            return image
        light = image.astype(np.float32)
        for axis in (0, 1):
            light = gaussian_filter1d(light, self._blur_px, axis=axis, mode="nearest")
        return (light + np.float32(0.5)).astype(np.uint8)

    def _response(self, stamp_ns: int, frame: FrameExposure | None) -> np.ndarray:
        exposure, noise = self._exposure, self._noise
        light, gain = exposure.exposure * light_at(exposure, to_seconds(stamp_ns)), exposure.gain
        if frame is not None and exposure.time_s > 0.0:
            light, gain = light * frame.time_s / exposure.time_s, gain * frame.gain
        offset = gain * noise.mean_dn + exposure.brightness_dn
        variances = (noise.read_noise_dn**2, noise.gain_dn_per_electron)
        return np.array([light, gain, offset, *variances], np.float32)


class DepthSensor:
    """Errors of a depth camera: noise that grows with z^2, and its range.

    Pixels nearer than the range are -inf, farther or without a hit inf (REP 118: depth images).

    Parameters
    ----------
    noise : DepthNoiseParameters
        Noise of the disparity.
    focal_px, near_m, far_m : float
        Focal length of the stereo cameras [px]; range [m].
    seed : int
        As of `ImageSensor`.
    """

    def __init__(
        self,
        noise: DepthNoiseParameters,
        *,
        focal_px: float,
        near_m: float,
        far_m: float,
        seed: int,
    ) -> None:
        scale = noise.disparity_noise_px / (focal_px * noise.baseline_m)
        self._limits = np.array([near_m, far_m, scale], np.float32)
        self._seed = seed

    def measure(self, depth: np.ndarray, stamp_ns: int, *, camera_index: int) -> np.ndarray:
        """Return measured depth (h, w) float32 [m] of true depth (h, w) along the axis [m]."""
        measured = np.array(depth, np.float32)
        key = counter_key(DEPTH, self._seed, camera_index, stamp_ns)
        disturb_depth(measured.reshape(-1), self._limits, normal_table(), key)
        return measured
