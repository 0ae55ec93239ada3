# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of cameras: of the light that reaches the sensor, and of the frames on their way.

Light is changed before exposure and noise: behind a covered lens the sensor still has its read
noise. Depth (of a stereo depth camera) is NaN where too little light is left to match, see
`LEAST_LIGHT`; defocus and exposure leave it as it is. Ids are no measurement: they go the way of
the frame but are not changed.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from aerotwin_core.parameters import parameter
from aerotwin_core.seeds import seed_sequence
from aerotwin_faults.fault import CAMERA, Fault, Moment

LEAST_LIGHT = 0.5
"""Share of the light below which a depth camera finds no depth."""
_REACH_SIGMAS = 4.0
_SPREAD, _BUMPINESS, _WAVES, _CORNERS, _SHIFT = 0.4, 0.3, np.arange(2, 7), 72, 4
"""Of spots: of the logarithm of their radii; how far from a circle their outlines are, by waves
around it, and of how many corners, in 1/16 px."""
_SMALLEST_PX = 0.5
_DEFOCUS = 0.012
"""Standard deviation of the image of a point on the lens over the width of the image."""


class CameraEffect:
    """What a fault at place `camera` does, stage by stage; here: nothing.

    `camera` is the name of the only camera that has it, "" for all. An eye is the name of a camera
    or of one of a pair.
    """

    camera: str = ""

    def light_factor(self, moment: Moment) -> float:
        """Return what the light of the scene is multiplied by."""
        return 1.0

    def light(self, image: np.ndarray, eye: str, moment: Moment) -> np.ndarray:
        """Return what reaches the sensor of an image (h, w) or (h, w, 3) uint8, linear in light."""
        return image

    def depth(self, depth: np.ndarray, eye: str, moment: Moment) -> np.ndarray:
        """Return what is found of measured depth (h, w) float32 [m]; NaN: nothing."""
        return depth

    def sent(self, picture: np.ndarray, eye: str, kind: str, moment: Moment) -> np.ndarray:
        """Return what is sent instead of a measured picture (image, depth or ids) of a kind."""
        return picture

    def delay_s(self, stamp_ns: int, name: str, moment: Moment) -> float | None:
        """Return how much later the frame of a stamp [ns] is sent [s]; None if never.

        `name` is that of the camera; a pair has one, for both its images.
        """
        return 0.0


@dataclass(frozen=True, kw_only=True)
class CameraFault(CameraEffect, Fault):
    """A fault of one camera or of all; by itself it changes nothing."""

    place: ClassVar[str] = CAMERA
    camera: str = parameter("", text="its name, such as stereo_left; empty = all")


@dataclass(frozen=True, kw_only=True)
class CameraBlack(CameraFault):
    """The lens is covered: no light, only the noise of the sensor."""

    def light(self, image: np.ndarray, eye: str, moment: Moment) -> np.ndarray:
        """Return the light that is left, 1 less the level."""
        return cv2.convertScaleAbs(image, alpha=1.0 - moment.level)

    def depth(self, depth: np.ndarray, eye: str, moment: Moment) -> np.ndarray:
        """Return none from half the level on."""
        return depth if 1.0 - moment.level >= LEAST_LIGHT else np.full_like(depth, np.nan)


@dataclass(frozen=True, kw_only=True)
class CameraBlur(CameraFault):
    """The lens is out of focus."""

    sigma_px: float = parameter(
        4.0, text="standard deviation of the image of a point", unit="px", minimum=0.0, maximum=50.0
    )

    def light(self, image: np.ndarray, eye: str, moment: Moment) -> np.ndarray:
        """Return the image after a Gaussian; its edge pixels are extended outwards."""
        sigma = moment.level * self.sigma_px
        reach = int(_REACH_SIGMAS * sigma + 0.5)
        if reach == 0:
            return image
        size = (2 * reach + 1, 2 * reach + 1)
        light = image.astype(np.float32)  # in 8 bits, weights of many pixels do not add up to 1
        light = cv2.GaussianBlur(light, size, sigma, borderType=cv2.BORDER_REPLICATE)
        return (light + np.float32(0.5)).astype(np.uint8)


@dataclass(frozen=True, kw_only=True)
class CameraExposure(CameraFault):
    """The light of the scene jumps; an automatic exposure answers it from frame to frame."""

    ev: float = parameter(
        2.0, text="exposure values: twice the light each", unit="EV", minimum=-10.0, maximum=10.0
    )

    def light_factor(self, moment: Moment) -> float:
        """Return 2^ev, in equal steps of exposure values over the ramp."""
        return 2.0 ** (moment.level * self.ev)


@dataclass(frozen=True, kw_only=True)
class CameraDirt(CameraFault):
    """Spots on the lens, each eye with its own: dark, at one place, and far out of focus.

    They grow with the level. Light that they scatter into the image is left out.
    """

    spots: int = parameter(12, text="number on a lens", minimum=1, maximum=200)
    size: float = parameter(
        0.12, text="mean diameter of a spot over the width of the image", minimum=0.005, maximum=1.0
    )
    opacity: float = parameter(
        0.9, text="share of the light that a spot holds back", minimum=0.0, maximum=1.0
    )

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what knows its spots."""
        return _Dirty(self, int(rng.integers(2**63)))


class _Dirty(CameraEffect):
    """Spots are drawn once for an eye and a level."""

    def __init__(self, fault: CameraDirt, key: int) -> None:
        self.camera = fault.camera
        self._fault, self._key = fault, key
        self._drawn: dict[str, tuple[float, np.ndarray]] = {}

    def light(self, image: np.ndarray, eye: str, moment: Moment) -> np.ndarray:
        share = self._share(image.shape[:2], eye, moment.level)
        if image.ndim == 3:
            share = cv2.merge([share] * image.shape[2])
        return cv2.multiply(image, share, dtype=cv2.CV_8U)

    def depth(self, depth: np.ndarray, eye: str, moment: Moment) -> np.ndarray:
        is_lit = self._share(depth.shape, eye, moment.level) >= LEAST_LIGHT
        return np.where(is_lit, depth, np.float32(np.nan))

    def _share(self, shape: tuple[int, ...], eye: str, level: float) -> np.ndarray:
        """Return the share of the light that passes (h, w) float32."""
        known = self._drawn.get(eye)
        if known is None or known[0] != level or known[1].shape != shape:
            rng = seed_sequence(self._key, eye, "camera_dirt")
            known = self._drawn[eye] = level, _passed(self._fault, shape, level, rng)
        return known[1]


def _passed(
    fault: CameraDirt, shape: tuple[int, ...], level: float, rng: np.random.Generator
) -> np.ndarray:
    """Return the share of the light that passes the spots, (h, w) float32."""
    height, width = shape
    share = np.ones(shape, np.float32)
    for _ in range(fault.spots):
        centre = rng.random(2) * (width, height)
        radius = 0.5 * level * fault.size * width * rng.lognormal(0.0, _SPREAD)
        bumps = rng.normal(0.0, _BUMPINESS, len(_WAVES)) / _WAVES
        phases = rng.uniform(0.0, 2.0 * math.pi, len(_WAVES))
        if radius < _SMALLEST_PX:
            continue
        angle = np.linspace(0.0, 2.0 * math.pi, _CORNERS, endpoint=False)
        outline = radius * np.exp((bumps * np.cos(np.outer(angle, _WAVES) + phases)).sum(axis=1))
        corners = centre + outline[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        fixed = np.round(corners * 2**_SHIFT).astype(np.int32)
        cv2.fillPoly(share, [fixed], 1.0 - fault.opacity, cv2.LINE_AA, _SHIFT)
    defocus_px = _DEFOCUS * width
    return cv2.GaussianBlur(share, (0, 0), defocus_px, borderType=cv2.BORDER_REPLICATE)


@dataclass(frozen=True, kw_only=True)
class CameraFrozen(CameraFault):
    """The camera sends one image again and again, with new stamps."""

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what remembers it."""
        return _FrozenCamera(self.camera)


class _FrozenCamera(CameraEffect):
    def __init__(self, camera: str) -> None:
        self.camera = camera
        self._held: dict[tuple[str, str], np.ndarray] = {}

    def sent(self, picture: np.ndarray, eye: str, kind: str, moment: Moment) -> np.ndarray:
        return self._held.setdefault((eye, kind), picture)


@dataclass(frozen=True, kw_only=True)
class CameraDropped(CameraFault):
    """Frames are lost at random."""

    share: float = parameter(1.0, text="of the frames; 1 = all", minimum=0.0, maximum=1.0)

    def effect(self, rng: np.random.Generator) -> Any:
        """Return what knows which."""
        return _DroppedFrames(self, int(rng.integers(2**63)))


class _DroppedFrames(CameraEffect):
    def __init__(self, fault: CameraDropped, key: int) -> None:
        self.camera, self._fault_share, self._key = fault.camera, fault.share, key

    def delay_s(self, stamp_ns: int, name: str, moment: Moment) -> float | None:
        chance = seed_sequence(self._key, stamp_ns, name).random()
        return None if chance < moment.level * self._fault_share else 0.0


@dataclass(frozen=True, kw_only=True)
class CameraDelay(CameraFault):
    """Frames are sent later, in their order; their stamps stay those of the exposure."""

    seconds: float = parameter(0.2, text="delay", unit="s", minimum=0.0, maximum=10.0)

    def delay_s(self, stamp_ns: int, name: str, moment: Moment) -> float | None:
        """Return the delay, which grows by the ramp."""
        return moment.level * self.seconds
