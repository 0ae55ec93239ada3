# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import math

import numpy as np
import pytest

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes.mesh import TexturedMesh, grid_triangles
from aerotwin_rendering import CameraView, Rasteriser
from aerotwin_rendering.view import optical_pose
from aerotwin_worlds import World
from aerotwin_worlds.marks import SHAPES, MarkStyle, paint_marks

GREY = 120
TEXEL_M = 0.02
SLOPE = 0.1


def sheet(x0=0.0, name="ground 0-0", slope=SLOPE, turned=False):
    """Return 6 m x 6 m of grey ground that rises to the east, by 13 x 13 vertices."""
    line = np.linspace(0.0, 6.0, 13)
    x, y = np.meshgrid(line, line)
    uv = np.column_stack([x.ravel(), 6.0 - y.ravel()]) / 6.0
    if turned:
        uv = np.column_stack([uv[:, 1], uv[:, 0]])  # a mirrored turn: any mapping will do
    n = round(6.0 / TEXEL_M)
    return TexturedMesh(
        vertices_map=np.column_stack([x.ravel() + x0, y.ravel(), slope * (x.ravel() + x0)]),
        triangles=grid_triangles(13, 13),
        uv=uv.astype(np.float32),
        texture=np.full((n, n, 3), GREY, np.uint8),
        name=name,
    )


def world_of(*meshes):
    return World(
        name="marked", meshes=meshes, attribution="", licence="",
        origin=GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=0.0),
        start_p_map=np.zeros(3), start_yaw=0.0,
    )  # fmt: skip


def painted_places(mesh, *, turned=False):
    """Return map places (n, 2) and whiteness of the texels that are no longer grey."""
    rows, columns = np.nonzero((mesh.texture != GREY).any(axis=-1))
    first, second = (columns + 0.5) * TEXEL_M, (rows + 0.5) * TEXEL_M
    x, y = (second, 6.0 - first) if turned else (first, 6.0 - second)
    return np.column_stack([x, y]), mesh.texture[rows, columns, 0].astype(float)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turned", [False, True])
def test_a_mark_lies_around_its_exact_place_with_its_exact_area(shape, turned):
    place, size = np.array([2.337, 3.419]), 0.5
    marked = paint_marks(
        world_of(sheet(turned=turned)), place[None], MarkStyle(shape=shape, size_m=size)
    )
    np.testing.assert_allclose(marked.points_map, [[*place, SLOPE * place[0]]], atol=1e-9)
    mesh = marked.world.meshes[0]
    where, _ = painted_places(mesh, turned=turned)
    assert np.abs(where - place).max() <= size / 2.0 + TEXEL_M
    low, high = where.min(axis=0), where.max(axis=0)
    np.testing.assert_allclose((low + high) / 2.0, place, atol=TEXEL_M)
    area = {"disc": size**2}.get(shape, math.pi * size**2 / 4.0)
    rim = 4.0 * size * TEXEL_M  # texels that the outline crosses count in full here
    assert len(where) * TEXEL_M**2 == pytest.approx(area, abs=rim)


def test_quarters_are_white_in_the_north_east_and_south_west():
    place = np.array([3.0, 3.0])
    mesh = paint_marks(world_of(sheet()), place[None]).world.meshes[0]
    where, white = painted_places(mesh)
    dx, dy = (where - place).T
    inner = (np.hypot(dx, dy) < 0.22) & (np.minimum(np.abs(dx), np.abs(dy)) > TEXEL_M)
    assert (white[inner & (dx * dy > 0)] == 235).all()
    assert (white[inner & (dx * dy < 0)] == 18).all()


def test_a_cross_has_white_arms_and_a_disc_a_white_middle():
    place = np.array([3.0, 3.0])
    for shape, white_at, black_at in (
        ("cross", (0.2, 0.0), (0.12, 0.12)), ("disc", (0.08, 0.08), (0.22, 0.22)),
    ):  # fmt: skip
        mesh = paint_marks(world_of(sheet()), place[None], MarkStyle(shape=shape)).world.meshes[0]
        for offset, level in ((white_at, 235), (black_at, 18)):
            x, y = place + offset
            assert mesh.texture[int((6.0 - y) / TEXEL_M), int(x / TEXEL_M), 0] == level


def test_texels_that_the_rim_crosses_are_mixed_by_their_share():
    mesh = paint_marks(world_of(sheet()), np.array([[3.0, 3.0]])).world.meshes[0]
    changed = mesh.texture[..., 0].astype(float) - GREY
    # Shares of white add up to half of a disc, those of black to the other half.
    white = changed[changed > 0].sum() / (235 - GREY) * TEXEL_M**2
    black = -changed[changed < 0].sum() / (GREY - 18) * TEXEL_M**2
    half_disc = math.pi * 0.5**2 / 8.0
    sampling = 0.01  # 16 samples in each texel of the rim
    assert white == pytest.approx(half_disc, rel=sampling)
    assert black == pytest.approx(half_disc, rel=sampling)


def test_a_mark_on_the_seam_is_painted_on_both_sides_of_it():
    left, right = sheet(), sheet(6.0, "ground 0-1")
    marked = paint_marks(world_of(left, right), np.array([[6.0, 3.0]]))
    counts = [len(painted_places(mesh)[0]) for mesh in marked.world.meshes]
    assert counts[0] == pytest.approx(counts[1], rel=0.1)


def test_only_the_ground_is_painted_and_nothing_is_changed_in_place():
    ground = sheet()
    tree = dataclasses.replace(
        sheet(name="plants"), vertices_map=sheet().vertices_map + np.array([0.0, 0.0, 3.0])
    )
    marked = paint_marks(world_of(ground, tree), np.array([[3.0, 3.0]]))
    assert marked.points_map[0, 2] == pytest.approx(0.3)
    assert marked.world.meshes[1] is tree
    assert (ground.texture == GREY).all()


def test_a_world_without_named_ground_is_painted_on_its_highest_surface():
    scan = sheet(name="scan")
    marked = paint_marks(world_of(scan), np.array([[3.0, 3.0]]))
    assert len(painted_places(marked.world.meshes[0])[0]) > 100


def test_a_camera_from_above_sees_the_mark_at_its_place():
    place = np.array([3.31, 2.83])
    marked = paint_marks(world_of(sheet(slope=0.0)), place[None], MarkStyle(size_m=0.4))
    height, focal = 10.0, 1000.0
    camera = PinholeCamera(width=401, height=401, fx=focal, fy=focal, cx=200.0, cy=200.0)
    pose = optical_pose(np.array([3.0, 3.0, height]), yaw=0.0, pitch_down=math.pi / 2.0)
    view = CameraView(camera=camera, T_map_optical=pose, encoding="mono8")
    image = Rasteriser(marked.world.meshes, backend="cpu").render([view])[0].image
    rows, columns = np.nonzero(np.abs(image.astype(float) - GREY) > 40.0)
    # Looking east and down: the picture's up is east, its right is south.
    seen = np.array([
        3.0 + (200.0 - (rows.min() + rows.max()) / 2.0) * height / focal,
        3.0 - ((columns.min() + columns.max()) / 2.0 - 200.0) * height / focal,
    ])  # fmt: skip
    pixel = height / focal
    np.testing.assert_allclose(seen, place, atol=1.5 * pixel)


@pytest.mark.parametrize(
    ("meshes", "place", "size", "message"),
    [
        ([sheet()], (9.0, 3.0), 0.5, "no ground"),
        ([sheet()], (3.0, 3.0), 0.1, "texel"),
        ([dataclasses.replace(sheet(), repeats=True)], (3.0, 3.0), 0.5, "repeats"),
        ([sheet(slope=3.0)], (3.0, 3.0), 0.5, "too steep"),
    ],
)
def test_what_cannot_be_painted_is_said(meshes, place, size, message):
    with pytest.raises(UserError, match=message):
        paint_marks(world_of(*meshes), np.array([place]), MarkStyle(size_m=size))
    with pytest.raises(ValueError, match="xy_map"):
        paint_marks(world_of(*meshes), np.zeros((1, 3)))
