# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A camera preset: lens, rate, range, and the errors of its images."""

import dataclasses

from aerotwin_core.camera import BrownCamera, CameraModel, FisheyeCamera, PinholeCamera
from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import parameter
from aerotwin_sensor_models.auto_exposure import AutoExposure
from aerotwin_sensor_models.camera_errors import (
    CameraNoiseParameters,
    DepthNoiseParameters,
    ExposureParameters,
    VignettingParameters,
    check_vignetting,
)
from aerotwin_sensor_models.image_sensor import MAX_BLUR_PX, DepthSensor, ImageSensor
from aerotwin_sensor_models.motion_blur import MotionBlur

_NO_NOISE = CameraNoiseParameters()
_NO_VIGNETTING = VignettingParameters()
_CONSTANT = ExposureParameters()
_EXACT = DepthNoiseParameters()


@dataclasses.dataclass(frozen=True, kw_only=True)
class CameraParameters:
    """A camera, or each of the two of a stereo pair."""

    model: str = parameter(
        "pinhole",
        choices=("pinhole", "brown", "fisheye"),
        text="lens: pinhole, brown (k1 k2 p1 p2 k3) or fisheye (Kannala-Brandt k1..k4)",
    )
    width: int = parameter(752, unit="px", minimum=16, maximum=8192, text="image width")
    height: int = parameter(480, unit="px", minimum=16, maximum=8192, text="image height")
    fx: float = parameter(458.0, unit="px", minimum=1.0, text="focal length along rows")
    fy: float = parameter(458.0, unit="px", minimum=1.0, text="focal length along columns")
    cx: float = parameter(375.5, unit="px", text="principal point, column")
    cy: float = parameter(239.5, unit="px", text="principal point, row")
    skew: float = parameter(0.0, unit="px", text="K[0, 1]")
    k1: float = parameter(0.0, text="radial distortion")
    k2: float = parameter(0.0, text="radial distortion")
    k3: float = parameter(0.0, text="radial distortion")
    k4: float = parameter(0.0, text="radial distortion, fisheye only")
    p1: float = parameter(0.0, text="tangential distortion, brown only")
    p2: float = parameter(0.0, text="tangential distortion, brown only")
    field_of_view_deg: float = parameter(
        160.0, unit="deg", minimum=1.0, maximum=160.0, text="full angle of a fisheye lens"
    )
    baseline_m: float = parameter(
        0.0, unit="m", minimum=0.0, text="distance between the cameras of a pair; 0 = one camera"
    )
    rate_hz: float = parameter(20.0, unit="Hz", minimum=0.1, maximum=250.0, text="frames")
    near_m: float = parameter(
        0.05, unit="m", minimum=1e-3, text="depth nearer than this reads -inf; pictures show it"
    )
    far_m: float = parameter(
        1e6, unit="m", minimum=0.1, text="depth beyond this reads inf; pictures show it"
    )
    readout_s: float = parameter(
        0.0,
        unit="s",
        minimum=0.0,
        maximum=1.0,
        text="rolling shutter: time from the first row to the last; 0 = global shutter",
    )
    blur_px: float = parameter(
        0.0,
        unit="px",
        minimum=0.0,
        maximum=MAX_BLUR_PX,
        text="standard deviation of the picture of a point (lens, focus); 0 = sharp",
    )
    noise: CameraNoiseParameters = parameter(_NO_NOISE, text="noise of pictures")
    vignetting: VignettingParameters = parameter(_NO_VIGNETTING, text="shading of the lens")
    exposure: ExposureParameters = parameter(_CONSTANT, text="exposure, gain, changing light")
    depth_noise: DepthNoiseParameters = parameter(_EXACT, text="noise of depth images")

    def __post_init__(self) -> None:
        unused = {"pinhole": "k1 k2 k3 k4 p1 p2", "brown": "k4", "fisheye": "p1 p2"}[self.model]
        wrong = [name for name in unused.split() if getattr(self, name) != 0.0]
        if wrong:
            raise ValueError(
                f"model {self.model}: {', '.join(wrong)} must be 0, got other values; take the"
                " model that has these coefficients"
            )
        if self.far_m <= self.near_m:
            raise ValueError(f"far_m must be above near_m ({self.near_m} m), got {self.far_m} m")
        check_vignetting(self.vignetting, self.lens())

    def check_rate(self, rate_hz: float) -> None:
        """Refuse a rate [Hz] at which a frame begins before the last one is exposed and read.

        It is checked where it is chosen, since it may differ from that of the preset.

        Raises
        ------
        ParameterError
            If it is too high.
        """
        busy_s = self.readout_s + self.exposure.longest_s
        if busy_s * rate_hz >= 1.0:
            parts = [f"readout_s is {self.readout_s:g} s"] * (self.readout_s > 0.0)
            parts += [f"the longest exposure is {self.exposure.longest_s:g} s"] * (
                self.exposure.longest_s > 0.0
            )
            raise ParameterError(
                f"rate_hz: expected less than {1.0 / busy_s:.4g} Hz, as {' and '.join(parts)},"
                f" found {rate_hz:g} Hz; take fewer frames or less of it"
            )

    def lens(self) -> CameraModel:
        """Return the camera model."""
        frame = {name: getattr(self, name) for name in ("fx", "fy", "cx", "cy", "skew")}
        size = {"width": self.width, "height": self.height}
        if self.model == "pinhole":
            return PinholeCamera(**size, **frame)
        if self.model == "brown":
            names = ("k1", "k2", "p1", "p2", "k3")
            return BrownCamera(**size, **frame, **{name: getattr(self, name) for name in names})
        names = ("k1", "k2", "k3", "k4", "field_of_view_deg")
        return FisheyeCamera(**size, **frame, **{name: getattr(self, name) for name in names})

    def image_sensor(self, seed: int) -> ImageSensor:
        """Return the error model of its images."""
        return ImageSensor(
            self.lens(),
            self.noise,
            vignetting=self.vignetting,
            exposure=self.exposure,
            blur_px=self.blur_px,
            seed=seed,
        )

    def motion_blur(self) -> MotionBlur:
        """Return what blurs its images by motion."""
        return MotionBlur(self.lens(), readout_s=self.readout_s)

    def auto_exposure(self) -> AutoExposure:
        """Return the control of its exposure, which is fixed unless `target_dn` is above 0."""
        return AutoExposure(self.exposure)

    def depth_sensor(self, seed: int) -> DepthSensor:
        """Return the error model of its depth images."""
        return DepthSensor(
            self.depth_noise, focal_px=self.fx, near_m=self.near_m, far_m=self.far_m, seed=seed
        )
