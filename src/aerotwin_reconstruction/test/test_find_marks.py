# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Painted marks are found in an ortho picture, where they are and nowhere else."""

import cv2
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_reconstruction.surface.find_marks import find_marks
from aerotwin_worlds import World
from aerotwin_worlds.marks import MarkStyle, paint_marks

SIDE_M, FINE_M, ORTHO_M, SIZE_M = 24.0, 0.03, 0.05, 0.6
SLOPE = 0.05
PLACES = np.array([[-7.31, 4.02], [0.013, -0.027], [6.48, -8.77]])
SUB_TEXEL_M = 0.2 * ORTHO_M


def sheet(texture):
    """A square that rises towards east, its picture from above on it."""
    h = SIDE_M / 2.0
    corners = np.array([[-h, -h, -h * SLOPE], [h, -h, h * SLOPE], [h, h, h * SLOPE],
                        [-h, h, -h * SLOPE]])  # fmt: skip
    mesh = TexturedMesh(
        vertices_map=corners,
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32),
        texture=texture,
    )
    return World(
        name="sheet", meshes=(mesh,), attribution="", licence="", start_p_map=np.zeros(3),
        origin=GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=0.0), start_yaw=0.0,
    )  # fmt: skip


def road(seed=0):
    """A grey ground with noise, white bars and dark spots."""
    rng = np.random.default_rng(seed)
    n = round(SIDE_M / FINE_M)
    grey = 100.0 + cv2.GaussianBlur(rng.normal(0.0, 60.0, (n, n)), (0, 0), 2.0)
    for x, y in rng.integers(0, n - 80, (40, 2)):
        grey[y : y + rng.integers(5, 80), x : x + rng.integers(5, 20)] = rng.choice([20.0, 230.0])
    return np.repeat(grey.clip(0, 255).astype(np.uint8)[..., None], 3, axis=2)


def seen(world):
    """The same world with the picture that a survey would lay on it: blurred and coarser."""
    (mesh,) = world.meshes
    n = round(SIDE_M / ORTHO_M)
    blurred = cv2.GaussianBlur(mesh.texture, (0, 0), 1.0)
    return sheet(cv2.resize(blurred, (n, n), interpolation=cv2.INTER_AREA))


def test_marks_are_found_to_a_fraction_of_a_texel_and_nothing_else_is():
    marked = paint_marks(sheet(road()), PLACES, MarkStyle(size_m=SIZE_M))
    found = find_marks(seen(marked.world), SIZE_M)
    assert len(found) == len(PLACES)
    order = np.argsort(found.points_map[:, 0])
    np.testing.assert_allclose(found.points_map[order], marked.points_map, atol=SUB_TEXEL_M)
    assert (np.diff(found.correlation) <= 0.0).all()


def test_marks_in_a_shadow_are_found_where_they_are():
    dark = (road() * 0.2).astype(np.uint8)  # as dark as the black quarters
    for offset in np.arange(0.0, 1.0, 0.25) * ORTHO_M:
        marked = paint_marks(sheet(dark), PLACES + offset, MarkStyle(size_m=SIZE_M))
        found = find_marks(seen(marked.world), SIZE_M)
        order = np.argsort(found.points_map[:, 0])
        np.testing.assert_allclose(
            found.points_map[order, :2], marked.points_map[:, :2], atol=SUB_TEXEL_M
        )


def test_a_ground_without_marks_and_one_with_turned_marks_have_none():
    assert len(find_marks(seen(sheet(road(1))), SIZE_M)) == 0
    marked = paint_marks(sheet(road(2)), PLACES, MarkStyle(size_m=SIZE_M)).world.meshes[0]
    mirrored = sheet(np.ascontiguousarray(marked.texture[:, ::-1]))  # black where white should be
    assert len(find_marks(seen(mirrored), SIZE_M)) == 0


def test_what_is_no_ortho_picture_is_refused():
    world = sheet(road())
    (mesh,) = world.meshes
    turned = TexturedMesh(
        vertices_map=mesh.vertices_map, triangles=mesh.triangles, uv=mesh.uv[[1, 2, 3, 0]],
        texture=mesh.texture,
    )  # fmt: skip
    with pytest.raises(UserError, match="north up"):
        find_marks(World(**{**vars(world), "meshes": (turned,)}), SIZE_M)
    with pytest.raises(UserError, match="texel"):
        find_marks(world, 0.1)
