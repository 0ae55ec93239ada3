# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Views to render, and rendered frames."""

import math
from dataclasses import dataclass

import numpy as np

from aerotwin_core.camera import CameraModel
from aerotwin_rendering.moving_objects import PlacedObject

ENCODINGS = ("mono8", "rgb8", "none")
NEAR_M = 0.05


@dataclass(frozen=True, kw_only=True)
class CameraView:
    """A camera at a pose, and the requested outputs.

    Attributes
    ----------
    camera : CameraModel
        Pinhole, distorted or fisheye; pixel centres at integer coordinates (OpenCV).
    T_map_optical : (4, 4) array
        Pose of the camera in the map; optical axes: x right, y down, z forward.
    encoding : str
        Image: "mono8" (Rec. 601 luma of the sRGB-encoded colours), "rgb8" or "none".
    depth, ids : bool
        Whether depths and mesh ids are requested.
    near_m, far_m : float
        Range of visible depths along the optical axis [m].
    rows : (first, last + 1), optional
        Only these image rows, as a rolling shutter exposes them; the others stay zero.
    objects : tuple of PlacedObject
        Objects that move in the world, where they are at the instant of the view.

    Raises
    ------
    ValueError
        If a value is not as above.
    """

    camera: CameraModel
    T_map_optical: np.ndarray
    encoding: str = "mono8"
    depth: bool = True
    ids: bool = False
    near_m: float = NEAR_M
    far_m: float = math.inf
    rows: tuple[int, int] | None = None
    objects: tuple[PlacedObject, ...] = ()

    def __post_init__(self) -> None:
        T = np.asarray(self.T_map_optical)
        if T.shape != (4, 4) or not np.isfinite(T).all():
            raise ValueError(f"T_map_optical must be a finite (4, 4) array, got {T}")
        if self.encoding not in ENCODINGS:
            raise ValueError(f"encoding must be one of {ENCODINGS}, got '{self.encoding}'")
        if not 0.0 < self.near_m < self.far_m:
            raise ValueError(f"0 < near_m < far_m must hold, got {self.near_m} and {self.far_m}")
        first, last = self.row_range
        if not 0 <= first < last <= self.camera.height:
            raise ValueError(f"rows must lie in 0..{self.camera.height}, got {self.rows}")

    @property
    def row_range(self) -> tuple[int, int]:
        """First row to render and the one after the last."""
        return (0, self.camera.height) if self.rows is None else self.rows


@dataclass(frozen=True, kw_only=True)
class RenderedFrame:
    """One rendered view; outputs that were not requested are None.

    Attributes
    ----------
    image : (h, w) or (h, w, 3) uint8 array, optional
        The sky where nothing is hit; black where the camera has no ray.
    depth : (h, w) float32 array, optional
        Distance along the optical axis [m]; infinity where nothing is hit.
    ids : (h, w) int32 array, optional
        Index of the visible mesh, or the id of the object; -1 where nothing is hit.
    """

    image: np.ndarray | None = None
    depth: np.ndarray | None = None
    ids: np.ndarray | None = None


def empty_frame(view: CameraView) -> RenderedFrame:
    """Return the arrays that a view requests: zero where they will not be rendered."""
    shape = (view.camera.height, view.camera.width)
    make = np.empty if view.rows is None else np.zeros
    images = {
        "mono8": lambda: make(shape, np.uint8),
        "rgb8": lambda: make((*shape, 3), np.uint8),
        "none": lambda: None,
    }
    return RenderedFrame(
        image=images[view.encoding](),
        depth=make(shape, np.float32) if view.depth else None,
        ids=make(shape, np.int32) if view.ids else None,
    )
