# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Find painted marks in the ortho picture of a reconstruction, to a fraction of a texel.

A mark of black and white quarters, its sides along east and north as `aerotwin_worlds.marks`
paints it, is found by normalised correlation with its picture at the size of the texels. Its middle
is the saddle of the brightness, where every gradient is perpendicular to the ray to it (Förstner).

Reference: Förstner, Gülch, "A fast operator for detection and precise location of distinct points,
corners and centres of circular features", ISPRS Intercommission Workshop, 1987.
"""

from dataclasses import dataclass

import cv2
import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_meshes import TexturedMesh
from aerotwin_rendering import WorldQueries
from aerotwin_worlds import World

LEAST_CORRELATION = 0.78  # of a mark with its ideal picture, whatever its contrast
LEAST_CONTRAST = 0.4
"""Of a mark, against black and white: spots of a lawn are alike in shape, never in contrast."""
_FEWEST_TEXELS = 6.0
_BLUR_TEXELS = 0.7  # of a picture's pixels and the ortho's own sampling
_SUB = 8  # samples along each side of a texel of the ideal picture
_STEPS = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 50, 1e-3)
_ORTHO_ERROR = 1e-3  # of the picture: what lays it straight over the ground


@dataclass(frozen=True, kw_only=True, eq=False)
class FoundMarks:
    """Middles of marks (n, 3) [m], and their correlations (up to 1) with the ideal picture."""

    points_map: np.ndarray
    correlation: np.ndarray

    def __len__(self) -> int:
        return len(self.points_map)


def find_marks(world: World, size_m: float) -> FoundMarks:
    """Return the marks of a diameter [m] in the ortho picture of a world, the clearest first.

    The world is a reconstruction of one mesh, whose texture is a picture from straight above.

    Raises UserError if the world is no such reconstruction, or its texels are too coarse.
    """
    A, texel_m = _map_of_texture(world)
    if texel_m * _FEWEST_TEXELS > size_m:
        raise UserError(
            f"world {world.name}: a texel is {texel_m:.3f} m wide, {_FEWEST_TEXELS:g} of them are "
            f"needed across a mark of {size_m:g} m; reconstruct with a smaller --texel-m"
        )
    grey = cv2.cvtColor(world.meshes[0].texture, cv2.COLOR_RGB2GRAY)
    ideal = ideal_mark(size_m / texel_m)
    places, correlation = _peaks(grey, ideal)
    if len(places):
        # The window's corners stay off the rim: white quarters on dark ground have edges there.
        half = max(int((0.5 * size_m / texel_m - 1.0) / np.sqrt(2.0)), 2)
        start = np.ascontiguousarray(places, np.float32).reshape(-1, 1, 2)
        places = cv2.cornerSubPix(grey, start, (half, half), (-1, -1), _STEPS)
    xy = np.column_stack([places.reshape(-1, 2) + 0.5, np.ones(len(places))]) @ A
    z = np.atleast_1d(WorldQueries(world).height(xy[:, 0], xy[:, 1]))
    known = np.isfinite(z)
    return FoundMarks(points_map=np.column_stack([xy, z])[known], correlation=correlation[known])


def ideal_mark(size_texels: float) -> np.ndarray:
    """Return the picture of a mark, (n, n) uint8 with n odd, rows from north to south.

    The quarters towards north-east and south-west are white; around the disc it is grey.
    """
    n = 2 * int(np.ceil(size_texels / 2.0)) + 1
    at = (np.arange(n * _SUB) + 0.5) / _SUB - n / 2.0
    x, y = np.meshgrid(at, -at)
    tone = np.where(np.hypot(x, y) <= size_texels / 2.0, np.sign(x * y), 0.0)
    tone = tone.reshape(n, _SUB, n, _SUB).mean(axis=(1, 3))
    return np.rint(127.5 + 120.0 * cv2.GaussianBlur(tone, (0, 0), _BLUR_TEXELS)).astype(np.uint8)


def _map_of_texture(world: World) -> tuple[np.ndarray, float]:
    """Return A (3, 2) with x, y in map = [column row 1] A, and the width of a texel [m]."""
    mesh: TexturedMesh = world.meshes[0]
    height, width = mesh.texture.shape[:2]
    texels = np.column_stack([mesh.uv * [width, height], np.ones(len(mesh.uv))])
    place = mesh.vertices_map[:, :2]
    A, *_ = np.linalg.lstsq(texels, place, rcond=None)
    extent = np.ptp(place, axis=0).max()
    is_straight = A[0, 0] > 0.0 > A[1, 1] and np.allclose([A[0, 1], A[1, 0]], 0.0, atol=1e-6)
    if (
        len(world.meshes) > 1
        or not is_straight
        or (np.abs(texels @ A - place).max() > _ORTHO_ERROR * extent)
    ):
        raise UserError(
            f"world {world.name}: marks are looked for in an ortho picture, north up, on one mesh; "
            "give the folder of aerotwin reconstruct"
        )
    return A, float(A[0, 0])


def _peaks(grey: np.ndarray, ideal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return columns and rows (n, 2) of the best correlations, and their values; best first."""
    width, half = len(ideal), len(ideal) // 2
    response = cv2.matchTemplate(grey, ideal, cv2.TM_CCOEFF_NORMED)
    highest = cv2.dilate(response, np.ones((width, width), np.uint8))
    rows, columns = np.nonzero((response >= highest) & (response >= LEAST_CORRELATION))
    contrast = [
        grey[y : y + width, x : x + width].std() / ideal.std()
        for y, x in zip(rows, columns, strict=True)
    ]
    clear = np.array(contrast) >= LEAST_CONTRAST
    rows, columns = rows[clear], columns[clear]
    order = np.argsort(-response[rows, columns], kind="stable")
    places = np.column_stack([columns, rows])[order] + float(half)
    return places, response[rows, columns][order]
