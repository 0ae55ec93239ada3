# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""From the two camera_info of a stereo pair to the ideal pair and its rectified images."""

from typing import Any, NamedTuple

import numpy as np

from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.camera_messages import camera_from_info
from aerotwin_stereo_odometry.rectification import IdealCamera, Rectification

SAME_PX = 0.01  # differences of P between the sides that no disparity notices
MAX_WAITING = 20  # images of one side kept while the other side is late


class PairCalibration:
    """Collects the calibration of both sides.

    `images_are_rectified`: the images are those of P already, whatever K, D and R say. `rig`: the
    ideal pair, None until both sides are known. `T_optical_rectified` (4, 4): pose of the ideal
    left camera in the frame of the left image's header: turned by R. `refusals`: why the last
    camera_info of a side is not usable.
    """

    def __init__(self, *, images_are_rectified: bool) -> None:
        self._images_are_rectified = images_are_rectified
        self._eyes: dict[str, tuple[PinholeCamera, float]] = {}
        self._rectifications: dict[str, Rectification] = {}
        self.rig: StereoRig | None = None
        self.T_optical_rectified = np.eye(4)
        self.refusals: dict[str, str] = {}

    @property
    def is_rectifying(self) -> bool:
        """Whether images change."""
        return any(rectification.is_needed for rectification in self._rectifications.values())

    def add(self, side: str, message: Any) -> str | None:
        """Store the first usable camera_info of a side; return the reason of a new refusal."""
        if side in self._rectifications:
            return None
        try:
            self._on_camera_message(side, message)
        except ValueError as error:
            is_new = self.refusals.get(side) != str(error)
            self.refusals[side] = str(error)
            return str(error) if is_new else None
        self.refusals.pop(side, None)
        return None

    def rectified(self, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the images (h, w) of the ideal pair; ValueError if their sizes do not fit."""
        sides = self._rectifications
        return sides["left"].apply(left), sides["right"].apply(right)

    def _on_camera_message(self, side: str, message: Any) -> None:
        _, offset_m = camera_from_info(message)  # the baseline stands in P
        if not self._images_are_rectified and not np.any(message.r):
            # A single camera may have none; a pair needs it to make its axes parallel.
            raise ValueError("R must be a rotation, got zeros; calibrate the pair")
        ideal = IdealCamera.from_info(message, images_are_rectified=self._images_are_rectified)
        eyes = {**self._eyes, side: (ideal.camera, offset_m)}
        rig = _rig(eyes)
        if side == "left":
            self.T_optical_rectified = ideal.T_optical_ideal
        self._eyes, self._rectifications[side], self.rig = eyes, ideal.rectification, rig


def _rig(eyes: dict[str, tuple[PinholeCamera, float]]) -> StereoRig | None:
    """Return the pair, None while a side is unknown."""
    if len(eyes) < 2:
        return None
    (left, left_m), (right, right_m) = eyes["left"], eyes["right"]
    size, values = [(c.width, c.height) for c in (left, right)], [left.matrix, right.matrix]
    if size[0] != size[1] or not np.allclose(values[0], values[1], rtol=0.0, atol=SAME_PX):
        raise ValueError(
            f"P must be one camera on both sides, got {left} and {right}; rectify both to one"
        )
    if not right_m > left_m:
        raise ValueError(
            "P[3] of the right side must be that of the left one minus fx * baseline, got a "
            f"baseline of {right_m - left_m:g} m; are left and right exchanged?"
        )
    return StereoRig(camera=left, baseline_m=right_m - left_m)


class Pair(NamedTuple):
    """Two images with the same stamp [ns]."""

    stamp_ns: int
    left: Any
    right: Any


class StereoPairing:
    """Matches images by equal stamps, in order; drops and counts older single images."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[int, Any]] = {"left": {}, "right": {}}
        self.n_single = 0

    def add(self, side: str, stamp_ns: int, image) -> Pair | None:
        """Add an image of a side, "left" or "right"; return the pair that it completes."""
        other = self._waiting["right" if side == "left" else "left"]
        mine = self._waiting[side]
        if stamp_ns in other:
            images = {side: image, ("right" if side == "left" else "left"): other.pop(stamp_ns)}
            self._forget_older(stamp_ns)
            return Pair(stamp_ns, images["left"], images["right"])
        mine[stamp_ns] = image
        while len(mine) > MAX_WAITING:
            del mine[next(iter(mine))]
            self.n_single += 1
        return None

    def _forget_older(self, stamp_ns):
        for waiting in self._waiting.values():
            for old in [stamp for stamp in waiting if stamp < stamp_ns]:
                del waiting[old]
                self.n_single += 1
