# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_voxel_cloud import (
    GridFrame,
    OccupancyGrid,
    frame_of_bounds,
    frame_of_box,
    grid_of_points,
    point_means,
    voxelise,
)

ROUNDING = 1e-12


def random_grid(seed, share=0.1):
    rng = np.random.default_rng(seed)
    occupied = rng.random(tuple(rng.integers(1, 30, 3))) < share
    frame = GridFrame(origin_m=np.array([-3.5, 2.0, 0.125]), resolution_m=0.25, dims=occupied.shape)
    return occupied, OccupancyGrid.from_cells(frame, np.argwhere(occupied))


@pytest.mark.parametrize("seed", range(1000, 1010))
def test_bricks_hold_what_a_dense_array_holds(seed):
    occupied, grid = random_grid(seed, share=0.0 if seed == 1000 else 0.1)
    assert (grid.dense() == occupied).all()
    assert grid.n_occupied == occupied.sum()
    assert (grid.layer_counts() == occupied.sum(axis=(0, 1))).all()
    assert {tuple(c) for c in grid.cells()} == {tuple(c) for c in np.argwhere(occupied)}


def test_centres_are_those_of_the_paper_scaled_from_its_unit_cube():
    """Beam et al. 2024, eq. (1): (i + 0.5) / d in a cube of edge 1, d cells along an edge."""
    rng = np.random.default_rng(1000)
    d, edge_m, corner_m = 16, 4.0, np.array([10.0, -20.0, 3.0])
    occupied = rng.random((d, d, d)) < 0.2
    frame = GridFrame(origin_m=corner_m, resolution_m=edge_m / d, dims=(d, d, d))
    grid = OccupancyGrid.from_cells(frame, np.argwhere(occupied))
    in_unit_cube = (grid.cells() + 0.5) / d
    np.testing.assert_allclose(grid.centres(), corner_m + edge_m * in_unit_cube, atol=ROUNDING)


def test_points_fill_their_cells_only():
    points = np.array([[0.2, 0.2, 0.2], [0.9, 0.1, 0.3], [2.5, -0.5, 0.0]])
    grid = grid_of_points(points, frame_of_bounds([points.min(axis=0), points.max(axis=0)], 1.0))
    expected = {(0.5, 0.5, 0.5), (2.5, -0.5, 0.5)}
    assert {tuple(centre) for centre in grid.centres()} == expected
    means = {tuple(np.round(mean, 9)) for mean in point_means(points, grid)}
    assert means == {(0.55, 0.15, 0.25), (2.5, -0.5, 0.0)}


def test_point_means_stand_in_the_order_of_the_cells():
    rng = np.random.default_rng(1000)
    points = rng.uniform(-20.0, 20.0, (2000, 3))
    grid = grid_of_points(points, frame_of_box([0.0, 0.0, 0.0], [30.0, 50.0, 50.0], 2.0))
    means = point_means(points, grid)
    assert (grid.frame.cells_of(means) == grid.cells()).all()


def test_a_grid_seen_through_another_frame_keeps_its_places():
    _, grid = random_grid(1001)
    again = grid.within(frame_of_box(grid.origin_m, [20.0, 20.0, 20.0], 0.25))
    assert {tuple(c) for c in again.centres()} == {tuple(c) for c in grid.centres()}


@pytest.mark.parametrize(
    ("bounds", "resolution", "words"),
    [
        ([[0.0] * 3, [1e6] * 3], 0.1, "coarser resolution"),
        ([[0.0] * 3, [1.0] * 3], 0.0, "must be positive"),
        ([[0.0] * 3, [1.0] * 3], np.nan, "must be positive"),
        ([[0.0] * 3, [np.inf] * 3], 1.0, "lowest, highest"),
        ([[2.0] * 3, [1.0] * 3], 1.0, "lowest, highest"),
    ],
)
def test_a_grid_that_cannot_be_is_refused(bounds, resolution, words):
    with pytest.raises(UserError, match=words):
        frame_of_bounds(bounds, resolution)


def test_a_box_is_rounded_up_to_whole_cells_around_its_centre():
    frame = frame_of_box([1.0, 2.0, 3.0], [0.3, 1.0, 2.1], 0.1)
    assert frame.dims == (3, 10, 21)
    np.testing.assert_allclose((frame.origin_m + frame.upper_m) / 2.0, [1.0, 2.0, 3.0])


def test_a_box_without_size_is_refused():
    with pytest.raises(UserError, match="size must be positive"):
        frame_of_box([0.0] * 3, [1.0, 0.0, 1.0], 0.1)


def test_a_kilometre_at_a_quarter_metre_takes_the_memory_of_its_bricks():
    """4000 x 4000 x 400 cells: 6.4e9; a surface through them keeps some hundred megabytes."""
    frame = GridFrame(origin_m=np.zeros(3), resolution_m=0.25, dims=(4000, 4000, 400))
    corners = np.array([[0.0, 0.0, 20], [400.0, 0.0, 40], [0.0, 400.0, 60], [400.0, 400.0, 90]])
    grid = voxelise(corners, np.array([[0, 1, 2], [1, 3, 2]]), 0.25, frame=frame)
    assert grid.n_occupied > 1600 * 1600
    # 72 bytes for each brick of 8 x 8 columns; on this slope the surface meets 1.4 of them.
    assert grid.words.nbytes + grid.brick_ids.nbytes < 200 * 200 * 1.5 * 72
    with pytest.raises(UserError, match="dense"):
        grid.dense()
